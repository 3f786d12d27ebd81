/**
 * Reads pages of runs within bounds of memory: a page has at most `maxBytes` of the selected texts, and is read in
 * batches of a few megabytes, whatever the size of its runs.
 *
 * Most pages are small. So a page is first read by one statement, limited by ClickHouse in the bytes of its result and
 * its memory. If it exceeds them, only its keys and sizes are read, and then the runs in batches.
 */
import type { ClickHouseSettings } from "@clickhouse/client";

import type { RunScope } from "./run-scope.ts";
import {
  isTooLarge,
  type PageDeps,
  type PageRequest,
  type Position,
  readRuns,
  type Row,
  selectPage,
} from "./select-page.ts";
import type { RunSelection } from "./selection.ts";

/** Bytes of a batch; a single run may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Bytes of a page that clients continue with a cursor; a single run may be larger. */
export const PAGE_BYTES = 24 * 1024 * 1024;

/** Limits of the first attempt. */
const SMALL: ClickHouseSettings = {
  max_result_bytes: String(2 * BATCH_BYTES),
  result_overflow_mode: "throw",
  max_memory_usage: "100000000",
};

/** Threads hold blocks of large rows each, so batches are read by one. */
const LARGE: ClickHouseSettings = { max_threads: 1 };

/** Columns with texts of clients. */
const TEXTS = ["inputs", "outputs", "events", "extra", "serialized", "error"];

/**
 * Yields the runs of a page in batches.
 * @param maxBytes ends the page early; without it all runs are read
 * @returns the position after which the next page begins, if there may be more
 */
export async function* readPage(
  deps: PageDeps,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[], Position | undefined> {
  const { clickhouse } = deps;
  const texts = TEXTS.filter((name) => page.columns.includes(`r.${name}`));
  if (texts.length === 0) {
    const { rows, next } = await selectPage(deps, scope, selection, page);
    yield rows;
    return next;
  }
  try {
    const { rows, next } = await selectPage(deps, scope, selection, { ...page, settings: SMALL });
    yield rows;
    return next;
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  const size = `${texts.map((name) => `ifNull(length(r.${name}), 0)`).join(" + ")} as text_bytes`;
  const { rows: keys, next } = await selectPage(deps, scope, selection, {
    ...page,
    columns: [size],
    settings: LARGE,
  });
  let batch: Row[] = [];
  let batchBytes = 0;
  let pageBytes = 0;
  let last: Row | undefined;
  for (const key of keys) {
    const bytes = Number(key["text_bytes"]);
    if (last && pageBytes + bytes > maxBytes) break;
    if (batch.length > 0 && batchBytes + bytes > BATCH_BYTES) {
      yield await readRuns(clickhouse, scope, batch, page.columns, LARGE);
      batch = [];
      batchBytes = 0;
    }
    batch.push(key);
    batchBytes += bytes;
    pageBytes += bytes;
    last = key;
  }
  if (batch.length > 0) yield await readRuns(clickhouse, scope, batch, page.columns, LARGE);
  return last === keys.at(-1) ? next : last;
}

/** Passes the batches of a page to `take`. @returns the position after which the next page begins */
export async function collectPage(
  deps: PageDeps,
  scope: RunScope,
  selection: RunSelection,
  page: PageRequest,
  take: (rows: Row[]) => Promise<void>,
): Promise<Position | undefined> {
  const batches = readPage(deps, scope, selection, page, PAGE_BYTES);
  for (;;) {
    const { value, done } = await batches.next();
    if (done) return value;
    await take(value);
  }
}
