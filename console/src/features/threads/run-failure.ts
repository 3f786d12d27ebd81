/** Reason why a run failed, as servers, tasks and streams report it: an object, its text as JSON, or bare text. */
export interface RunFailure {
  name: string | null;
  message: string;
  stack: string | null;
}

/** Parses a failure; null when there is none. */
export function readFailure(value: unknown): RunFailure | null {
  if (value === null || value === undefined || value === "") return null;
  if (typeof value === "string") return readFailure(asObject(value)) ?? { name: null, message: value, stack: null };
  // raised in the console, so the stack is that of this page
  if (value instanceof Error) return { name: null, message: value.message, stack: null };
  if (typeof value !== "object") return { name: null, message: JSON.stringify(value), stack: null };
  const { name, error, message, stack } = value as Record<string, unknown>;
  const called = [name, error].find(
    (candidate) => typeof candidate === "string" && candidate !== "" && candidate !== "Error",
  );
  return {
    name: (called as string | undefined) ?? null,
    message: typeof message === "string" && message !== "" ? message.trim() : JSON.stringify(value),
    stack: typeof stack === "string" && stack !== "" ? stack : null,
  };
}

function asObject(text: string): object | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text) as object;
  } catch {
    return null;
  }
}
