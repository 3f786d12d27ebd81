import type { Variable } from "./deploy.ts";

/** A name, and a value: in quotes, over several lines if need be, or up to a comment or the end of the line. */
const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\n]+)?\s*(?:#.*)?$/gm;

/** Parses a .env file as the package dotenv does, by which servers and `heddle deploy` read it. */
export function readEnv(text: string): Variable[] {
  const values = new Map<string, string>();
  for (const [, name, given = ""] of text.replace(/\r\n?/g, "\n").matchAll(LINE)) {
    const trimmed = given.trim();
    const value = trimmed.replace(/^(['"`])([\s\S]*)\1$/, "$2");
    values.set(name!, trimmed.startsWith('"') ? value.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : value);
  }
  return [...values].map(([name, value]) => ({ name, value }));
}
