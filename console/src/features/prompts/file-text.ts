/** Returns the text of a file in a directory's commit; null for entries that are not text, such as links. */
export function fileText(value: unknown): string | null {
  if (typeof value === "string") return value;
  const { content } = (value ?? {}) as { content?: unknown };
  return typeof content === "string" ? content : null;
}
