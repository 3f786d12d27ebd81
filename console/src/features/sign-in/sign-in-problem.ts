/** Why the way through the identity provider did not work out: the server leaves the reason in a cookie for a minute. */
const COOKIE = "heddle_sign_in_problem";

export function readProblem(): string | null {
  const [, value] = new RegExp(`(?:^|; )${COOKIE}=([^;]*)`).exec(document.cookie) ?? [];
  return value ? decodeURIComponent(value) : null;
}

export function forgetProblem(): void {
  document.cookie = `${COOKIE}=; Max-Age=0; Path=/; SameSite=Lax`;
}
