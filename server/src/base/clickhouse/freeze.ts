import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, relative } from "node:path";

import type { ClickHouse } from "./clickhouse.ts";

export interface FrozenTable {
  table: string;
  /** Directory of the table's parts, below the engine's own; missing for a table without parts. */
  directory: string;
}

/** Names of frozen copies. The engine would encode other characters in the directory's name. */
export const FROZEN_NAME = /^[0-9a-f]{32}$/;

/**
 * Links the current files of tables into a directory of that name: no later statement or merge changes them, and no
 * data is copied. The tables are frozen one after another, in the given order. Only for an embedded engine.
 */
export async function freezeTables(
  clickhouse: ClickHouse,
  engineDirectory: string,
  name: string,
  tables: readonly string[],
): Promise<FrozenTable[]> {
  if (!FROZEN_NAME.test(name)) throw new Error(`invalid name of a frozen copy: ${name}`);
  const frozen: FrozenTable[] = [];
  for (const table of tables) {
    const [row] = await clickhouse.rows<{ path: string; parts: number }>({
      name: "freeze.find",
      query: `select data_paths[1] as path, (select count() from system.parts
          where active and database = currentDatabase() and table = {table:String}) as parts
        from system.tables where database = currentDatabase() and name = {table:String}`,
      params: { table },
    });
    if (!row) continue;
    await clickhouse.command({ name: "freeze", query: `alter table ${table} freeze with name '${name}'` });
    const directory = join("shadow", name, relative(engineDirectory, row.path));
    if (row.parts > 0 && !existsSync(join(engineDirectory, directory))) {
      throw new Error(`the engine has frozen ${table} in another place than ${directory}`);
    }
    frozen.push({ table, directory });
  }
  return frozen;
}

/** Removes the links of `freezeTables`. */
export const removeFrozen = (engineDirectory: string, name: string): Promise<void> =>
  rm(join(engineDirectory, "shadow", name), { recursive: true, force: true });
