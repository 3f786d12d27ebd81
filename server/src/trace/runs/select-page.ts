/**
 * Selects a page of runs by start time, newest or oldest first, or by a metric.
 *
 * Merging the pieces of a project's whole history to find its newest hundred runs takes a second, so the history is
 * searched in windows. The start times of the newest 400 pieces, read unmerged in storage order, bound the first
 * window, and a page without conditions is found in it. With conditions the first window is twenty times as large, and
 * 500 times where copies of finished hours serve for all but a few runs, because they are merged and narrow; only keys are
 * selected, and the page's columns are read afterwards, so that the texts of filtered-out runs are not read. If the page
 * is not full, the rest of the copies is searched; where they do not serve, the next window is twenty times as large
 * again, and then everything.
 */
import type { ClickHouseSettings } from "@clickhouse/client";

import { AgedCache } from "../../base/aged-cache.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, join, raw } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import type { MicroTime } from "../run-rows/times.ts";
import { type FactSource, findSources, union } from "./fact-source.ts";
import { findRunKeys, type RunRow, runStatus } from "../run-rows/clickhouse.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import {
  conditionsByPieces,
  fromPieces,
  fromRuns,
  hasConditions,
  isUnbounded,
  locationOf,
  ONE_TRACE,
  type RunSelection,
  time,
} from "./selection.ts";
import { noteShown, shownKey } from "./shown-keys.ts";
import type { SortKey } from "./sort-keys.ts";
import { beyondRun, fromSortValues, sourcesToSort } from "./sort-value.ts";
import { earliestRun } from "./trace-sums.ts";

/** Last run of a page; the next page starts after it. */
export interface Position {
  start_time: MicroTime;
  id: string;
  /** Its value of the sort key, unless runs are sorted by start time; null when it has none. */
  sort_value?: number | string | null;
}

export interface PageRequest {
  /** Columns of `runs as r`, and expressions over them whose alias differs from all column names. */
  columns: readonly string[];
  descending: boolean;
  /** Start time by default. */
  sort?: SortKey | undefined;
  limit: number;
  after?: Position | undefined;
  /** Limits of the statements that read the columns; a statement beyond them fails (`isTooLarge`). */
  settings?: ClickHouseSettings;
  /** Called with the keys of the whole page, where they are found before the columns are read. */
  onKeys?: (keys: readonly Row[]) => void;
}

/** Selected values, as ClickHouse formats them. Tenant, project, start time and id are always included. */
export type Row = Pick<RunRow, "project_id" | "start_time" | "id"> &
  Partial<RunRow> & { sort_value?: number | string | null } & Record<string, unknown>;

/** Minimum number of pieces in the first window, growth factor, and largest window before the rest. */
const WINDOW = 400;
const GROWTH = 20;
const MAX_WINDOW = 200_000;

/** Runs that pass are rare if a window has less than this part of a page of them. */
const RARE = 10;

/** Column of the status, whose expression depends on the scope. */
export const STATUS_COLUMN = "run_status";

const KEY = ["r.project_id", "r.start_time", "r.id", "r.trace_id"];

/** What selections of runs are read with. */
export type PageDeps = Pick<TraceDeps, "clickhouse" | "sql" | "settings">;

/** Returns a page. `next` is set when there may be more. */
export async function selectPage(
  deps: PageDeps,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
): Promise<{ rows: Row[]; next: Position | undefined }> {
  if (page.sort !== undefined && page.sort !== "start_time") {
    return selectSorted(deps, scope, selection, page, page.sort);
  }
  const { clickhouse } = deps;
  const found: Row[] = [];
  const keys: Row[] = [];
  let next: Position | undefined;
  let isRare = false;
  for await (const { sources, columns, last } of timeWindows(deps, scope, selection, page)) {
    const missing = page.limit - found.length - keys.length;
    // one extra row shows whether there are more
    // keys are small, and what finds them may need more memory than a page's texts
    const settings = columns === KEY ? {} : (page.settings ?? {});
    const request = { ...page, settings, columns, limit: missing + 1 };
    const rows = await (selection.traces
      ? selectOfTraces(clickhouse, sources[0]!, request)
      : selectRuns(clickhouse, sources, request, isRare));
    (columns === KEY ? keys : found).push(...rows.slice(0, missing));
    isRare = keys.length * RARE < page.limit;
    if (rows.length < missing || (rows.length === missing && last)) continue;
    next = keys.at(-1) ?? found.at(-1);
    break;
  }
  noteShown(scope.tenantId, found);
  noteShown(scope.tenantId, keys);
  if (keys.length === 0) return { rows: found, next };
  // begun before what is looked up with the keys, since it takes longest
  const reading = readRuns(clickhouse, scope, keys, page.columns, page.settings);
  if (found.length === 0) page.onKeys?.(keys);
  const rows = await reading;
  return { rows: found.length > 0 ? [...found, ...rows] : rows, next };
}

