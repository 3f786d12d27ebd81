/**
 * Rows of conditions for an expression of docs/filter-language.md that is a conjunction, and back. The text stays the
 * only state: an expression that rows cannot show exactly is left to the text.
 */
import { type Fact, KNOWN_VALUES } from "./filter-language.ts";

export interface Condition {
  field: string;
  /** Key of metadata or feedback; empty for other fields. */
  key: string;
  operator: Operator;
  value: string;
}

export type Operator = "eq" | "neq" | "gt" | "gte" | "lt" | "lte" | "like" | "has" | "search";

export const OPERATOR_LABELS: Record<Operator, string> = {
  eq: "is",
  neq: "is not",
  gt: "is more than",
  gte: "is at least",
  lt: "is less than",
  lte: "is at most",
  like: "matches (% is any text)",
  has: "include",
  search: "contains",
};

const TEXT: readonly Operator[] = ["eq", "neq", "like"];
const CHOICE: readonly Operator[] = ["eq", "neq"];
const NUMBER: readonly Operator[] = ["gte", "lte", "gt", "lt", "eq"];

interface Field {
  label: string;
  operators: readonly Operator[];
  isNumber?: boolean;
  /** Fields of the key and the value, for those that are pairs. */
  pair?: readonly [key: string, value: string];
  values?: readonly string[];
}

export const CONDITION_FIELDS: Record<string, Field> = {
  status: { label: "Status", operators: CHOICE, values: KNOWN_VALUES["status"] },
  name: { label: "Name", operators: TEXT },
  run_type: { label: "Type", operators: CHOICE, values: KNOWN_VALUES["run_type"] },
  text: { label: "Any text", operators: ["search"] },
  error: { label: "Error message", operators: ["like", "eq"] },
  tags: { label: "Tags", operators: ["has"] },
  metadata: { label: "Metadata", operators: CHOICE, pair: ["metadata_key", "metadata_value"] },
  latency: { label: "Latency (seconds)", operators: NUMBER, isNumber: true },
  total_cost: { label: "Cost (dollars)", operators: NUMBER, isNumber: true },
  total_tokens: { label: "Tokens", operators: NUMBER, isNumber: true },
  feedback: { label: "Feedback score", operators: NUMBER, isNumber: true, pair: ["feedback_key", "feedback_score"] },
  thread_id: { label: "Thread ID", operators: CHOICE },
};

export const emptyCondition = (field: string): Condition => ({
  field,
  key: "",
  operator: CONDITION_FIELDS[field]!.operators[0]!,
  value: "",
});

/** Whether a row says something: an unfinished one is not part of the expression. */
export function isComplete({ field, key, value }: Condition): boolean {
  const { isNumber = false, pair } = CONDITION_FIELDS[field]!;
  if (pair && key === "") return false;
  return isNumber ? value.trim() !== "" && Number.isFinite(Number(value)) : value !== "";
}

/** Writes the complete rows as an expression; empty for none. */
export function writeConditions(conditions: readonly Condition[]): string {
  const parts = conditions.filter(isComplete).map(({ field, key, operator, value }) => {
    const { isNumber, pair } = CONDITION_FIELDS[field]!;
    const literal = isNumber ? String(Number(value)) : JSON.stringify(value);
    if (field === "text") return `search(${literal})`;
    if (!pair) return `${operator}(${field}, ${literal})`;
    return `and(eq(${pair[0]}, ${JSON.stringify(key)}), ${operator}(${pair[1]}, ${literal}))`;
  });
  return parts.length > 1 ? `and(${parts.join(", ")})` : (parts[0] ?? "");
}

/** Reads an expression as rows; null if rows cannot show exactly what it says. */
export function readConditions(text: string): Condition[] | null {
  if (text.trim() === "") return [];
  const call = new Reader(text).whole();
  return call && readCall(call);
}

function readCall({ name, args }: Call): Condition[] | null {
  if (name !== "and") {
    const condition = readComparison(name, args);
    return condition && [condition];
  }
  const calls = args.filter((arg) => typeof arg === "object");
  if (calls.length !== args.length) return null;
  const { pairs, rest } = takePairs(calls);
  const read = rest.map(readCall);
  return read.every((found) => found !== null) ? [...pairs, ...read.flat()] : null;
}

