/**
 * Decides for runs that were just written which rules have to look at them: the pre-filter of the matcher
 * (trace/rules). Most rules match few runs, so for most runs nothing has to be recorded.
 *
 * A rule has to look at a run whenever its filters may pass for it now. What decides is the state after the write:
 *
 * - A run of which nothing was stored before is known as a whole: fields that it lacks have no value. Its later pieces
 *   are judged when they are written.
 * - Of any other run only the fields that the write sets are known, which are those of the stored run, because the last
 *   value wins. All others may have any value. So an end that arrives before its create is looked at again with the
 *   create, whatever that says of the end.
 * - A run that surely has no end yet matches nothing. Its end is another write. Where several servers write, its end may
 *   have been stored at the same time.
 *
 * Rules that look at whole traces concern a run if it may match itself, if it may pass the filter on the tree or, as
 * the root, that on the trace, or if it may change sums of usage that are tested: nothing else of it can make another
 * run of its trace match. One run per trace is recorded for them, because they are evaluated on whole traces. Of a
 * trace of which nothing was stored before, all runs are known, and the rule is decided as a whole.
 *
 * A rule that samples has nothing to look at in a trace (or thread) that its hash excludes.
 *
 * Not known here, and left to the caller to look up (`doubts`): whether a run has feedback, and, where several servers
 * write, whether another one has stored something of the run meanwhile.
 *
 * Assumed: a run is not created again later than ingest/run-history.ts remembers it; a trace has one root.
 */
import { evaluateKnown, isRoot, type KnownRun } from "./evaluate-known.ts";
import type { WatchedRule } from "./rule-filters.ts";
import { isSampled } from "./sampling.ts";
import type { RunRow } from "../run-rows/clickhouse.ts";
import { sumUsage } from "./sum-usage.ts";

/** Row that was written. */
export interface RunChange {
  row: RunRow;
  /** Nothing of the run was stored before. */
  isNew: boolean;
  /** Nothing of its trace was stored before. */
  isNewTrace: boolean;
  /**
   * Rules may act on the run: it is not a new run without an end. A new run without an end can only make others of its
   * trace match, unless another server has stored its end meanwhile.
   */
  isState: boolean;
  /** Only its tier has changed. */
  isTierOnly?: boolean;
}

/** A run for whose rule something must be looked up. */
export interface Doubt {
  change: RunChange;
  ruleId: string;
}

export interface Concerned {
  rules: Map<RunChange, Set<string>>;
  doubts: Doubt[];
}

/**
 * Finds the rules that have to look at runs of a project.
 * @param changes one per run (mergeChanges)
 * @param isShared other servers may write the same runs
 */
export function findConcernedRules(
  changes: readonly RunChange[],
  rules: readonly WatchedRule[],
  isShared: boolean,
): Concerned {
  const found: Concerned = { rules: new Map(), doubts: [] };
  const add = (change: RunChange, { rule_id }: WatchedRule) => {
    const known = found.rules.get(change);
    if (known) known.add(rule_id);
    else found.rules.set(change, new Set([rule_id]));
  };
  const runs = changes.map((change) => ({ change, known: knownRun(change, isShared) }));
  const ofRuns = rules.filter((rule) => !rule.wholeTrace);
  for (const { change, known } of runs) {
    if (!change.isState && !(isShared && change.isNew)) continue;
    for (const rule of ofRuns) {
      if (change.isTierOnly && !rule.readsTier) continue;
      if (concernsRun(rule, known)) add(change, rule);
      else if (isDoubtful(rule, known)) found.doubts.push({ change, ruleId: rule.rule_id });
    }
  }
  const ofTraces = rules.filter((rule) => rule.wholeTrace);
  if (ofTraces.length === 0) return found;
  for (const trace of byTrace(runs)) {
    const isNew = !isShared && trace.every(({ change }) => change.isNew && change.isNewTrace);
    const knowns = trace.map(({ known }) => known);
    // of these rules, feedback and other servers' updates may concern any run of the trace
    const unsure = { feedback: undefined, ...(isNew ? { sums: sumUsage(knowns) } : isShared && { isWhole: false }) };
    for (const { known } of trace) Object.assign(known, unsure);
    for (const rule of ofTraces) {
      const change = isNew
        ? newTraceMayMatch(rule, knowns) && trace.find(({ change }) => change.isState)?.change
        : trace.find(
            ({ change, known }) =>
              (change.isState || change.isNew) && (!change.isTierOnly || rule.readsTier) && mayMatter(rule, known),
          )?.change;
      if (change) add(change, rule);
    }
  }
  return found;
}

const knownRun = ({ row, isNew }: RunChange, isShared: boolean): KnownRun => ({
  row,
  isWhole: isNew,
  isShared,
  feedback: false,
  sums: undefined,
});

