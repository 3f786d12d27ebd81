/**
 * Completion for expressions of docs/filter-language.md: functions, the fields each accepts, and words where a value is
 * expected. The server parses the expression; this only helps to write it.
 */
import type { operations } from "../../api/trace.d.ts";

export interface Word {
  label: string;
  /** Short description. */
  detail: string;
  kind: "function" | "field" | "value";
  /** Inserted text, where it differs from the label; `|` marks the cursor position. */
  insert?: string;
}

export interface Fact {
  /** A field, or `metadata.<key>`. */
  key: string;
  value: string;
  n: number;
}

const FUNCTIONS: [string, string, string][] = [
  ["and", "all conditions", "and(|)"],
  ["or", "any condition", "or(|)"],
  ["not", "not this condition", "not(|)"],
  ["eq", "equal", "eq(|, )"],
  ["neq", "not equal", "neq(|, )"],
  ["gt", "greater than", "gt(|, )"],
  ["gte", "at least", "gte(|, )"],
  ["lt", "less than", "lt(|, )"],
  ["lte", "at most", "lte(|, )"],
  ["in", "one of a list", "in(|, [])"],
  ["has", "has a tag or metadata", "has(|, )"],
  ["exists", "has a metadata key", 'exists(metadata, "|")'],
  ["search", "contains text, anywhere or in a field", 'search("|")'],
  ["like", "matches a pattern with % and _", 'like(|, "%%")'],
];

const FIELDS: [string, string][] = [
  ["name", "name of the run"],
  ["run_type", "chain, llm, tool …"],
  ["status", "success, error, pending, interrupted, cancelled or incomplete"],
  ["error", "error message, or null"],
  ["latency", 'seconds, or "5s"'],
  ["start_time", "ISO 8601"],
  ["end_time", "ISO 8601"],
  ["first_token_time", "ISO 8601"],
  ["total_tokens", "number"],
  ["prompt_tokens", "number"],
  ["completion_tokens", "number"],
  ["total_cost", "dollars"],
  ["prompt_cost", "dollars"],
  ["completion_cost", "dollars"],
  ["is_root", "true for the root of a trace"],
  ["tags", 'has(tags, "x")'],
  ["metadata", 'has(metadata, \'{"k": "v"}\')'],
  ["metadata_key", "paired with metadata_value"],
  ["metadata_value", "paired with metadata_key"],
  ["input_key", "dotted path in the inputs"],
  ["input_value", "value at input_key"],
  ["output_key", "dotted path in the outputs"],
  ["output_value", "value at output_key"],
  ["feedback_key", "paired with feedback_score"],
  ["feedback_score", "number"],
  ["feedback_value", "text"],
  ["feedback_comment", "text"],
  ["feedback_source", "api, app, model or auto_eval"],
  ["feedback_created_at", "ISO 8601"],
  ["feedback_id", "UUID"],
  ["thread_id", "ID of the conversation"],
  ["inputs", "JSON text"],
  ["outputs", "JSON text"],
  ["extra", "JSON text"],
  ["id", "UUID"],
  ["trace_id", "UUID"],
  ["parent_run_id", "UUID or null"],
  ["session_id", "UUID of the project"],
  ["reference_example_id", "UUID or null"],
  ["dotted_order", "position in the trace"],
  ["trace_tier", "longlived or shortlived"],
  ["execution_order", "1 is the root"],
];

type QueryBody = NonNullable<operations["post_api_v1_runs_query"]["requestBody"]>["content"]["application/json"];
/** The types that the API takes, all of them. */
const RUN_TYPES: Record<NonNullable<QueryBody["run_type"]>, true> = {
  chain: true,
  llm: true,
  tool: true,
  retriever: true,
  embedding: true,
  prompt: true,
  parser: true,
};

/** Values of the fields that have few. */
export const KNOWN_VALUES: Record<string, string[]> = {
  run_type: Object.keys(RUN_TYPES),
  status: ["success", "error", "pending", "interrupted", "cancelled", "incomplete"],
  trace_tier: ["longlived", "shortlived"],
  feedback_source: ["api", "app", "model", "auto_eval"],
};
const BARE: Record<string, string[]> = { is_root: ["true", "false"], error: ["null"], parent_run_id: ["null"] };
const LOGICAL = new Set(["and", "or", "not"]);

/** Cursor position in an expression: enclosing function, argument index, preceding field. */
export interface Place {
  /** Null at the top. */
  call: string | null;
  argument: number;
  /** First argument of the call, when it is a field. */
  field: string | null;
  /** Start of the word or text at the cursor. */
  from: number;
  /** Opening quote of the text. */
  quote: string | null;
  /** Value of the `metadata_key` (or similar) beside it in the same `and`. */
  pairKey: string | null;
  /** Whether an argument or the expression begins here: nothing but `(`, `,`, `[` or the start precedes the word. */
  isStart: boolean;
}

