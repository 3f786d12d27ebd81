/**
 * A page of runs by start time, newest first or oldest first.
 *
 * Merging the pieces of a project's whole history to find its newest hundred runs takes a second; so the history is
 * looked at in windows. The start times of the newest 400 pieces, which are read unmerged and in the order in which
 * they are stored, bound the first window, and a page without conditions is found in it. Where there are conditions
 * the first window is twenty times as large, only keys are selected in it, and the page's columns are read afterwards,
 * because the texts of all that does not pass would be read for nothing. What is not found there is looked for in
 * twenty times as much again, and then in everything.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, join, raw } from "../../base/clickhouse/fragment.ts";
import type { MicroTime } from "../filter/literals.ts";
import { findRunKeys, type RunRow } from "./clickhouse.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import { fromPieces, fromRuns, hasConditions, type RunSelection, time } from "./selection.ts";

/** The run that a page ended with: the next one begins after it. */
export interface Position {
  start_time: MicroTime;
  id: string;
}

export interface PageRequest {
  /** Columns of `runs as r`, and expressions over them with an alias that is no column's name. */
  columns: readonly string[];
  descending: boolean;
  limit: number;
  after?: Position | undefined;
}

/** What was selected, as ClickHouse prints it. Tenant, project, start time and id always are. */
export type Row = Pick<RunRow, "project_id" | "start_time" | "id"> & Partial<RunRow> & Record<string, unknown>;

/** Pieces in the first window at least, how much larger the next one is, and the largest before the rest. */
const WINDOW = 400;
const GROWTH = 20;
const MAX_WINDOW = 200_000;

const KEY = ["r.project_id", "r.start_time", "r.id"];

/** `next` is there when there may be more. */
export async function selectPage(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
): Promise<{ rows: Row[]; next: Position | undefined }> {
  const found: Row[] = [];
  for await (const { window, columns, last } of windowsOf(clickhouse, scope, selection, page)) {
    const missing = page.limit - found.length;
    // one more than is missing tells that there are others
    const rows = await selectRuns(clickhouse, scope, window, { ...page, columns, limit: missing + 1 });
    const taken = rows.slice(0, missing);
    found.push(...(columns === KEY ? await readRuns(clickhouse, scope, taken, page.columns) : taken));
    const isFull = found.length === page.limit;
    if (rows.length > missing || (isFull && !last)) return { rows: found, next: found.at(-1) };
  }
  return { rows: found, next: undefined };
}

interface Window {
  window: RunSelection;
  columns: readonly string[];
  last: boolean;
}

async function* windowsOf(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
): AsyncGenerator<Window> {
  if (selection.ids) {
    const window = await byKeys(clickhouse, scope, selection, selection.ids);
    if (window) yield { window, columns: page.columns, last: true };
    return;
  }
  if (selection.traces) {
    // found by their index, and few
    yield { window: selection, columns: page.columns, last: true };
    return;
  }
  const isFiltered = hasConditions(selection);
  let rest = selection;
  let columns = isFiltered ? KEY : page.columns;
  let size = Math.max(WINDOW, 4 * page.limit) * (isFiltered ? GROWTH : 1);
  // what is asked of whole traces looks at all of them, each time
  if (selection.trace_filter || selection.tree_filter) size = Number.POSITIVE_INFINITY;
  for (; size <= MAX_WINDOW; size *= GROWTH) {
    const bound = await startTimeAt(clickhouse, scope, rest, page, size);
    if (bound === undefined) break;
    yield { window: { ...rest, [page.descending ? "since" : "until"]: bound }, columns, last: false };
    rest = { ...rest, [page.descending ? "before" : "after"]: bound };
    columns = KEY;
  }
  yield { window: rest, columns, last: true };
}

/** Where the runs of these ids are. Undefined: nowhere. */
async function byKeys(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  wanted: readonly string[],
): Promise<RunSelection | undefined> {
  const keys = (await findRunKeys(clickhouse, scope.tenantId, wanted)).filter(
    (key) => !key.deleted && (selection.projects?.includes(key.project_id) ?? true),
  );
  if (keys.length === 0) return undefined;
  return { ...selection, ...keysOf(keys) };
}

const keysOf = (rows: readonly { id: string; project_id: string; start_time: string }[]) => ({
  projects: [...new Set(rows.map((row) => row.project_id))],
  ids: rows.map((row) => row.id),
  at: [...new Set(rows.map((row) => row.start_time))],
});

/** The start time of the piece after so many; undefined when there are fewer. Read from the index's order: 8 ms. */
async function startTimeAt(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
  offset: number,
): Promise<MicroTime | undefined> {
  const statement = ch`select r.start_time as bound ${fromPieces(scope, selection, beyond(page))}
    order by r.start_time ${direction(page)} limit 1 offset ${bind("UInt32", offset)}`;
  const [row] = await readRows<{ bound: MicroTime }>(clickhouse.askedBy(scope.tenantId), "runs.bound", statement);
  return row?.bound;
}

/** Merged runs in the page's order. */
async function selectRuns(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
): Promise<Row[]> {
  const statement = ch`select ${list(page.columns)} ${fromRuns(scope, selection, beyond(page))}
    order by r.start_time ${direction(page)}, r.id ${direction(page)} limit ${bind("UInt32", page.limit)}`;
  return readRows<Row>(clickhouse.askedBy(scope.tenantId), "runs.page", statement);
}

/** These runs with these columns, in the same order. One that was deleted meanwhile is left out. */
async function readRuns(
  clickhouse: ClickHouse,
  scope: RunScope,
  keys: readonly Row[],
  columns: readonly string[],
): Promise<Row[]> {
  if (keys.length === 0) return [];
  const statement = ch`select ${list(columns)} ${fromRuns(scope, keysOf(keys))}`;
  const rows = await readRows<Row>(clickhouse.askedBy(scope.tenantId), "runs.read", statement);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => byId.get(key.id) ?? []);
}

const list = (columns: readonly string[]): Fragment => join([...new Set([...KEY, ...columns])].map(raw), ", ");

const direction = (page: PageRequest): Fragment => raw(page.descending ? "desc" : "asc");

function beyond({ after, descending }: PageRequest): Fragment[] {
  if (!after) return [];
  const [at, id] = [time(after.start_time), bind("UUID", after.id)];
  return descending
    ? [ch`r.start_time <= ${at}`, ch`(r.start_time < ${at} or r.id < ${id})`]
    : [ch`r.start_time >= ${at}`, ch`(r.start_time > ${at} or r.id > ${id})`];
}
