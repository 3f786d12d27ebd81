import type { ClickHouseSettings } from "@clickhouse/client";

import { all, any, bind, ch, type Fragment, join, raw } from "../../base/clickhouse/fragment.ts";
import { HAS_FAILED, IS_HEAD, RUN_TYPE } from "../run-rows/clickhouse.ts";
import { compileFilter, type TraceUsage } from "../filter/compile.ts";
import type { Expression } from "../filter/expression.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { findSearch, searchPieces } from "../filter/search-pieces.ts";
import type { RunScope } from "./run-scope.ts";
import { earliestRun, sumOfTrace, type Summed } from "./trace-sums.ts";

/** Selection of runs. All given conditions must hold. */
export interface RunSelection {
  projects?: readonly string[] | undefined;
  ids?: readonly string[] | undefined;
  traces?: readonly string[] | undefined;
  parents?: readonly string[] | undefined;
  run_types?: readonly string[] | undefined;
  reference_examples?: readonly string[] | undefined;
  threads?: readonly string[] | undefined;
  /** Bounds of the start time: >=, <=, >, <. */
  since?: MicroTime | undefined;
  until?: MicroTime | undefined;
  after?: MicroTime | undefined;
  before?: MicroTime | undefined;
  /** Exact start times, which locate `ids` in the sorting key. */
  at?: readonly MicroTime[] | undefined;
  /** Ranges of the start time; the end is excluded. */
  ranges?: readonly { from: MicroTime; to: MicroTime }[] | undefined;
  is_root?: boolean | undefined;
  /** Roots, and provisional roots of traces whose root has not arrived. */
  is_head?: boolean | undefined;
  error?: boolean | undefined;
  /** Belongs to a thread. */
  has_thread?: boolean | undefined;
  /** Names an example of a dataset. */
  has_example?: boolean | undefined;
  /** Filters on the run itself, on the root of its trace, on any run of its trace (contract §3.2). */
  filters?: readonly Expression[] | undefined;
  trace_filter?: Expression | undefined;
  tree_filter?: Expression | undefined;
  /**
   * For decisions that must not depend on what else is selected or has arrived: only roots are heads of traces, not runs
   * that stand in for a root until it arrives, and a trace's runs in another project are another trace.
   */
  is_final?: boolean | undefined;
}

const TIME = "DateTime64(6, 'UTC')";
export const time = (value: MicroTime) => bind(TIME, value);
const uuids = (values: readonly string[]) => bind("Array(UUID)", values);
const texts = (values: readonly string[]) => bind("Array(String)", values);

/**
 * Builds the source of every query over runs: `from runs as r final …` with the tenant and the whole selection.
 *
 * Columns equal in all pieces of a run (its key and its trace) are tested in PREWHERE, before pieces are merged. All
 * others go into WHERE, since a single piece may lack them.
 */
export function fromRuns(scope: RunScope, selection: RunSelection, more: Fragment[] = []): Fragment {
  const before = all([...keyConditions(scope, selection), ...locateTrace(scope, selection), ...more]);
  const merged = mergedConditions(scope, selection);
  const where = merged.length > 0 ? ch`where ${all(merged)}` : raw("");
  if (scope.builds) {
    const own = [ch`r.build in ${bind("Array(UInt64)", scope.builds)}`];
    // the sorting key begins with it
    if (selection.is_root || selection.is_head) own.push(raw("r.is_head"));
    return ch`from run_facts as r prewhere ${all([before, ...own])} ${where}`;
  }
  return ch`from runs as r final prewhere ${before} ${where}`;
}

/**
 * Settings of statements that read the runs of one trace: few rows, which are merged and filtered in one go. To divide
 * them among threads, as `final` does otherwise, costs more than merging them: a trace of 20 runs takes 0.7 of the time
 * without, one of 1,000 0.95.
 */
export const ONE_TRACE: ClickHouseSettings = {
  split_intersecting_parts_ranges_into_layers_final: 0,
  enable_multiple_prewhere_read_steps: 0,
};

/**
 * Finds where the runs of a trace start, if nothing else bounds them, from their pieces: a trace among 10,000,000 runs is
 * then merged in 19 ms instead of 33 (one server; among 50,000 in the same time).
 */
