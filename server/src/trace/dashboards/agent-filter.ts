/**
 * Filters on metrics of agents. Of the language about runs, their rows have the project, and by kind the graph and the
 * assistant (metadata of runs that agent servers trace) and the status; everything else they lack.
 */
import { all, any, ch, type Fragment, raw } from "../../base/clickhouse/fragment.ts";
import { containsEntries, somePair } from "../filter/compile-pairs.ts";
import { compileTest } from "../filter/compile-test.ts";
import type { Expression, Test } from "../filter/expression.ts";
import { readFilter } from "../filter/read-filter.ts";
import { AGENT_METRICS, type AgentMetric, type AgentMetricName } from "./agent-metrics.ts";
import type { ChartFilters } from "./schema.ts";
import { METADATA_KEYS } from "./series-request.ts";

const COLUMNS = { [METADATA_KEYS.graph]: "graph", [METADATA_KEYS.assistant]: "assistant" };
const pair = ([key, column]: [string, string]) =>
  `if(a.${column} = '', '', concat('${key}', char(31), a.${column}, char(30)))`;
/** Graph and assistant of a row, as `runs.metadata` has them. */
const METADATA = raw(`concat(char(30), ${Object.entries(COLUMNS).map(pair).join(", ")})`);

/**
 * Compiles a filter to a condition on rows `a` of `agent_minutes`; undefined for one that tests what rows of this kind
 * lack.
 */
export function compileAgentFilter(expression: Expression, kind: AgentMetric["kind"]): Fragment | undefined {
  const hasLabels = kind === "run" || kind === "wait";
  switch (expression.kind) {
    case "and":
    case "or": {
      const items = expression.items.map((item) => compileAgentFilter(item, kind));
      return items.includes(undefined) ? undefined : (expression.kind === "and" ? all : any)(items as Fragment[]);
    }
    case "not": {
      const item = compileAgentFilter(expression.item, kind);
      return item && ch`not (${item})`;
    }
    case "field":
      if (expression.field.name === "session_id")
        return compileTest({ sql: raw("a.project_id"), type: "uuid", nullable: false }, expression.test);
      return expression.field.name === "status" && kind === "run" ? compileStatus(expression.test) : undefined;
    case "some_pair": {
      const keys = expression.tests.filter(({ part }) => part === "key").flatMap(({ test }) => keysOf(test));
      const isKnown = hasLabels && expression.family === "metadata" && keys.length > 0 && keys.every(isLabel);
      return isKnown ? somePair(METADATA, expression.tests, false) : undefined;
    }
    case "metadata_contains":
      return hasLabels && expression.entries.every(({ key }) => isLabel(key))
        ? containsEntries(METADATA, expression.entries)
        : undefined;
    default:
      return undefined;
  }
}

const isLabel = (key: string): boolean => Object.hasOwn(COLUMNS, key);

/** An unknown key is none of the labels. */
const keysOf = (test: Test): string[] =>
  test.op === "eq" ? [String(test.value)] : test.op === "in" ? test.values.map(String) : [""];

/** A run that ended by its timeout has both statuses: traces have it as an error. */
function compileStatus(test: Test): Fragment {
  const either = (of: Test) =>
    any(
      ["a.status", "if(a.status = 'timeout', 'error', a.status)"].map((sql) =>
        compileTest({ sql: raw(sql), type: "text", nullable: false }, of),
      ),
    );
  return test.op === "neq" ? ch`not (${either({ op: "eq", value: test.value })})` : either(test);
}

/** Whether filters on runs, other than their projects, apply to a metric of agents. @throws FilterError (400) */
export function appliesToAgents({ filter, trace_filter, tree_filter }: ChartFilters, metric: AgentMetricName): boolean {
  if (trace_filter?.trim() || tree_filter?.trim()) return false;
  return !filter?.trim() || compileAgentFilter(readFilter(filter), AGENT_METRICS[metric].kind) !== undefined;
}
