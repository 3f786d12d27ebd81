/**
 * Who asks. A session is a cookie that scripts cannot read; a key that was typed in lives as long as the tab. The
 * workspace goes with each request, because a session may belong to several.
 */
const KEY = "heddle.key";
const WORKSPACE = "heddle.workspace";

export const readKey = (): string | null => sessionStorage.getItem(KEY);
export const readWorkspace = (): string | null => localStorage.getItem(WORKSPACE);

export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

export function keepWorkspace(id: string | null): void {
  if (id === null) localStorage.removeItem(WORKSPACE);
  else localStorage.setItem(WORKSPACE, id);
}

export function credentialHeaders(): Record<string, string> {
  const [key, workspace] = [readKey(), readWorkspace()];
  return { ...(key !== null && { "x-api-key": key }), ...(workspace !== null && { "x-tenant-id": workspace }) };
}

/** As LangGraph Studio says it: where HEDDLE_STUDIO_AUTH allows it, a project's own authentication lets our callers in. */
export const agentCredentials = (): Record<string, string> => ({
  ...credentialHeaders(),
  "x-auth-scheme": "langsmith",
});