function locateTrace(scope: RunScope, selection: RunSelection): Fragment[] {
  const { projects, traces } = selection;
  if (scope.builds || traces?.length !== 1 || !isUnbounded(selection)) return [];
  return [ch`r.start_time in (select r.start_time ${fromPieces(scope, { projects, traces })})`];
}

/** Whether nothing says from when on the runs start. */
export const isUnbounded = ({ ids, since, after, at, ranges }: RunSelection): boolean =>
  (ids ?? since ?? after ?? at ?? ranges) === undefined;

/** Builds the source over unmerged pieces, for queries of keys only; a run may occur several times. */
export function fromPieces(scope: RunScope, selection: RunSelection, more: Fragment[] = []): Fragment {
  return ch`from runs as r where ${all([...keyConditions(scope, selection), ...more])}`;
}

/**
 * Builds conditions on the key that the pieces impose, for lists of few runs: if the runs must contain a text, one of
 * their pieces does. Texts are the bulk of the data. Pieces are searched without being merged, by all threads, and the
 * engine remembers where a text does not occur: 50,000 runs without a hit took 135 ms, and 9 ms now (the first time 30).
 */
export function conditionsByPieces(scope: RunScope, selection: RunSelection, more: Fragment[]): Fragment[] {
  const search = findSearch(selection.filters ?? []);
  if (!search || scope.builds) return [];
  const pieces = fromPieces(scope, selection, [...more, searchPieces(search, scope)]);
  return [ch`(r.start_time, r.id) in (select r.start_time, r.id ${pieces})`];
}

function keyConditions(scope: RunScope, selection: RunSelection): Fragment[] {
  const { projects, ids, traces, since, until, after, before, at, ranges } = selection;
  const conditions = [scope.mine];
  // equality for a single project, so that the sorting key's order can be used
  if (projects?.length === 1) conditions.push(ch`r.project_id = ${bind("UUID", projects[0]!)}`);
  else if (projects) conditions.push(ch`r.project_id in ${uuids(projects)}`);
  if (since !== undefined) conditions.push(ch`r.start_time >= ${time(since)}`);
  if (until !== undefined) conditions.push(ch`r.start_time <= ${time(until)}`);
  if (after !== undefined) conditions.push(ch`r.start_time > ${time(after)}`);
  if (before !== undefined) conditions.push(ch`r.start_time < ${time(before)}`);
  if (at) conditions.push(ch`r.start_time in ${bind(`Array(${TIME})`, at)}`);
  if (ranges) {
    conditions.push(
      any(ranges.map(({ from, to }) => ch`(r.start_time >= ${time(from)} and r.start_time < ${time(to)})`)),
    );
  }
  if (ids) conditions.push(ch`r.id in ${uuids(ids)}`);
  if (traces?.length === 1) conditions.push(ch`r.trace_id = ${bind("UUID", traces[0]!)}`);
  else if (traces) conditions.push(ch`r.trace_id in ${uuids(traces)}`);
  return conditions;
}

/** Returns true if there are conditions on merged runs, other than their location. */
export const hasConditions = ({ filters, ...selection }: RunSelection): boolean =>
  (filters?.length ?? 0) > 0 ||
  Object.keys(selection).some((key) => !KEYS.has(key) && selection[key as never] !== undefined);

/** Returns the conditions on the location of runs. */
export const locationOf = (selection: RunSelection): RunSelection =>
  Object.fromEntries(Object.entries(selection).filter(([name]) => KEYS.has(name)));

/** Returns true if traces are selected with all their runs, at least with those in these projects. */
export const isOfWholeTraces = (selection: RunSelection): boolean =>
  selection.traces !== undefined &&
  !hasConditions(selection) &&
  Object.entries(locationOf(selection)).every(
    ([name, value]) => value === undefined || name === "traces" || name === "projects",
  );

const KEYS = new Set(["projects", "ids", "traces", "since", "until", "after", "before", "at", "ranges"]);

/**
 * Compiles the conditions of a selection on merged runs, other than their location, to one condition over `runs as r`
 * that a statement can also select as a column.
 */
