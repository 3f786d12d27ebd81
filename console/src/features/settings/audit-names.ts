/** Words of the API that the console calls by another name. */
const NAMES: Record<string, string> = { session: "project", sessions: "projects", tenant: "workspace" };

const words = (name: string): string =>
  name
    .split("_")
    .map((word) => NAMES[word] ?? word)
    .join(" ");

/** Formats an operation: `update_session` is "Update project". */
export function nameOperation(operation: string): string {
  const text = words(operation)
    .replace(/\bapi\b/, "API")
    .replace(/\bttl\b/, "TTL");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Parses what {@link nameOperation} formats; an operation's own name stays as it is. */
export const readOperation = (text: string): string =>
  text
    .toLowerCase()
    .split(/[\s_]+/)
    .map((word) => Object.entries(NAMES).find(([, name]) => name === word)?.[0] ?? word)
    .join("_");

/** Formats the kind of a resource: `session_id` is "project". */
export const nameResource = (kind: string): string => words(kind.replace(/_id$/, ""));
