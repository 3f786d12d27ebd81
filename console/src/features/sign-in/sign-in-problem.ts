/** Reason why signing in through the identity provider failed: the server keeps it in a cookie for a minute. */
const COOKIE = "heddle_sign_in_problem";

export function readProblem(): string | null {
  const [, value] = new RegExp(`(?:^|; )${COOKIE}=([^;]*)`).exec(document.cookie) ?? [];
  return value ? decodeURIComponent(value) : null;
}

export function clearProblem(): void {
  document.cookie = `${COOKIE}=; Max-Age=0; Path=/; SameSite=Lax`;
}