/**
 * Selects a page sorted by a metric or by name: runs without a value last, runs with equal values newest first. Reads the metric of
 * the whole selection, then the columns of the page.
 */
async function selectSorted(
  deps: PageDeps,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
  sort: Exclude<SortKey, "start_time">,
): Promise<{ rows: Row[]; next: Position | undefined }> {
  const { clickhouse } = deps;
  const sources = await sourcesToSort(deps, scope, selection, sort);
  const statement = ch`select project_id, start_time, id, sort_value ${fromSortValues(sources, sort)}
    where ${beyondRun(page.after, page.descending)}
    order by sort_value ${direction(page)} nulls last, start_time desc, id desc limit ${bind("UInt32", page.limit + 1)}`;
  const keys = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "runs.sorted", statement);
  const batch = keys.slice(0, page.limit);
  const rows = await readRuns(clickhouse, scope, batch, page.columns, page.settings);
  noteShown(scope.tenantId, rows);
  const values = new Map(batch.map((key) => [key.id, key.sort_value ?? null]));
  for (const row of rows) row.sort_value = values.get(row.id) ?? null;
  return { rows, next: keys.length > page.limit ? batch.at(-1) : undefined };
}

interface Window {
  sources: readonly FactSource[];
  columns: readonly string[];
  last: boolean;
}

async function* timeWindows(
  deps: PageDeps,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
): AsyncGenerator<Window> {
  const { clickhouse } = deps;
  const of = (selection: RunSelection): FactSource[] => [{ scope, selection }];
  if (selection.ids) {
    const window = await byKeys(clickhouse, scope, selection, selection.ids);
    if (window) yield { sources: of(window), columns: page.columns, last: true };
    return;
  }
  if (selection.traces) {
    // few, and found by their index
    yield { sources: of(selection), columns: page.columns, last: true };
    return;
  }
  const isFiltered = hasConditions(selection);
  const first = Math.max(WINDOW, 4 * page.limit);
  // filters on whole traces read all of them each time, so windows do not help
  let size = selection.trace_filter || selection.tree_filter ? Number.POSITIVE_INFINITY : first;
  let sources = of(selection);
  const boundAt = (offset: number, rest: RunSelection) => startTimeAt(clickhouse, scope, rest, page, offset);
  if (isFiltered) {
    sources = await findSources(deps, scope, selection, { sums: false });
    size *= GROWTH;
    if (sources.some(isCopied) && size <= MAX_WINDOW) {
      // copies serve all but a few runs if the hours without are in the window
      const bound = await boundAt(size, opening(selection, page));
      const isIn = (at: MicroTime) => bound === undefined || (page.descending ? at >= bound : at <= bound);
      const open = sources.flatMap(({ scope, selection }) => (scope.builds ? [] : (selection.ranges ?? [])));
      if (open.every(({ from, to }) => isIn(page.descending ? from : to))) size = MAX_WINDOW;
    }
  }
  let columns = isFiltered ? KEY : page.columns;
  let rest: RunSelection = selection;
  const within = (bounds: RunSelection): FactSource[] =>
    sources.map(({ scope, selection }) => ({ scope, selection: { ...selection, ...bounds } }));
  let searched: RunSelection = {};
  for (; size <= MAX_WINDOW; size *= GROWTH) {
    const end = page.descending ? (rest.since ?? rest.after) : (rest.until ?? rest.before);
    const bound = await boundAt(size, opening(rest, page));
    if (bound === undefined || (end !== undefined && (page.descending ? bound <= end : bound >= end))) break;
    yield { sources: within({ ...searched, [page.descending ? "since" : "until"]: bound }), columns, last: false };
    searched = { [page.descending ? "before" : "after"]: bound };
    rest = { ...rest, ...searched };
    columns = KEY;
    if (!isFiltered) sources = await findSources(deps, scope, rest, { sums: false });
    if (sources.some(isCopied)) break;
  }
  yield { sources: within(searched), columns, last: true };
}

