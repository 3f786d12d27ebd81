/**
 * Paths into a run, for mappings of datasets, variables of evaluators and templates of experiments:
 * `inputs.messages[-1].content`, `outputs["a.b"]`. Names are separated by dots; brackets hold an index, which counts from
 * the end when negative, or a name in double quotes as in JSON. A name that is a number is an index of a list:
 * `inputs.messages.-1.content`.
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

/** Spellings of `inputs` and `outputs`, which evaluators' paths have too. */
const ALIASES: Record<string, string> = { input: "inputs", output: "outputs" };

/** Parses the steps of a path, whatever it begins with. @returns the steps, or what is wrong with it */
export function parseSteps(text: string): Step[] | string {
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
  return steps;
}

/** Parses a path into a run. @returns its steps, or what is wrong with it */
export function parsePath(text: string): Step[] | string {
  const steps = parseSteps(text.replace(/^run\./, ""));
  if (typeof steps === "string") return steps;
  const [first, ...rest] = steps;
  const root = ALIASES[String(first)] ?? String(first);
  if (!ROOTS.includes(root)) return `must begin with ${ROOTS.slice(0, -1).join(", ")} or ${ROOTS.at(-1)}`;
  return [root, ...rest];
}

/** Reads a value by its path; undefined when it is not there. Only own properties are reached. */
export function readPath(value: unknown, steps: readonly Step[]): unknown {
  let current = value;
  for (const step of steps) {
    if (Array.isArray(current)) {
      const index = typeof step === "number" ? step : /^-?\d{1,6}$/.test(step) ? Number(step) : undefined;
      current = index === undefined ? undefined : (current as unknown[]).at(index);
    } else if (current !== null && typeof current === "object" && Object.hasOwn(current, step)) {
      current = (current as Record<string, unknown>)[step];
    } else return undefined;
  }
  return current;
}