/** Takes the keys and values that stand beside each other in a conjunction, if there is one of each. */
function takePairs(calls: Call[]): { pairs: Condition[]; rest: Call[] } {
  const pairs: Condition[] = [];
  let rest = calls;
  for (const [field, { pair }] of Object.entries(CONDITION_FIELDS)) {
    if (!pair) continue;
    const keys = calls.filter(({ name, args }) => name === "eq" && args[0] === pair[0] && isQuoted(args[1]));
    const values = calls.filter(({ args }) => args[0] === pair[1]);
    if (keys.length !== 1 || values.length !== 1) continue;
    const condition = toCondition(field, values[0]!.name, values[0]!.args);
    if (!condition) continue;
    pairs.push({ ...condition, key: unquote(keys[0]!.args[1] as string) });
    rest = rest.filter((call) => call !== keys[0] && call !== values[0]);
  }
  return { pairs, rest };
}

function readComparison(name: string, args: Argument[]): Condition | null {
  if (name === "search") return args.length === 1 ? toCondition("text", name, ["text", args[0]!]) : null;
  const [field] = args;
  if (typeof field !== "string" || CONDITION_FIELDS[field] === undefined || CONDITION_FIELDS[field].pair) return null;
  return toCondition(field, name, args);
}

function toCondition(field: string, name: string, args: Argument[]): Condition | null {
  const { operators, isNumber = false } = CONDITION_FIELDS[field]!;
  const [, value] = args;
  const operator = operators.find((known) => known === name);
  if (args.length !== 2 || typeof value !== "string" || operator === undefined) return null;
  if (isNumber) return /^-?\d+(\.\d+)?$/.test(value) ? { field, key: "", operator, value } : null;
  return isQuoted(value) ? { field, key: "", operator, value: unquote(value) } : null;
}

interface Call {
  name: string;
  args: Argument[];
}
/** A call, or a word, a number or a text in its quotes. */
type Argument = Call | string;

const isQuoted = (argument: Argument | undefined): argument is string =>
  typeof argument === "string" && /^["']/.test(argument);
const unquote = (quoted: string): string => quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1");

const TOKEN = /\s*(?:("(?:[^"\\]|\\["\\/])*"|'(?:[^'\\]|\\['\\/])*')|([\w.-]+)|([(),]))/y;

/** Reads calls with words, numbers and texts; anything else (lists, other escapes) is not read. */
class Reader {
  readonly #tokens: string[] = [];

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    const all = text.trimEnd();
    let end = 0;
    for (let match = TOKEN.exec(all); match; match = TOKEN.exec(all)) {
      this.#tokens.push(match[1] ?? match[2] ?? match[3]!);
      end = TOKEN.lastIndex;
    }
    if (end < all.length) this.#tokens.length = 0;
  }

  whole(): Call | null {
    const argument = this.#argument();
    return this.#tokens.length === 0 && typeof argument === "object" ? argument : null;
  }

  #argument(): Argument | null {
    const token = this.#tokens.shift();
    if (token === undefined || /^[(),]$/.test(token)) return null;
    if (this.#tokens[0] !== "(") return token;
    this.#tokens.shift();
    const args: Argument[] = [];
    for (;;) {
      const argument = this.#argument();
      if (argument === null) return null;
      args.push(argument);
      const next = this.#tokens.shift();
      if (next === ")") return { name: token, args };
      if (next !== ",") return null;
    }
  }
}

/** Returns what the project's runs have for a row: its values, or the keys of its pair. */
export function suggestions(facts: readonly Fact[], { field, key }: Condition): { keys: string[]; values: string[] } {
  const keys = facts.flatMap(({ key: name }) => (name.startsWith(`${field}.`) ? name.slice(field.length + 1) : []));
  const name = CONDITION_FIELDS[field]!.pair ? `${field}.${key}` : field;
  const values = facts.flatMap((fact) => (fact.key === name ? fact.value : []));
  return { keys: [...new Set(keys)], values: [...new Set([...(CONDITION_FIELDS[field]!.values ?? []), ...values])] };
}
