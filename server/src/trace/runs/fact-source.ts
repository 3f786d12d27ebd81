/**
 * Where statistics read runs: copies of finished hours (`run_facts`), and the runs themselves of all other hours. Both
 * are exact: an hour to which a write was announced is read from the runs until a newer copy is complete.
 */
import { type Fragment, join } from "../../base/clickhouse/fragment.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Expression } from "../filter/expression.ts";
import { fromMicros } from "../run-rows/times.ts";
import type { RunScope } from "./run-scope.ts";
import type { RunSelection } from "./selection.ts";
import { readHours } from "../run-facts/sql.ts";

/** Scope and selection of a part of the selected runs; the parts are disjoint. */
export interface FactSource {
  scope: RunScope;
  selection: RunSelection;
}

/** In seconds since 1970; the end is excluded. */
export interface Span {
  from: number;
  to: number;
}

/** Current builds of a period, and the hours without. */
export interface Facts {
  builds: { hour: number; build: number }[];
  open: Span[];
  /** What is read of the builds. Default: all. */
  spans?: Span[];
}

/** Hours of a selection, of all projects; beyond them the statement would be too long. */
const MAX_BUILDS = 40_000;
/** Ranges of open hours; nearer ones are joined, with the hours between them. */
const MAX_RANGES = 32;
export const HOUR_SECONDS = 3600;

/** Hours that no run begins in. */
const [FIRST_HOUR, LAST_HOUR] = [-2_000_000_000, 2_000_000_000];

/** Returns undefined if there are no copies to read. */
export async function findFacts(
  sql: Sql,
  tenantId: string,
  { projects, since, until }: { projects: readonly string[] | undefined; since?: Date; until?: Date },
): Promise<Facts | undefined> {
  const hourOf = (date: Date) => Math.floor(date.getTime() / 1000 / HOUR_SECONDS);
  const first = since ? hourOf(since) : FIRST_HOUR;
  const last = until ? hourOf(until) : LAST_HOUR;
  const hours = await readHours(sql, tenantId, projects, { first, last, limit: MAX_BUILDS + 1 });
  if (hours.length > MAX_BUILDS) return undefined;
  const ranges = joinHours(hours.flatMap(({ hour, build }) => (build === null ? [hour] : [])));
  const isWithin = (at: number) => ranges.some(({ from, to }) => at >= from && at < to);
  const builds = hours.flatMap(({ hour, build }) => (build === null || isWithin(hour) ? [] : [{ hour, build }]));
  if (builds.length === 0) return undefined;
  return { builds, open: ranges.map(({ from, to }) => ({ from: from * HOUR_SECONDS, to: to * HOUR_SECONDS })) };
}

function joinHours(hours: readonly number[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const hour of [...new Set(hours)].toSorted((a, b) => a - b)) {
    if (ranges.at(-1)?.to === hour) ranges.at(-1)!.to++;
    else ranges.push({ from: hour, to: hour + 1 });
  }
  if (ranges.length <= MAX_RANGES) return ranges;
  const gaps = ranges.slice(1).map(({ from }, i) => from - ranges[i]!.to);
  const widest = gaps.toSorted((a, b) => b - a)[MAX_RANGES - 1]!;
  return ranges.reduce<typeof ranges>((joined, range, i) => {
    const before = joined.at(-1);
    if (before && gaps[i - 1]! <= widest) before.to = range.to;
    else joined.push({ ...range });
    return joined;
  }, []);
}

/** Conditions whose runs are found by an index and, `is_final`, of decisions that copies cannot make. */
const LOCATING = ["ids", "at", "traces", "threads", "parents", "reference_examples", "ranges", "is_final"] as const;

/**
 * Finds what to read of a selection: copies where they serve, and the runs otherwise. With `sums`, statistics need sums
 * over traces, and with `byProject` those of a project's part of a trace.
 */
export async function findSources(
  { sql, settings }: { sql: Sql; settings: { runCopies: boolean } },
  scope: RunScope,
  selection: RunSelection,
  { sums, byProject = false }: { sums: boolean; byProject?: boolean },
): Promise<FactSource[]> {
  const ofTraces = findTraceParts({ sql, settings }, scope, selection);
  const isLocated = LOCATING.some((name) => selection[name] !== undefined);
  if (!settings.runCopies || isLocated || !canServe(selection, sums, byProject)) {
    return [{ scope: await ofTraces, selection }];
  }
  const [since, until] = [selection.since ?? selection.after, selection.until ?? selection.before].map(
    (time) => time && new Date(`${time.replace(" ", "T")}Z`),
  );
  const { projects } = selection;
  const [known, facts] = await Promise.all([
    ofTraces,
    findFacts(sql, scope.tenantId, { projects, ...(since && { since }), ...(until && { until }) }),
  ]);
  return divide(known, selection, facts, { sums, byProject });
}

