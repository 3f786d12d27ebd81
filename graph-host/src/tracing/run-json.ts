/**
 * JSON text of a run for the trace platform. Values of user code are serialized as LangSmith's client does: maps as
 * objects, sets as lists, errors by name and message, and a cycle as a mark. A value that cannot be serialized does not
 * affect the others.
 */

/** Run as the platform accepts it. */
export interface SentRun {
  id: string;
  trace_id?: string | undefined;
  dotted_order?: string | undefined;
  parent_run_id?: string | undefined;
  name?: string | undefined;
  run_type?: string | undefined;
  start_time?: string | number | undefined;
  end_time?: string | number | undefined;
  session_name?: string | undefined;
  reference_example_id?: string | undefined;
  tags?: string[] | undefined;
  error?: unknown;
  extra?: object | undefined;
  serialized?: object | undefined;
  events?: object[] | undefined;
  inputs?: unknown;
  outputs?: unknown;
}

export function runJson({ extra, serialized, events, inputs, outputs, error, ...plain }: SentRun): string {
  const fields = [JSON.stringify(plain).slice(1, -1)];
  const add = (name: string, value: unknown) => {
    const json = value === undefined ? undefined : toText(value);
    if (json !== undefined) fields.push(`"${name}":${json}`);
  };
  add("extra", extra);
  add("serialized", serialized);
  add("events", events);
  add("error", error);
  add("inputs", inputs);
  add("outputs", outputs);
  return `{${fields.join(",")}}`;
}

const UNSERIALIZABLE = '{"error":"[Unserializable]"}';

function toText(value: unknown): string | undefined {
  try {
    return needsReplacer(value, 0) ? JSON.stringify(value, replaceWellKnown) : JSON.stringify(value);
  } catch (error) {
    // too deep for the stack, too large for a string, or a failing `toJSON`
    if (!String((error as Error).message).includes("circular")) return UNSERIALIZABLE;
  }
  try {
    return JSON.stringify(value, circularReplacer());
  } catch {
    return UNSERIALIZABLE;
  }
}

const MAX_DEPTH = 100;

/** Whether a value may contain what JSON.stringify alone serializes differently. A replacer is five times slower. */
function needsReplacer(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "bigint";
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) return value.some((item) => needsReplacer(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    // LangChain's objects serialize their arguments, and have cheaper ways to them than `toJSON`
    if ("lc_kwargs" in value) return needsReplacer(value.lc_kwargs, depth + 1);
    if (!(value instanceof Date)) return true;
  }
  for (const key in value) if (needsReplacer((value as Record<string, unknown>)[key], depth + 1)) return true;
  return false;
}

function replaceWellKnown(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  if (value instanceof RegExp) return value.toString();
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}

const CIRCULAR = { result: "[Circular]" };

function circularReplacer() {
  const ancestors: unknown[] = [];
  return function replace(this: unknown, key: string, value: unknown): unknown {
    const known = replaceWellKnown(key, value);
    if (typeof known !== "object" || known === null) return known;
    // `this` contains the value; what is deeper in the list belongs to a sibling
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(known)) return CIRCULAR;
    ancestors.push(known);
    return known;
  };
}