/** Whether a rule that decides by the run alone may match it. */
function concernsRun(rule: WatchedRule, known: KnownRun): boolean {
  return mayMatchItself(rule, known) && !isExcluded(rule, known);
}

/** Whether the rule may match the run if what is assumed of it is wrong. */
function isDoubtful(rule: WatchedRule, known: KnownRun): boolean {
  const isOther = known.isShared === true && known.isWhole;
  if (!rule.feedback && !isOther) return false;
  return concernsRun(rule, { ...known, feedback: undefined, isWhole: known.isWhole && !isOther });
}

function mayMatchItself({ filters, isOfThreads }: WatchedRule, known: KnownRun): boolean {
  const { row, isWhole } = known;
  if (isWhole && row.end_time === undefined) return false;
  // each root is activity in its thread
  if (isOfThreads) return isRoot(known) !== false && !(isWhole && row.thread_id === undefined);
  return !filters?.filter || evaluateKnown(filters.filter, known) !== false;
}

/** Whether the rule's sample excludes the run for certain. */
function isExcluded({ rule_id, sampling_rate, isOfThreads, wholeTrace }: WatchedRule, { row }: KnownRun): boolean {
  if (sampling_rate >= 1) return false;
  if (!isOfThreads) return !isSampled(rule_id, row.trace_id, sampling_rate);
  // another piece may name another thread; it is judged itself
  return !wholeTrace && row.thread_id !== undefined && !isSampled(rule_id, row.thread_id, sampling_rate);
}

/** Whether the write may make some run of its trace match. */
function mayMatter(rule: WatchedRule, known: KnownRun): boolean {
  const { filters, readsUsage } = rule;
  if (isExcluded(rule, known)) return false;
  if (!filters || mayMatchItself(rule, known)) return true;
  const { tree_filter, trace_filter } = filters;
  if (tree_filter && evaluateKnown(tree_filter, known) !== false) return true;
  if (trace_filter && isRoot(known) !== false && evaluateKnown(trace_filter, known) !== false) return true;
  return readsUsage && mayChangeSums(known);
}

/** Whether some run of a trace that is known as a whole may match or, for a rule of threads, is activity in its thread. */
function newTraceMayMatch(rule: WatchedRule, trace: readonly KnownRun[]): boolean {
  if (isExcluded(rule, trace[0]!)) return false;
  if (!rule.filters) return true;
  if (rule.isOfThreads) return trace.some((known) => mayMatchItself(rule, known));
  const { tree_filter, trace_filter } = rule.filters;
  if (tree_filter && !trace.some((known) => evaluateKnown(tree_filter, known) !== false)) return false;
  const roots = trace.filter((known) => isRoot(known) !== false);
  if (trace_filter && !roots.some((known) => evaluateKnown(trace_filter, known) !== false)) return false;
  return trace.some((known) => mayMatchItself(rule, known));
}

/** Columns on which the sums of a trace depend (runs/trace-sums.ts). */
const SUMMED: readonly (keyof RunRow)[] = [
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  "total_cost",
  "prompt_cost",
  "completion_cost",
];
const WEIGHED: readonly (keyof RunRow)[] = ["run_type", "repeats_usage", "provisional_root", "parent_run_id"];

const mayChangeSums = ({ row, isWhole }: KnownRun): boolean =>
  SUMMED.some((column) => row[column] !== undefined) ||
  (!isWhole && WEIGHED.some((column) => row[column] !== undefined));

function byTrace<T extends { change: RunChange }>(runs: readonly T[]): T[][] {
  const traces = new Map<string, T[]>();
  for (const run of runs) {
    const trace = traces.get(run.change.row.trace_id);
    if (trace) trace.push(run);
    else traces.set(run.change.row.trace_id, [run]);
  }
  return [...traces.values()];
}

/** Merges the rows of each run as the store does: of each field the last value wins. */
export function mergeChanges(changes: readonly RunChange[]): RunChange[] {
  const runs = new Map<string, RunChange>();
  for (const change of changes) {
    const key = change.row.tenant_id + change.row.id;
    const before = runs.get(key);
    if (!before) {
      runs.set(key, change);
      continue;
    }
    const row = { ...before.row } as Record<string, unknown>;
    for (const [column, value] of Object.entries(change.row)) if (value !== undefined) row[column] = value;
    runs.set(key, {
      row: row as unknown as RunRow,
      isNew: before.isNew,
      isNewTrace: before.isNewTrace && change.row.trace_id === before.row.trace_id,
      isState: before.isState || change.isState,
      isTierOnly: before.isTierOnly === true && change.isTierOnly === true,
    });
  }
  return [...runs.values()];
}
