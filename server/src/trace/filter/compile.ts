/**
 * Compiles an expression to a ClickHouse condition over `runs as r`, merged (FINAL). All SQL for the language is
 * generated here: for queries, statistics, rules and exports.
 *
 *     const condition = compileFilter(readFilter('gt(latency, "5s")'), scope);
 *     ch`select r.id from runs as r final where r.tenant_id = … and ${condition}`
 *
 * Values are bound, never interpolated. The condition is true or false for every run, never null (expression.ts).
 */
import { all, any, bind, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { type IncompleteHours, RUN_LATENCY, RUN_TYPE, runStatus } from "../run-rows/clickhouse.ts";
import { containsEntries, somePair, someTag } from "./compile-pairs.ts";
import { compileTest, type Subject } from "./compile-test.ts";
import type { Expression, Test } from "./expression.ts";
import type { Field, PartName } from "./fields.ts";
import { searchSpellings } from "./search-spellings.ts";

export interface FilterScope {
  /** Tenant whose feedback the conditions may see. */
  tenantId: string;
  /** Default tiers. Without them only a run's own tier counts. */
  tiers?: Tiers | undefined;
  incompleteHours: IncompleteHours;
  /** Condition on `feedback as f` that bounds what is read. */
  feedbackOf?: Fragment | undefined;
}

/** Tier of runs without one: the usual tier, but the other tier in these projects. */
export interface Tiers {
  usual: string;
  other: string;
  projects: string[];
}

/**
 * Compiles the condition that the run's trace passes `test`, whose subject is the sum `whole` of that usage, if the run
 * is the head of the trace, and `own` otherwise.
 */
export type TraceUsage = (name: UsageName, test: Fragment, own: Fragment) => Fragment;

/**
 * Compiles an expression to a condition.
 * @param traceUsage of the head of a trace, tests of tokens and costs apply to the trace; without it, to the run itself
 */
export function compileFilter(expression: Expression, scope: FilterScope, traceUsage?: TraceUsage): Fragment {
  switch (expression.kind) {
    case "and":
      return all(expression.items.map((item) => compileFilter(item, scope, traceUsage)));
    case "or":
      return any(expression.items.map((item) => compileFilter(item, scope, traceUsage)));
    case "not":
      return ch`not (${compileFilter(expression.item, scope, traceUsage)})`;
    case "field":
      if (isUsage(expression.field.name)) return compileUsage(expression.field.name, expression.test, traceUsage);
      return compileField(expression.field, expression.test, scope);
    case "some_tag":
      return someTag(raw("r.tags"), expression.test);
    case "metadata_contains":
      return containsEntries(raw("r.metadata"), expression.entries);
    case "some_pair":
      if (expression.family === "feedback") return someFeedback(scope, expression.tests);
      return somePair(raw(LISTS[expression.family]), expression.tests, expression.family === "metadata");
    case "search":
      return searchEverywhere(expression.text);
  }
}

const LISTS = { metadata: "r.metadata", input: "r.input_pairs", output: "r.output_pairs" } as const;

/** SQL expressions of the language's fields. */
const COLUMNS: Record<string, string> = {
  session_id: "r.project_id",
  latency: RUN_LATENCY,
  name: "ifNull(r.name, '')",
  run_type: RUN_TYPE,
  dotted_order: "ifNull(r.dotted_order, '')",
};

/** Fields of usage: counts are 0 when unknown, as in responses (contract §1.9), costs have no value then. */
const USAGE = {
  total_tokens: "count",
  prompt_tokens: "count",
  completion_tokens: "count",
  total_cost: "cost",
  prompt_cost: "cost",
  completion_cost: "cost",
} as const;
export type UsageName = keyof typeof USAGE;

const isUsage = (name: string): name is UsageName => Object.hasOwn(USAGE, name);

function compileUsage(name: UsageName, test: Test, traceUsage: TraceUsage | undefined): Fragment {
  const compile = (column: string) => {
    if (USAGE[name] === "cost") {
      return compileTest({ sql: raw(`toFloat64(${column})`), type: "number", nullable: true }, test);
    }
    const isPresence = test.op === "is_null" || test.op === "not_null";
    const sql = raw(isPresence ? column : `ifNull(${column}, 0)`);
    return compileTest({ sql, type: "number", nullable: isPresence }, test);
  };
  const own = compile(`r.${name}`);
  return traceUsage ? traceUsage(name, compile("whole"), own) : own;
}

function compileField(field: Field, test: Test, scope: FilterScope): Fragment {
  const { tiers } = scope;
  if (field.name === "trace_tier" && tiers && test.op !== "is_null" && test.op !== "not_null") {
    return compileTest({ sql: runTier(tiers), type: "text", nullable: false }, test);
  }
  if (field.name === "status") {
    const sql = raw(`assumeNotNull(${runStatus(scope.incompleteHours)})`);
    return compileTest({ sql, type: "text", nullable: false }, test);
  }
  const sql = raw(COLUMNS[field.name] ?? `r.${field.name}`);
  if (field.type === "json" && test.op === "search") return searchIn([sql], test.text);
  if (field.name === "is_root" && (test.op === "eq" || test.op === "neq")) {
    return raw(`r.parent_run_id is ${(test.op === "eq") === test.value ? "" : "not "}null`);
  }
  return compileTest({ sql, type: SQL_TYPE[field.type], nullable: field.nullable }, test);
}

const runTier = ({ usual, other, projects }: Tiers): Fragment =>
  ch`ifNull(cast(r.trace_tier as Nullable(String)),
    if(has(${bind("Array(UUID)", projects)}, r.project_id), ${bind("String", other)}, ${bind("String", usual)}))`;

const SQL_TYPE: Record<Field["type"], Subject["type"]> = {
  text: "text",
  uuid: "uuid",
  number: "number",
  duration: "number",
  time: "time",
  flag: "flag",
  json: "text",
  tags: "text",
  metadata: "text",
};

/** All text columns of a run. */
export const SEARCHED = ["name", "error", "inputs", "outputs", "tags", "metadata"] as const;

const searchEverywhere = (text: string): Fragment =>
  searchIn(
    SEARCHED.map((column) => raw(`r.${column}`)),
    text,
  );

/** Searches the text in any of the subjects, ignoring case. `ifNull` would copy the texts: a fifth of the time. */
function searchIn(subjects: Fragment[], text: string): Fragment {
  const spellings = bind("Array(String)", searchSpellings(text));
  return any(
    subjects.map(
      (subject) =>
        ch`(${subject} is not null and multiSearchAnyCaseInsensitiveUTF8(assumeNotNull(${subject}), ${spellings}))`,
    ),
  );
}

/** Columns of `feedback` by part. */
const FEEDBACK_COLUMNS: Partial<Record<PartName, Subject>> = {
  id: { sql: raw("f.id"), type: "uuid", nullable: false },
  key: { sql: raw("f.key"), type: "text", nullable: false },
  score: { sql: raw("f.score"), type: "number", nullable: true },
  value: { sql: raw("f.value"), type: "text", nullable: true },
  comment: { sql: raw("f.comment"), type: "text", nullable: true },
  source: { sql: raw("f.source"), type: "text", nullable: true },
  created_at: { sql: raw("f.created_at"), type: "time", nullable: false },
};

function someFeedback({ tenantId, feedbackOf }: FilterScope, tests: { part: PartName; test: Test }[]): Fragment {
  const conditions = tests.map(({ part, test }) => compileTest(FEEDBACK_COLUMNS[part]!, test));
  const bounds = [ch`f.tenant_id = ${bind("UUID", tenantId)}`, ...(feedbackOf ? [feedbackOf] : [])];
  return ch`r.id in (
    select f.run_id from feedback as f final
    where ${all([...bounds, ...conditions])})`;
}
