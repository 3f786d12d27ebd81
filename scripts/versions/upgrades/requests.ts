/** Requests whose answers must be the same after an upgrade. */
import { isDeepStrictEqual } from "node:util";

export interface Question {
  url: string;
  method?: string;
  body?: unknown;
}

/** Sends a request. @throws with the answer's text unless it succeeds */
export async function ask<T = Record<string, unknown>>({ url, method = "GET", body }: Question): Promise<T> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 300)}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

export const post = <T = Record<string, unknown>>(url: string, body: unknown): Promise<T> =>
  ask<T>({ url, method: "POST", body });

/** Returns the answers by question; a failed request is an answer too. */
export async function answersTo(questions: Question[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const question of questions) answers.push(await ask<unknown>(question).catch((error: Error) => error.message));
  return answers;
}

/** Describes each difference between two lists of answers. The later ones may have more fields. */
export function differences(questions: Question[], before: unknown[], after: unknown[]): string[] {
  return questions.flatMap(({ method = "GET", url, body }, i) => {
    const path = firstDifference(before[i], after[i], "");
    if (path === undefined) return [];
    const at = (value: unknown) => JSON.stringify(resolvePath(value, path))?.slice(0, 200);
    return [
      `${method} ${new URL(url).pathname} ${body === undefined ? "" : JSON.stringify(body)}: ${path || "the answer"} was ` +
        `${at(before[i])}, is ${at(after[i])}`,
    ];
  });
}

function firstDifference(before: unknown, after: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(before, after)) return undefined;
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) return path;
  if (Array.isArray(before) && before.length !== (after as unknown as unknown[]).length) return path;
  for (const key of Object.keys(before)) {
    const found = firstDifference(before[key], after[key], `${path}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const resolvePath = (value: unknown, path: string): unknown =>
  path
    .split("/")
    .slice(1)
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