export const conditionOn = (scope: RunScope, selection: RunSelection): Fragment =>
  all(mergedConditions(scope, selection));

function mergedConditions(scope: RunScope, selection: RunSelection): Fragment[] {
  const {
    parents,
    run_types,
    reference_examples,
    threads,
    is_root,
    is_head,
    error,
    filters,
    trace_filter,
    tree_filter,
  } = selection;
  const conditions: Fragment[] = [];
  if (parents) conditions.push(ch`r.parent_run_id in ${uuids(parents)}`);
  if (run_types) {
    // the plain column where it suffices: the sorting key of copies has it
    const type = raw(run_types.includes("chain") ? RUN_TYPE : "r.run_type");
    conditions.push(ch`${type} in ${texts(run_types)}`);
  }
  if (reference_examples) conditions.push(ch`r.reference_example_id in ${uuids(reference_examples)}`);
  if (threads) conditions.push(ch`r.thread_id in ${texts(threads)}`);
  if (is_root !== undefined) conditions.push(raw(`r.parent_run_id is ${is_root ? "" : "not "}null`));
  if (is_head !== undefined) conditions.push(raw(is_head ? IS_HEAD : `not ${IS_HEAD}`));
  if (error !== undefined) conditions.push(raw(error ? HAS_FAILED : `not ${HAS_FAILED}`));
  if (selection.has_thread) conditions.push(raw("r.thread_id is not null"));
  if (selection.has_example) conditions.push(raw("r.reference_example_id is not null"));
  for (const filter of filters ?? []) conditions.push(compileFilter(filter, scope, usageTest(scope, selection)));
  const heads = selection.is_final ? { is_root: true } : { is_head: true };
  if (trace_filter) conditions.push(inMatchingTrace(scope, selection, { ...heads, filters: [trace_filter] }));
  if (tree_filter) conditions.push(inMatchingTrace(scope, selection, { filters: [tree_filter] }));
  return conditions;
}

/**
 * Compiles the condition that some run of the run's trace passes: in the same projects, at any time, since a trace may
 * extend beyond the bounds.
 */
function inMatchingTrace(scope: RunScope, selection: RunSelection, passing: RunSelection): Fragment {
  const { projects, traces, is_final } = selection;
  const trace = traceKey(selection);
  const parts = scope.traceParts.map(
    ({ scope, ranges }) => ch`select ${trace} ${fromRuns(scope, { ...passing, projects, traces, is_final, ranges })}`,
  );
  return ch`${trace} in (${join(parts, " union all ")})`;
}

/** Builds the statement of a sum over each trace whose head may be in the selection: `usage_trace` and `whole`. */
export function selectTraceSums(
  scope: RunScope,
  { projects, traces, since, after, ranges, is_final }: RunSelection,
  name: Summed,
): Fragment {
  const first = since ?? after ?? ranges?.[0]?.from;
  const runs: RunSelection = { projects, traces, since: first && earliestRun(first) };
  const key = traceKey({ is_final });
  // few of many traces
  const own = ranges ? [ch`${key} in (select ${key} ${fromPieces(scope, { projects, ranges })})`] : [];
  return ch`select ${key} as usage_trace, ${raw(sumOfTrace(name))} as whole
    ${fromRuns(scope, runs, own)} group by usage_trace`;
}

/** Tests of tokens and costs mean what lists show: of the head of a trace, the sums of the trace (contract §1.9). */
const usageTest =
  (scope: RunScope, selection: RunSelection): TraceUsage =>
  (name, test, own) =>
    scope.builds
      ? ch`if(${isHead(selection)}, arrayExists(whole -> ${test}, [r.${raw(`trace_${name}`)}]), ${own})`
      : ch`if(${isHead(selection)},
      ${traceKey(selection)} in (select usage_trace from (${selectTraceSums(scope, selection, name)}) where ${test}), ${own})`;

const isHead = ({ is_final }: RunSelection): Fragment => raw(is_final ? "r.parent_run_id is null" : IS_HEAD);

const traceKey = ({ is_final }: RunSelection): Fragment => raw(is_final ? "(r.project_id, r.trace_id)" : "r.trace_id");