const isCopied = ({ scope }: FactSource): boolean => scope.builds !== undefined;

/** Returns the location of a selection without its end, which changes with the reader's clock. */
function opening(selection: RunSelection, { descending }: PageRequest): RunSelection {
  const { since, after, until, before, ...place } = locationOf(selection);
  return descending ? { ...place, until, before } : { ...place, since, after };
}

/** Narrows the selection to the locations of these ids; undefined if none exists. */
async function byKeys(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  ids: readonly string[],
): Promise<RunSelection | undefined> {
  const keys = (await findRunKeys(clickhouse, scope.tenantId, ids)).filter(
    (key) => !key.deleted && (selection.projects?.includes(key.project_id) ?? true),
  );
  if (keys.length === 0) return undefined;
  return { ...selection, ...pageKeys(keys) };
}

const pageKeys = (rows: readonly { id: string; project_id: string; start_time: string }[]) => ({
  projects: [...new Set(rows.map((row) => row.project_id))],
  ids: rows.map((row) => row.id),
  at: [...new Set(rows.map((row) => row.start_time))],
});

/** Bounds of first windows. A window is as large as it was a moment ago, and the rest follows in any case. */
const bounds = new AgedCache<MicroTime | undefined>({ maxAgeMs: 10_000, maxEntries: 1_000 });

/** Returns the start time of the piece at about the offset; undefined when there are fewer. */
function startTimeAt(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
  offset: number,
): Promise<MicroTime | undefined> {
  const read = () => readStartTime(clickhouse, scope, selection, page, offset);
  return page.after ? read() : bounds.get(JSON.stringify([scope.tenantId, selection, page.descending, offset]), read);
}

/** Reads in index order: 8 ms. */
async function readStartTime(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
  offset: number,
): Promise<MicroTime | undefined> {
  const statement = ch`select r.start_time as bound ${fromPieces(scope, selection, beyond(page))}
    order by r.start_time ${direction(page)} limit 1 offset ${bind("UInt32", offset)}`;
  const [row] = await readRows<{ bound: MicroTime }>(clickhouse.forTenant(scope.tenantId), "runs.bound", statement);
  return row?.bound;
}

/**
 * Reads runs of traces. Where in the table a trace is, its index tells, and reading that for itself, as `fromRuns` does,
 * costs as much as merging 200 granules. So of few granules all are merged that may have runs of it; of many, if its root was
 * shown, those from a minute before the root, beside a search for pieces that start still earlier; if there are any, all
 * are read. A trace among 1,000,000 runs takes 19 ms instead of 24 this way, one among 50,000 runs 15 instead of 18.
 */
async function selectOfTraces(
  clickhouse: ClickHouse,
  { scope, selection }: FactSource,
  page: PageRequest,
): Promise<Row[]> {
  const select = (bounds: RunSelection) =>
    selectRuns(clickhouse, [{ scope, selection: { ...selection, ...bounds } }], page, false);
  const [trace, ...others] = selection.traces!;
  if (!isUnbounded(selection) || others.length > 0) return select({});
  if (await isSmall(clickhouse)) return select({ since: EVER });
  const root = shownKey(scope.tenantId, trace!);
  const since = root && earliestRun(root.start_time);
  if (since === undefined) return select({});
  const before = ch`select r.id ${fromPieces(scope, { ...selection, before: since })} limit 1`;
  const [rows, earlier] = await Promise.all([
    select({ since }),
    readRows(clickhouse.forTenant(scope.tenantId), "runs.before_root", before),
  ]);
  return earlier.length > 0 ? select({}) : rows;
}