/** Parses up to `at`; the rest does not matter. */
export function placeIn(text: string, at: number): Place {
  const calls: { name: string; argument: number; field: string | null; pairKey: string | null }[] = [];
  let word = "";
  let from = at;
  for (let i = 0; i < at; i++) {
    const char = text[i]!;
    if (char === '"' || char === "'") {
      let end = i + 1;
      while (end < at && text[end] !== char) end += text[end] === "\\" ? 2 : 1;
      const top = calls.at(-1);
      if (end >= at) {
        return { ...completionContext(calls), from: i + 1, quote: char, isStart: isStartAt(text, i) };
      }
      if (top?.field?.endsWith("_key") && top.argument === 1 && calls.at(-2)) {
        calls.at(-2)!.pairKey = text.slice(i + 1, end);
      }
      word = "";
      i = end;
    } else if (/\w/.test(char)) {
      if (word === "") from = i;
      word += char;
    } else {
      if (char === "(") calls.push({ name: word, argument: 0, field: null, pairKey: null });
      const top = calls.at(-1);
      if (char === "," && top) {
        if (top.argument === 0 && word !== "") top.field = word;
        // commas of a list belong to one argument
        if (!isInList(text, i)) top.argument += 1;
      }
      if (char === ")") calls.pop();
      word = "";
    }
  }
  const start = word === "" ? at : from;
  return { ...completionContext(calls), from: start, quote: null, isStart: isStartAt(text, start) };
}

const isStartAt = (text: string, at: number): boolean => /(?:^|[(,[])\s*$/.test(text.slice(0, at));

function completionContext(calls: { name: string; argument: number; field: string | null; pairKey: string | null }[]) {
  const top = calls.at(-1);
  const pairKey = calls.at(-2)?.pairKey ?? null;
  return { call: top?.name ?? null, argument: top?.argument ?? 0, field: top?.field ?? null, pairKey };
}

function isInList(text: string, at: number): boolean {
  const before = text.slice(0, at);
  return before.lastIndexOf("[") > before.lastIndexOf("]");
}

/** Returns completions for a place. Values come from the facets of the project's runs. */
export function wordsAt(place: Place, facts: readonly Fact[]): Word[] {
  const { call, argument, field, quote, pairKey, isStart } = place;
  // after a complete expression or value, a completion would break it
  if (!isStart) return [];
  if (call !== null && !LOGICAL.has(call)) {
    if (argument === 0) return quote === null ? fieldsFor(call) : [];
    return completeValues(field, pairKey, facts, quote);
  }
  if (quote !== null) return [];
  return FUNCTIONS.map(([label, detail, insert]) => ({ label, detail, insert, kind: "function" }));
}

function fieldsFor(call: string): Word[] {
  const only: Record<string, string[]> = { has: ["tags", "metadata"], exists: ["metadata"] };
  return FIELDS.filter(([name]) => !only[call] || only[call].includes(name)).map(([label, detail]) => ({
    label,
    detail,
    kind: "field",
  }));
}

function completeValues(
  field: string | null,
  pairKey: string | null,
  facts: readonly Fact[],
  quote: string | null,
): Word[] {
  if (field === null) return [];
  const texts = new Map<string, string>();
  for (const value of KNOWN_VALUES[field] ?? []) texts.set(value, "");
  for (const { key, value, n } of facts) {
    const isPairKey = field === "metadata_key" && key.startsWith("metadata.");
    if (isPairKey) texts.set(key.slice("metadata.".length), "");
    else if (key === field || (field === "metadata_value" && key === `metadata.${pairKey}`))
      texts.set(value, `${n} runs`);
  }
  const quoted = [...texts].map(([value, detail]): Word => ({
    label: value,
    detail,
    kind: "value",
    insert: quote === null ? JSON.stringify(value) : JSON.stringify(value).slice(1, -1),
  }));
  const bare = quote === null ? (BARE[field] ?? []).map((label): Word => ({ label, detail: "", kind: "value" })) : [];
  return [...bare, ...quoted];
}

/** Returns the position of the error in the server's message: "Invalid filter at character 12: …". */
export function parseFilterError(message: string): { at: number; reason: string } {
  const match = /at character (\d+): ([\s\S]*)$/.exec(message);
  return match ? { at: Number(match[1]), reason: match[2]! } : { at: 0, reason: message };
}