/**
 * Lets filters on whole traces read copies where they serve: copies of all time, since a trace may extend beyond the
 * bounds of the selection. For statements of the next seconds only: a copy that is replaced is deleted after a minute.
 */
export async function findTraceParts(
  { sql, settings }: { sql: Sql; settings: { runCopies: boolean } },
  scope: RunScope,
  { projects, traces, is_final, trace_filter, tree_filter }: RunSelection,
): Promise<RunScope> {
  const filters = [trace_filter, tree_filter].flatMap((filter) => filter ?? []);
  if (filters.length === 0 || traces || is_final || scope.hasTraceParts || !settings.runCopies) return scope;
  const selection = { projects, filters };
  if (!canServe({ ...selection, is_head: true }, false)) return scope;
  const facts = await findFacts(sql, scope.tenantId, { projects });
  const parts = divide(scope, selection, facts, { sums: false });
  return scope.withTraceParts(parts.map(({ scope, selection: { ranges } }) => ({ scope, ranges })));
}

/** Builds the union of what is selected from each source. */
export const union = (sources: readonly FactSource[], select: (source: FactSource) => Fragment): Fragment =>
  join(sources.map(select), " union all ");

/**
 * Divides a selection, into nothing if nothing is left to read. With `sums`, copies serve for one project only, because
 * their sums are those of the project's part of a trace.
 */
export function divide(
  scope: RunScope,
  selection: RunSelection,
  facts: Facts | undefined,
  { sums, byProject = false }: { sums: boolean; byProject?: boolean },
): FactSource[] {
  if (!facts || !canServe(selection, sums, byProject)) return [{ scope, selection }];
  const builds = facts.builds.map(({ build }) => build);
  const at = (seconds: number) => fromMicros(Math.round(seconds * 1e6))!;
  const toRange = ({ from, to }: Span) => ({ from: at(from), to: at(to) });
  const sources: FactSource[] = [];
  if (builds.length > 0) {
    const ranges = facts.spans?.map(toRange);
    sources.push({ scope: scope.withBuilds(builds), selection: ranges ? { ...selection, ranges } : selection });
  }
  if (facts.open.length > 0) sources.push({ scope, selection: { ...selection, ranges: facts.open.map(toRange) } });
  return sources;
}

export function canServe(
  { filters = [], projects, is_root, is_head }: RunSelection,
  sums: boolean,
  byProject = false,
): boolean {
  if (!filters.every(isOfFacts)) return false;
  const readsSums = (sums && !byProject) || filters.some(readsUsage);
  return !readsSums || projects?.length === 1 || !(is_root || is_head || filters.some(readsUsage));
}

/**
 * Whether what copies of the selected hours say never changes: a status depends on the time, feedback comes later, and
 * filters on whole traces depend on other hours.
 */
export const isLasting = ({ filters = [], trace_filter, tree_filter }: RunSelection): boolean =>
  !trace_filter && !tree_filter && filters.every(isOfCopiesOnly);

function isOfCopiesOnly(expression: Expression): boolean {
  if (expression.kind === "and" || expression.kind === "or") return expression.items.every(isOfCopiesOnly);
  if (expression.kind === "not") return isOfCopiesOnly(expression.item);
  if (expression.kind === "field") return expression.field.name !== "status";
  return expression.kind !== "some_pair" || expression.family !== "feedback";
}

/** Fields that copies lack. Of an error they have the beginning. */
const LACKED = new Set(["dotted_order", "inputs", "outputs", "extra", "error"]);

function isOfFacts(expression: Expression): boolean {
  switch (expression.kind) {
    case "and":
    case "or":
      return expression.items.every(isOfFacts);
    case "not":
      return isOfFacts(expression.item);
    case "field": {
      const { field, test } = expression;
      if (field.name === "error") return test.op === "is_null" || test.op === "not_null";
      return !LACKED.has(field.name);
    }
    case "some_pair":
      return expression.family === "metadata" || expression.family === "feedback";
    case "search":
      return false;
    default:
      return true;
  }
}

function readsUsage(expression: Expression): boolean {
  if (expression.kind === "and" || expression.kind === "or") return expression.items.some(readsUsage);
  if (expression.kind === "not") return readsUsage(expression.item);
  return expression.kind === "field" && /_(tokens|cost)$/.test(expression.field.name);
}
