/**
 * Keeps the caller's credentials. A session is a cookie that scripts cannot read and a CSRF token in the storage of
 * this origin, because browsers send cookies to every port of a host. A typed key lives as long as the tab. The
 * workspace goes with each request, because a session may belong to several.
 */
const KEY = "heddle.key";
const WORKSPACE = "heddle.workspace";
const CSRF_TOKEN = "heddle.csrf";
const REDIRECTED_TO_PROVIDER = "heddle.left-for-provider";

export const readKey = (): string | null => sessionStorage.getItem(KEY);
export const readWorkspace = (): string | null => localStorage.getItem(WORKSPACE);

export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

export function storeWorkspace(id: string | null): void {
  if (id === null) localStorage.removeItem(WORKSPACE);
  else localStorage.setItem(WORKSPACE, id);
}

export function storeCsrfToken(token: string | null): void {
  if (token === null) localStorage.removeItem(CSRF_TOKEN);
  else localStorage.setItem(CSRF_TOKEN, token);
}

/** Marks that this tab leaves for an identity provider, which will redirect back to a URL with a CSRF token. */
export const redirectToProvider = (): void => sessionStorage.setItem(REDIRECTED_TO_PROVIDER, "1");

/**
 * Takes the CSRF token from the URL that an identity provider redirects to. A link from elsewhere may contain one
 * too; it must not replace the token of a session.
 */
export function takeCsrfToken(): void {
  const token = /^#csrf_token=(\w+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  const isAwaited =
    sessionStorage.getItem(REDIRECTED_TO_PROVIDER) !== null || localStorage.getItem(CSRF_TOKEN) === null;
  sessionStorage.removeItem(REDIRECTED_TO_PROVIDER);
  if (isAwaited) storeCsrfToken(token);
  history.replaceState(history.state, "", location.pathname + location.search);
}

export function credentialHeaders(): Record<string, string> {
  const [key, workspace] = [readKey(), readWorkspace()];
  return {
    ...(key !== null && { "x-api-key": key }),
    ...(workspace !== null && { "x-tenant-id": workspace }),
    // without a session its value is not checked, but sign-in and sign-out forms must send it
    "x-heddle-csrf": localStorage.getItem(CSRF_TOKEN) ?? "1",
  };
}

/**
 * Adds LangGraph Studio's auth scheme: where HEDDLE_STUDIO_AUTH allows it, custom authentication lets console users in.
 */
export const agentCredentials = (): Record<string, string> => ({
  ...credentialHeaders(),
  "x-auth-scheme": "langsmith",
});
