import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { freezeTables, type FrozenTable, removeFrozen } from "../../base/clickhouse/freeze.ts";
import { readStoreVersion } from "../../base/clickhouse/migrate.ts";
import { openClickHouse } from "../../base/clickhouse/open-clickhouse.ts";
import { isLocked } from "../../base/db/file-lock.ts";
import type { Sql } from "../../base/db/connect.ts";
import { asOwnerOf } from "../../base/keep-owner.ts";
import { COPIED_TABLES, frozenName } from "../../trace/backups/copied-tables.ts";
import { deleteCopy, insertCopy, renewCopy } from "../../trace/backups/sql.ts";
import type { ArchiveWriter } from "./archive-writer.ts";
import { copyFiles } from "./copy-files.ts";
import type { Manifest } from "./manifest.ts";

/** Time for a trace process to answer, which looks for requests every two seconds. */
const ANSWER_MS = 60_000;
const RENEW_MS = 5_000;
const LOOK_MS = 200;
const UNDEFINED_TABLE = "42P01";

/** Frozen files of the embedded trace store. */
export interface FrozenTraces {
  tables: FrozenTable[];
  version: number;
  release(): Promise<void>;
}

/** Opens an embedded trace store that no other process uses. */
export const openStore = (directory: string): Promise<ClickHouse> =>
  openClickHouse({ url: "", cluster: "", directory, connections: 2, maxMemory: 0 });

/**
 * Freezes the embedded trace store in `<dataDir>/chdb`: by the trace process that has it open, else here.
 */
export async function freezeTraces(sql: Sql, dataDir: string, id: string): Promise<FrozenTraces> {
  const directory = join(dataDir, "chdb");
  if (await isLocked(`${directory}.lock`)) return requestCopy(sql, directory, id);
  // the engine merges and writes files, which the trace platform must be able to replace
  return asOwnerOf(directory, async () => {
    const clickhouse = await openStore(directory);
    try {
      const version = await readStoreVersion(clickhouse);
      const tables = await freezeTables(clickhouse, directory, frozenName(id), COPIED_TABLES);
      return { tables, version, release: () => removeFrozen(directory, frozenName(id)) };
    } finally {
      await clickhouse.close();
    }
  });
}

async function requestCopy(sql: Sql, directory: string, id: string): Promise<FrozenTraces> {
  await insertCopy(sql, id).catch((error: Error & { code?: string }) => {
    throw error.code === UNDEFINED_TABLE ? new Error(explainSilence(directory)) : error;
  });
  const release = async () => {
    clearInterval(timer);
    await removeFrozen(directory, frozenName(id));
    await deleteCopy(sql, id);
  };
  const timer = setInterval(() => void renewCopy(sql, id).catch(() => {}), RENEW_MS).unref();
  try {
    for (const deadline = performance.now() + ANSWER_MS; ; await sleep(LOOK_MS)) {
      const copy = await renewCopy(sql, id);
      if (copy?.error) throw new Error(`The trace platform could not copy its traces: ${copy.error}`);
      if (copy?.tables) return { tables: copy.tables, version: copy.version ?? 0, release };
      if (performance.now() > deadline) {
        throw new Error(explainSilence(directory));
      }
    }
  } catch (error) {
    await release();
    throw error;
  }
}

const explainSilence = (directory: string): string =>
  `The process that uses ${directory} does not answer. Is it a Heddle of an older version? Stop it, or replace it by ` +
  "this version, and run the backup again.";

/** Yields the frozen parts as entries `traces/<table>/<part>/<file>`. Returns the counts of each table. */
export async function* copyTraces(
  archive: ArchiveWriter,
  dataDir: string,
  { tables }: FrozenTraces,
): AsyncGenerator<Buffer, Manifest["traces"]> {
  const counts: Manifest["traces"] = [];
  for (const { table, directory } of tables) {
    const path = join(dataDir, "chdb", directory);
    const parts = existsSync(path) ? await readdir(path) : [];
    let rows = 0;
    for (const part of parts) rows += Number(await readFile(join(path, part, "count.txt"), "utf8"));
    if (parts.length > 0) yield* copyFiles(archive, path, `traces/${table}`);
    counts.push({ table: table as (typeof COPIED_TABLES)[number], parts: parts.length, rows });
  }
  return counts;
}
