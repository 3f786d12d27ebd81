/**
 * Paths in a run: `inputs.messages[-1].content`, `outputs["a.b"]`. Names are separated by dots; brackets hold an index,
 * which counts from the end when negative, or a name in double quotes as in JSON.
 */

export type Step = string | number;

/** Fields of a run where a path can begin. */
export const ROOTS = [
  "inputs",
  "outputs",
  "metadata",
  "tags",
  "error",
  "name",
  "run_type",
  "id",
  "trace_id",
  "thread_id",
];

const STEP = /(?:^|\.)([^.[\]"]+)|\[(-?\d{1,6})\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/** Parses a path. @returns its steps, or what is wrong with it */
export function parsePath(text: string): Step[] | string {
  const steps: Step[] = [];
  if (text.startsWith(".")) return "begins with a dot";
  let at = 0;
  while (at < text.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(text);
    if (!match) return `is not a path at character ${at + 1}: names are separated by dots, indexes are in brackets`;
    at = STEP.lastIndex;
    if (match[1] !== undefined) steps.push(match[1]);
    else if (match[2] !== undefined) steps.push(Number(match[2]));
    else {
      try {
        steps.push(JSON.parse(match[3]!) as string);
      } catch {
        return `has an invalid name in brackets: ${match[3]}`;
      }
    }
  }
  if (!ROOTS.includes(String(steps[0]))) return `must begin with ${ROOTS.slice(0, -1).join(", ")} or ${ROOTS.at(-1)}`;
  return steps;
}

/** Reads a value by its path; undefined when it is not there. */
export function readPath(value: unknown, steps: readonly Step[]): unknown {
  let current = value;
  for (const step of steps) {
    if (typeof step === "number") {
      if (!Array.isArray(current)) return undefined;
      current = current.at(step);
    } else {
      if (current === null || typeof current !== "object" || Array.isArray(current)) return undefined;
      current = Object.hasOwn(current, step) ? (current as Record<string, unknown>)[step] : undefined;
    }
  }
  return current;
}