/** A bound that excludes nothing: the first time that a column can have. */
const EVER = "1900-01-01 00:00:00.000000";

const SMALL_GRANULES = 200;
const small = new AgedCache<boolean>({ maxAgeMs: 60_000, maxEntries: 1 });

/** Whether an embedded engine has few granules of runs. */
async function isSmall(clickhouse: ClickHouse): Promise<boolean> {
  if (!clickhouse.embedded) return false;
  return small.get("", async () => {
    const query = `select sum(marks) as granules from system.parts
      where active and database = currentDatabase() and table = 'runs'`;
    const [row] = await clickhouse.rows<{ granules: number }>({ name: "runs.granules", query });
    return row!.granules < SMALL_GRANULES;
  });
}

/** Reads merged runs in the page's order; `isRare`: few of those in the sources are expected to pass. */
async function selectRuns(
  clickhouse: ClickHouse,
  sources: readonly FactSource[],
  page: PageRequest,
  isRare: boolean,
): Promise<Row[]> {
  const order = (prefix: string) =>
    ch`order by ${raw(`${prefix}start_time`)} ${direction(page)}, ${raw(`${prefix}id`)} ${direction(page)}
    limit ${bind("UInt32", page.limit)}`;
  const select = ({ scope, selection }: FactSource) => {
    const after = beyond(page);
    const pieces = isRare ? conditionsByPieces(scope, selection, after) : [];
    const runs = fromRuns(scope, selection, [...after, ...pieces]);
    return ch`select ${list(scope, page.columns)} ${runs} ${order("r.")}`;
  };
  const statement =
    sources.length === 1
      ? select(sources[0]!)
      : ch`select * from (${union(sources, (source) => ch`(${select(source)})`)}) ${order("")}`;
  const isOneTrace = sources.every(({ selection }) => selection.traces?.length === 1);
  const settings = isOneTrace ? { ...ONE_TRACE, ...page.settings } : page.settings;
  return readRows<Row>(clickhouse.forTenant(sources[0]!.scope.tenantId), "runs.page", statement, settings);
}

/** Reads columns of these runs, in the same order. Runs deleted in the meantime, or that filters exclude, are omitted. */
export async function readRuns(
  clickhouse: ClickHouse,
  scope: RunScope,
  keys: readonly Pick<Row, "id" | "project_id" | "start_time">[],
  columns: readonly string[],
  settings?: ClickHouseSettings,
  filters?: RunSelection["filters"],
): Promise<Row[]> {
  if (keys.length === 0) return [];
  const statement = ch`select ${list(scope, columns)} ${fromRuns(scope, { ...pageKeys(keys), filters })}`;
  const rows = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "runs.read", statement, settings);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => byId.get(key.id) ?? []);
}

/** TOO_MANY_ROWS_OR_BYTES and MEMORY_LIMIT_EXCEEDED, the latter as a cause. */
export function isTooLarge(error: unknown): boolean {
  const code =
    (error as { code?: unknown } | null)?.code ?? (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return code === "396" || code === "241";
}

const list = (scope: RunScope, columns: readonly string[]): Fragment =>
  join(
    [...new Set([...KEY, ...columns])].map((column) =>
      raw(column === STATUS_COLUMN ? `${runStatus(scope.incompleteHours)} as ${STATUS_COLUMN}` : column),
    ),
    ", ",
  );

const direction = (page: PageRequest): Fragment => raw(page.descending ? "desc" : "asc");

function beyond({ after, descending }: PageRequest): Fragment[] {
  if (!after) return [];
  const [at, id] = [time(after.start_time), bind("UUID", after.id)];
  return descending
    ? [ch`r.start_time <= ${at}`, ch`(r.start_time < ${at} or r.id < ${id})`]
    : [ch`r.start_time >= ${at}`, ch`(r.start_time > ${at} or r.id > ${id})`];
}
