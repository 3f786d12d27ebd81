import { FilterError } from "./filter-error.ts";
import type { Expression, Test } from "./expression.ts";
import { FIELD_NAMES, findField, findPart } from "./fields.ts";
import { pairUp, type PairCondition } from "./pair-up.ts";
import { type Argument, type Call, fieldName, parse } from "./parser.ts";
import { searched, readTest, readText } from "./read-test.ts";
import { parseJson } from "../../base/json-structure.ts";

/** Parses a filter expression. Throws FilterError (400) with the position of the error. */
export function readFilter(source: string): Expression {
  return conjunction([parse(source)]);
}

const LOGICAL = ["and", "or", "not"];
const CONDITIONS = ["eq", "neq", "gt", "gte", "lt", "lte", "in", "has", "exists", "search", "like"];

/** Combines calls. Adjacent conditions on parts of pairs refer to the same pair; see pair-up.ts. */
function conjunction(calls: Call[]): Expression {
  const items: Expression[] = [];
  const pairs: PairCondition[] = [];
  for (const call of calls) {
    const read = condition(call);
    if ("part" in read) pairs.push(read);
    else items.push(read);
  }
  items.push(...pairUp(pairs));
  return items.length === 1 ? items[0]! : { kind: "and", items };
}

function condition(call: Call): Expression | PairCondition {
  const { name, at } = call;
  if (name === "not") {
    if (call.args.length !== 1) throw new FilterError("not takes one expression", at);
    return { kind: "not", item: conjunction(callArguments(call)) };
  }
  if (name === "and" || name === "or") {
    const calls = callArguments(call);
    if (calls.length === 0) throw new FilterError(`${name} takes at least one expression`, at);
    if (name === "and") return conjunction(calls);
    return { kind: "or", items: calls.map((call) => conjunction([call])) };
  }
  if (name === "search" && call.args.length === 1) return { kind: "search", text: searched(call, call.args[0]) };
  if (!CONDITIONS.includes(name)) {
    throw new FilterError(`there is no function "${name}"; there are ${[...LOGICAL, ...CONDITIONS].join(", ")}`, at);
  }
  if (call.args.length !== 2) throw new FilterError(`${name} takes a field and a value`, at);
  return onField(call, call.args[0]!);
}

function callArguments(call: Call): Call[] {
  return call.args.map((arg) => {
    if (arg.kind === "call") return arg;
    throw new FilterError(`${call.name} takes expressions`, arg.at);
  });
}

function onField(call: Call, subject: Argument): Expression | PairCondition {
  const name = fieldName(subject);
  if (name === undefined) throw new FilterError(`${call.name} takes a field first`, subject.at);
  const part = findPart(name);
  if (part) {
    return { family: part.family, part: part.part, test: readTest(call, name, part) };
  }
  if (name === "execution_order") return executionOrder(call);
  const field = findField(name);
  if (!field) throw new FilterError(`there is no field "${name}"; there are ${FIELD_NAMES.join(", ")}`, subject.at);
  if (field.type === "tags") return onTags(call);
  if (field.type === "metadata") return onMetadata(call);
  if (call.name === "exists") {
    throw new FilterError(`exists only applies to metadata; to test for a value, use neq(${name}, null)`, call.at);
  }
  if (call.name === "has") throw new FilterError("has only applies to tags and metadata", call.at);
  return { kind: "field", field, test: readTest(call, name, { type: field.type, nullable: field.nullable }) };
}

/** Handles execution_order, of which only 1, the root, is supported (contract §3.1). */
function executionOrder(call: Call): Expression {
  const value = call.args[1];
  if ((call.name !== "eq" && call.name !== "neq") || value?.kind !== "value" || value.value !== 1) {
    throw new FilterError("execution_order can only be compared with 1, the root", call.at);
  }
  return { kind: "field", field: findField("is_root")!, test: { op: call.name, value: true } };
}

function onTags(call: Call): Expression {
  const { name } = call;
  const tag = { name: "tags", type: "text", nullable: false } as const;
  if (name === "has" || name === "eq")
    return { kind: "some_tag", test: readTest({ ...call, name: "eq" }, "tags", tag) };
  // "no tag equals", rather than "some tag differs"
  if (name === "neq") return { kind: "not", item: onTags({ ...call, name: "eq" }) };
  if (name === "in" || name === "like" || name === "search")
    return { kind: "some_tag", test: readTest(call, "tags", tag) };
  throw new FilterError('tags can only be tested with has(tags, "x"), in, like and search', call.at);
}

function onMetadata(call: Call): Expression {
  const value = call.args[1]!;
  if (call.name === "exists" || call.name === "search") {
    const text = call.name === "search" ? searched(call, value) : readText(call, value);
    const test: Test = call.name === "search" ? { op: "search", text } : { op: "eq", value: text };
    return { kind: "some_pair", family: "metadata", tests: [{ part: call.name === "search" ? "value" : "key", test }] };
  }
  if (call.name !== "has") {
    throw new FilterError(
      'metadata can only be tested with has(metadata, \'{"k": "v"}\'), exists(metadata, "k") and search',
      call.at,
    );
  }
  let object: unknown;
  try {
    object = parseJson(readText(call, value));
  } catch {
    object = undefined;
  }
  if (object === null || typeof object !== "object" || Array.isArray(object)) {
    throw new FilterError("has(metadata, …) takes a JSON object as text", value.at);
  }
  return { kind: "metadata_contains", entries: Object.entries(object).map(([key, value]) => ({ key, value: value })) };
}
