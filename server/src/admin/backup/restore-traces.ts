import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { migrateClickHouse, MIGRATIONS } from "../../base/clickhouse/migrate.ts";
import type { Sql } from "../../base/db/connect.ts";
import { openStore } from "./copy-traces.ts";
import type { Manifest } from "./manifest.ts";

/** Directory below the engine's where restored parts wait until their table exists. */
export const WAITING_PARTS = "restored";

/** Name of a part: partition, first and last block, level, mutation. */
const PART = /^(?<partition>[^_]+)_(?<first>\d+)_(?<last>\d+)_\d+(_\d+)?$/;

/**
 * Attaches the parts in `<dataDir>/chdb/restored` to the tables of the backup's schema version, compares their rows
 * with the manifest, and migrates to this code's schema.
 */
export async function attachTraces(
  dataDir: string,
  sql: Sql,
  manifest: Manifest,
  version: number,
): Promise<ClickHouse> {
  const directory = join(dataDir, "chdb");
  const clickhouse = await openStore(directory);
  try {
    await migrateClickHouse(clickhouse, sql, MIGRATIONS, { upTo: version });
    for (const { table, parts, rows } of manifest.traces) {
      // merges could join rows before they are counted
      await clickhouse.command({ name: "restore.stop", query: `system stop merges ${table}` });
      const [place] = await clickhouse.rows<{ path: string }>({
        name: "restore.find",
        query: `select data_paths[1] as path from system.tables where database = currentDatabase() and name = {table:String}`,
        params: { table },
      });
      if (!place) throw new Error(`The backup holds rows of the trace table ${table}, which its schema version lacks.`);
      const waiting = join(directory, WAITING_PARTS, table);
      const names = sortParts(await readdir(waiting).catch(() => []));
      await mkdir(join(place.path, "detached"), { recursive: true });
      for (const name of names) {
        await rename(join(waiting, name), join(place.path, "detached", name));
        // in the order of their blocks: of a run in pieces, the last value of a field wins
        await clickhouse.command({ name: "restore.attach", query: `alter table ${table} attach part '${name}'` });
      }
      const [found] = await clickhouse.rows<{ parts: number; rows: number }>({
        name: "restore.count",
        query: `select count() as parts, sum(rows) as rows from system.parts
          where active and database = currentDatabase() and table = {table:String}`,
        params: { table },
      });
      if (found!.parts !== parts || found!.rows !== rows) {
        throw new Error(
          `The trace table ${table} has ${found!.rows} rows in ${found!.parts} parts after the restore, and ${rows} in ` +
            `${parts} in the backup.`,
        );
      }
      await clickhouse.command({ name: "restore.start", query: `system start merges ${table}` });
    }
    await migrateClickHouse(clickhouse, sql);
    return clickhouse;
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
}

function sortParts(names: string[]): string[] {
  const parts = names.map((name) => {
    const groups = PART.exec(name)?.groups;
    if (!groups || !/^[\w-]+$/.test(name)) throw new Error(`The archive holds a part with the unknown name ${name}.`);
    return { name, partition: groups["partition"]!, first: Number(groups["first"]) };
  });
  return parts
    .sort((a, b) => (a.partition < b.partition ? -1 : a.partition > b.partition ? 1 : a.first - b.first))
    .map(({ name }) => name);
}

/**
 * Deletes what arrived in the trace store after the snapshot of Postgres, in projects that it does not have: nothing
 * could read or delete it. @returns the number of runs
 */
export async function deleteOrphans(clickhouse: ClickHouse, sql: Sql): Promise<number> {
  const projects = await clickhouse.rows<{ id: string; runs: number }>({
    name: "restore.projects",
    query: "select toString(project_id) as id, count() as runs from runs group by project_id limit 1000000",
  });
  const orphans: string[] = [];
  let runs = 0;
  for (let i = 0; i < projects.length; i += 10_000) {
    const batch = projects.slice(i, i + 10_000);
    const known = await sql<{ id: string }[]>`
      select project_id as id from projects where project_id = any(${batch.map(({ id }) => id)}::uuid[])`;
    const ids = new Set(known.map(({ id }) => id));
    for (const { id, runs: count } of batch) {
      if (ids.has(id)) continue;
      orphans.push(id);
      runs += count;
    }
  }
  for (let i = 0; i < orphans.length; i += 1000) {
    const params = { ids: orphans.slice(i, i + 1000) };
    const statements = [
      "delete from run_attachments where run_id in (select id from run_keys where project_id in {ids:Array(UUID)})",
      "delete from runs where project_id in {ids:Array(UUID)}",
      "delete from agent_minutes where project_id in {ids:Array(UUID)}",
      // marks of deleted runs keep late pieces of them out
      "delete from run_keys where not deleted and project_id in {ids:Array(UUID)}",
    ];
    for (const query of statements) await clickhouse.command({ name: "restore.orphans", query, params });
  }
  return runs;
}
