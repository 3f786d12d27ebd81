/** Reason why a run failed, as servers, tasks and streams report it: an object, its text as JSON, or bare text. */
export interface RunFailure {
  name: string | null;
  message: string;
  stack: string | null;
}

/** Parses a failure; null when there is none. */
export function readFailure(told: unknown): RunFailure | null {
  if (told === null || told === undefined || told === "") return null;
  if (typeof told === "string") return readFailure(asObject(told)) ?? { name: null, message: told, stack: null };
  // raised in the console, so the stack is that of this page
  if (told instanceof Error) return { name: null, message: told.message, stack: null };
  if (typeof told !== "object") return { name: null, message: JSON.stringify(told), stack: null };
  const { name, error, message, stack } = told as Record<string, unknown>;
  const called = [name, error].find((one) => typeof one === "string" && one !== "" && one !== "Error");
  return {
    name: (called as string | undefined) ?? null,
    message: typeof message === "string" && message !== "" ? message.trim() : JSON.stringify(told),
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
