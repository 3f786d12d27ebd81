/** Why a run failed, as servers, tasks and streams tell of it: an object, its text as JSON, or bare text. */
export interface RunFailure {
  name: string | null;
  message: string;
  stack: string | null;
}

/** Null where nothing is told. */
export function readFailure(told: unknown): RunFailure | null {
  if (told === null || told === undefined || told === "") return null;
  if (typeof told === "string") return readFailure(asObject(told)) ?? { name: null, message: told, stack: null };
  // one that was made here, whose stack is this page's
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
