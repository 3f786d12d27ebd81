/**
 * Selects the texts of an item that are embedded. Paths have the syntax of LangGraph's stores: `a.b`, `tags[0]`,
 * `tags[-1]`, `sections[*].title`, `$` for the whole value.
 */
export type Path = (string | number | typeof EACH)[];

/** Every element of an array or object. */
const EACH = Symbol("each");

const STEP = /^(?:\.?([^.[\]]+)|\[(\*|-?\d{1,9})\])/;

/** @throws Error for an invalid path */
export function parsePath(name: string): Path {
  if (name === "$") return [];
  const steps: Path = [];
  let rest = name.startsWith("$.") ? name.slice(2) : name;
  while (rest !== "") {
    const found = STEP.exec(rest);
    if (!found || (steps.length === 0 && rest.startsWith(".")))
      throw new Error(`"${name}" is not a path such as a.b[*].c`);
    const [all, label, index] = found;
    steps.push(label !== undefined ? label : index === "*" ? EACH : Number(index));
    rest = rest.slice(all.length);
  }
  if (steps.length === 0) throw new Error("the path is empty");
  return steps;
}

/** Values at the path, as text; missing, null and empty values are left out. */
export function textsAt(value: unknown, path: Path): string[] {
  return path
    .reduce<unknown[]>((found, step) => found.flatMap((item) => follow(item, step)), [value])
    .map(toText)
    .filter((text) => text !== "");
}

function follow(value: unknown, step: Path[number]): unknown[] {
  if (value === null || typeof value !== "object") return [];
  if (step === EACH) return Object.values(value);
  if (typeof step === "number") {
    const element: unknown = Array.isArray(value) ? value.at(step) : undefined;
    return element === undefined ? [] : [element];
  }
  return !Array.isArray(value) && Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
