/**
 * Copies a database as its tables, in the binary format of COPY. All tables are read in one snapshot, which an open
 * transaction keeps. Each table is read in its own transaction on that snapshot, so that no lock is held longer
 * than its table takes.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { CopyConnection } from "../../base/db/copy-connection.ts";
import type { DatabaseAddress } from "../../base/db/connect.ts";
import { listMigratedTables } from "../../base/db/migrate.ts";
import type { ArchiveWriter } from "./archive-writer.ts";
import type { Manifest } from "./manifest.ts";

const compress = promisify(gzip);
/** Bytes of rows in an entry, before compression; they are in memory at once. */
const ENTRY_BYTES = 4 * 1024 * 1024;

/** Tables that describe the schema, or the processes that are running. */
const LEFT_OUT = new Set(["heddle_migrations", "heddle_functions", "trace_copies", "blob_place_users"]);

export type DatabaseParts = Pick<Manifest, "tables" | "sequences">;

export class DatabaseSnapshot {
  readonly name: string;
  readonly version: number;
  /** Tables that no migration has created: those of graphs that use the same database. */
  readonly foreignTables: string[];
  readonly #address: DatabaseAddress;
  readonly #holder: CopyConnection;
  readonly #id: string;
  readonly #tables: { name: string; columns: string[] }[];

  private constructor(
    address: DatabaseAddress,
    holder: CopyConnection,
    found: {
      name: string;
      version: number;
      id: string;
      tables: { name: string; columns: string[] }[];
      foreign: string[];
    },
  ) {
    this.#address = address;
    this.#holder = holder;
    this.name = found.name;
    this.version = found.version;
    this.#id = found.id;
    this.#tables = found.tables;
    this.foreignTables = found.foreign;
  }

  /** Takes a snapshot of a database. Close it. */
  static async open(address: DatabaseAddress, database: string): Promise<DatabaseSnapshot> {
    const holder = new CopyConnection(address, { name: "heddle backup", database });
    const { sql } = holder;
    try {
      await sql.unsafe("begin transaction isolation level repeatable read read only");
      const [snapshot] = await sql<{ id: string }[]>`select pg_export_snapshot() as id`;
      const versions = await sql<{ version: number }[]>`
        select coalesce(max(version), 0) as version from heddle_migrations`;
      const columns = await sql<{ name: string; column: string }[]>`
        select c.relname as name, a.attname as column
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by c.relname, a.attnum`;
      const own = await listMigratedTables();
      const all = [...new Set(columns.map(({ name }) => name))];
      const tables = all
        .filter((name) => own.has(name) && !LEFT_OUT.has(name))
        .map((name) => ({ name, columns: columns.filter((row) => row.name === name).map(({ column }) => column) }));
      const foreign = all.filter((name) => !own.has(name));
      const { id } = snapshot!;
      return new DatabaseSnapshot(address, holder, {
        name: database,
        version: versions[0]!.version,
        id,
        tables,
        foreign,
      });
    } catch (error) {
      await holder.close();
      throw error;
    }
  }

  /** Yields the tables' entries. Returns what they hold. */
  async *copy(
    archive: ArchiveWriter,
    onTable: (table: string, rows: number) => void,
  ): AsyncGenerator<Buffer, DatabaseParts> {
    const parts: DatabaseParts = { tables: [], sequences: [] };
    const reader = new CopyConnection(this.#address, { name: "heddle backup", database: this.name });
    const { sql } = reader;
    try {
      for (const { name, columns } of this.#tables) {
        await sql.unsafe("begin transaction isolation level repeatable read read only");
        await sql.unsafe(`set transaction snapshot '${this.#id}'`);
        const session = await reader.session();
        const [counted] = await sql.unsafe<{ rows: string }[]>(`select count(*) as rows from ${quoted(name)}`);
        const hash = createHash("sha256");
        let bytes = 0;
        let number = 0;
        let waiting: Buffer[] = [];
        let size = 0;
        const entry = async () => {
          const content = await compress(Buffer.concat(waiting), { level: 1 });
          [waiting, size] = [[], 0];
          return archive.file(`postgres/${this.name}/${name}/${String(number++).padStart(6, "0")}.gz`, content);
        };
        for await (const chunk of reader.copyOut(copyStatement(name, columns, "to stdout"))) {
          hash.update(chunk);
          bytes += chunk.length;
          size += chunk.length;
          waiting.push(chunk);
          if (size >= ENTRY_BYTES) yield* await entry();
        }
        if (size > 0) yield* await entry();
        if ((await reader.session()) !== session)
          throw new Error(`The connection to ${this.name} was lost during the copy.`);
        await sql.unsafe("commit");
        const rows = Number(counted!.rows);
        parts.tables.push({ database: this.name, table: name, columns, rows, bytes, sha256: hash.digest("hex") });
        onTable(name, rows);
      }
      // after the tables, because sequences belong to no snapshot: all their values are at least those of the rows
      parts.sequences = await readSequences(reader, this.name);
    } finally {
      await reader.close();
    }
    return parts;
  }

  async close(): Promise<void> {
    await this.#holder.close();
  }
}

async function readSequences({ sql }: CopyConnection, database: string): Promise<Manifest["sequences"]> {
  const names = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname`;
  const sequences: Manifest["sequences"] = [];
  for (const { name } of names) {
    const [row] = await sql.unsafe<{ value: string; called: boolean }[]>(
      `select last_value as value, is_called as called from ${quoted(name)}`,
    );
    sequences.push({ database, name, value: String(row!.value), called: row!.called });
  }
  return sequences;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const copyStatement = (table: string, columns: readonly string[], direction: string): string =>
  `copy ${quoted(table)} (${columns.map(quoted).join(", ")}) ${direction} (format binary)`;
