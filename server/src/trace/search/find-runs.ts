/**
 * Finds runs and threads anywhere in a workspace, by part of an id and by content, newest first, within a budget of
 * time. Contents are searched in growing windows from now backwards, so that recent matches come at once whatever the
 * length of the history; a window that exceeds the budget ends the search.
 */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment } from "../../base/clickhouse/fragment.ts";
import { AppError } from "../../base/errors.ts";
import { type MicroTime, parseTime } from "../run-rows/times.ts";
import { searchPieces } from "../filter/search-pieces.ts";
import { isHead } from "../run-rows/clickhouse.ts";
import { readRows } from "../runs/read-rows.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { isTooLarge, readRuns, type Row } from "../runs/select-page.ts";
import { fromPieces, time } from "../runs/selection.ts";

const HOUR_MS = 3_600_000;
/** Ends of the windows, before now; the last one is unbounded. */
const WINDOWS_MS = [6 * HOUR_MS, 48 * HOUR_MS, 14 * 24 * HOUR_MS, undefined];
/** Time for all statements of a search of contents; the last one may end a little later. */
const BUDGET_MS = 3000;
const MEMORY = { max_memory_usage: "300000000" } as const;
const LIMITS = { max_execution_time: BUDGET_MS / 1000, ...MEMORY } as const;
/** Matching pieces read per missing run: a run may match in several. */
const PIECES = 4;
/** Characters below which contents are not searched: they occur everywhere. */
const MIN_CONTENT = 3;

const COLUMNS = ["r.trace_id", "r.name", "r.parent_run_id", "r.provisional_root", "r.thread_id"];

export interface FoundRun {
  id: string;
  name: string;
  project_id: string;
  at: MicroTime;
  isTrace: boolean;
  threadId: string | null;
}

const toFound = (row: Row): FoundRun => ({
  id: row.id,
  name: row.name ?? "",
  project_id: row.project_id,
  at: row.start_time,
  isTrace: isHead(row),
  threadId: row.thread_id || null,
});

/** Whether the statement exceeded its limits. */
const isBeyond = (error: unknown): boolean => (error instanceof AppError && error.status === 422) || isTooLarge(error);

const WHOLE_ID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/;

/** Finds runs whose id contains these hexadecimal digits. Scans the workspace's ids, 10,000,000 in 0.4 s of a processor. */
export async function findRunsById(
  clickhouse: ClickHouse,
  scope: RunScope,
  part: string,
  limit: number,
): Promise<FoundRun[] | "incomplete"> {
  // whole ids are looked up by the sorting key
  const matches: Fragment = WHOLE_ID.test(part)
    ? ch`id = ${bind("UUID", part.replace(WHOLE_ID, "$1-$2-$3-$4-$5"))}`
    : ch`position(toString(id), ${bind("String", part)}) > 0`;
  // more than are shown, because runs of deleted projects keep their keys for a while
  const statement = ch`
    select id, argMax(project_id, version) as project_id, argMax(start_time, version) as start_time from run_keys
    where tenant_id = ${bind("UUID", scope.tenantId)} and ${matches}
    group by id having not argMax(deleted, version) order by start_time desc, id limit ${bind("UInt32", 4 * limit)}`;
  try {
    const keys = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "search.ids", statement, LIMITS);
    const rows = await readRuns(clickhouse, scope, keys, COLUMNS, LIMITS);
    return rows.map(toFound);
  } catch (error) {
    if (isBeyond(error)) return "incomplete";
    throw error;
  }
}

/**
 * Finds runs that contain the text in their name, error, inputs, outputs, tags or metadata. Reads unmerged pieces, since
 * a text that a run has is in one of them, and then the found runs merged, which may have another text instead: merging
 * all runs takes three times as long.
 */
export async function findRunsByContent(
  clickhouse: ClickHouse,
  scope: RunScope,
  text: string,
  limit: number,
): Promise<{ runs: FoundRun[]; since: MicroTime | null; isComplete: boolean }> {
  if (text.length < MIN_CONTENT) return { runs: [], since: null, isComplete: true };
  const now = Date.now();
  const deadline = performance.now() + BUDGET_MS;
  const search = { kind: "search" as const, text };
  const runs: FoundRun[] = [];
  let before: MicroTime | undefined;
  for (const window of WINDOWS_MS) {
    const since = window === undefined ? undefined : parseTime(now - window);
    let last: Row | undefined;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) return { runs, since: before ?? null, isComplete: false };
      const limits = { max_execution_time: Math.max(left, 50) / 1000, ...MEMORY };
      const most = PIECES * (limit - runs.length);
      const conditions = [searchPieces(search, scope)];
      if (last) conditions.push(ch`(r.start_time < ${time(last.start_time)} or r.id > ${bind("UUID", last.id)})`);
      const statement = ch`select r.project_id, r.start_time, r.id
        ${fromPieces(scope, { since, before, until: last?.start_time }, conditions)}
        order by r.start_time desc, r.id limit ${bind("UInt32", most)}`;
      try {
        const pieces = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "search.content", statement, limits);
        const keys = [...new Map(pieces.map((piece) => [piece.id, piece])).values()];
        runs.push(...(await readRuns(clickhouse, scope, keys, COLUMNS, limits, [search])).map(toFound));
        if (runs.length >= limit) return { runs: runs.slice(0, limit), since: runs[limit - 1]!.at, isComplete: true };
        if (pieces.length < most) break;
        last = pieces.at(-1);
      } catch (error) {
        if (isBeyond(error)) return { runs, since: before ?? null, isComplete: false };
        throw error;
      }
    }
    before = since;
  }
  return { runs, since: null, isComplete: true };
}

/** Finds threads whose id contains the text, the latest first. Reads the one column of the ids. */
export async function findThreads(
  clickhouse: ClickHouse,
  scope: RunScope,
  text: string,
  limit: number,
): Promise<{ id: string; project_id: string; at: MicroTime }[] | "incomplete"> {
  const statement = ch`select assumeNotNull(r.thread_id) as id, r.project_id as project_id, max(r.start_time) as at
    ${fromPieces(scope, {}, [
      ch`r.thread_id is not null and positionCaseInsensitiveUTF8(assumeNotNull(r.thread_id), ${bind("String", text)}) > 0`,
    ])}
    group by id, project_id order by at desc, id limit ${bind("UInt32", limit)}`;
  try {
    return await readRows(clickhouse.forTenant(scope.tenantId), "search.threads", statement, LIMITS);
  } catch (error) {
    if (isBeyond(error)) return "incomplete";
    throw error;
  }
}
