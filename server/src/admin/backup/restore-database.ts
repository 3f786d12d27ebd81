import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

import { connect, type DatabaseAddress } from "../../base/db/connect.ts";
import { CopyConnection } from "../../base/db/copy-connection.ts";
import { migrate, MIGRATIONS } from "../../base/db/migrate.ts";
import { copyStatement, quoted } from "./copy-database.ts";
import type { Manifest } from "./manifest.ts";
import { ArchiveError } from "./tar.ts";

/** Loads the tables of one database, in the order of the archive, and verifies them against the manifest. */
export class DatabaseLoader {
  readonly #name: string;
  readonly #address: DatabaseAddress;
  readonly #connection: CopyConnection;
  readonly #tables: Map<string, Manifest["tables"][number]>;
  readonly #loaded = new Set<string>();
  #current:
    | { table: string; left: number; push: (chunk: Buffer | null) => Promise<void>; done: Promise<void> }
    | undefined;

  private constructor(name: string, address: DatabaseAddress, manifest: Manifest) {
    this.#name = name;
    this.#address = address;
    this.#connection = new CopyConnection(address, { name: "heddle restore", database: name });
    this.#tables = new Map(
      manifest.tables.filter(({ database }) => database === name).map((table) => [table.table, table]),
    );
  }

  /** Creates the schema of the backup's version in an empty database. `owner`: the role that owns its tables. */
  static async create(
    address: DatabaseAddress,
    { name, schema_version }: { name: string; schema_version: number },
    manifest: Manifest,
    owner: string | undefined,
  ): Promise<DatabaseLoader> {
    await migrateAs(address, name, owner, schema_version);
    const loader = new DatabaseLoader(name, address, manifest);
    const { sql } = loader.#connection;
    await sql.unsafe("begin");
    // neither triggers nor foreign keys: the rows are those of a database in which they have had their effect
    await sql.unsafe("set local session_replication_role = replica");
    const all = await sql<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and relname not in ('heddle_migrations', 'heddle_functions')`;
    // in the transaction that has emptied a table, COPY appends to it: the rows keep their order
    await sql.unsafe(`truncate ${all.map((table) => quoted(table.name)).join(", ")}`);
    return loader;
  }

  /**
   * Loads an entry of a table. Entries of a table follow one another, and unpack to no more bytes than the manifest
   * names.
   */
  async load(table: string, content: AsyncIterable<Buffer>): Promise<void> {
    if (this.#current?.table !== table) {
      await this.#endTable();
      this.#current = this.#beginTable(table);
    }
    const current = this.#current;
    for await (const chunk of Readable.from(content).compose(createGunzip()) as AsyncIterable<Buffer>) {
      current.left -= chunk.length;
      if (current.left < 0) throw new ArchiveError(`The rows of ${table} are more than the manifest names.`);
      await current.push(chunk);
    }
  }

  #beginTable(table: string) {
    const known = this.#tables.get(table);
    if (!known || this.#loaded.has(table))
      throw new ArchiveError(`The archive holds rows of ${table}, which its manifest does not name at that place.`);
    this.#loaded.add(table);
    const pipe = new Handover();
    const done = this.#connection.copyIn(copyStatement(table, known.columns, "from stdin"), pipe.read());
    done.catch((error: unknown) => pipe.fail(error));
    return { table, done, left: known.bytes, push: (chunk: Buffer | null) => pipe.push(chunk) };
  }

  async #endTable(): Promise<void> {
    if (!this.#current) return;
    const { push, done } = this.#current;
    this.#current = undefined;
    await push(null);
    await done;
  }

  /** Sets the sequences, and compares every table with the manifest. @returns the rows */
  async finish(manifest: Manifest): Promise<number> {
    await this.#endTable();
    const { sql } = this.#connection;
    for (const { database, name, value, called } of manifest.sequences) {
      if (database !== this.#name) continue;
      await sql`select setval(${`public.${quoted(name)}`}::regclass, ${value}::bigint, ${called})`;
    }
    await sql.unsafe("commit");
    let total = 0;
    for (const { table, columns, rows, sha256 } of this.#tables.values()) {
      const hash = createHash("sha256");
      for await (const chunk of this.#connection.copyOut(copyStatement(table, columns, "to stdout")))
        hash.update(chunk);
      const [counted] = await sql.unsafe<{ rows: string }[]>(`select count(*) as rows from ${quoted(table)}`);
      if (Number(counted!.rows) !== rows || hash.digest("hex") !== sha256) {
        throw new Error(
          `The table ${table} of ${this.#name} has ${counted!.rows} rows after the restore, and ${rows} in the backup, ` +
            "or their content differs.",
        );
      }
      total += rows;
    }
    await sql.unsafe("analyze");
    return total;
  }

  /** Migrates to this code's schema. */
  async migrate(owner: string | undefined): Promise<void> {
    await migrateAs(this.#address, this.#name, owner);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

async function migrateAs(
  address: DatabaseAddress,
  name: string,
  owner: string | undefined,
  upTo?: number,
): Promise<void> {
  const uri = new URL(address.uri);
  uri.pathname = `/${name}`;
  const sql = connect({ ...address, uri: uri.href }, { max: 1, name: "heddle restore", silenceMs: 0 });
  try {
    if (owner !== undefined) await sql.unsafe(`set role ${quoted(owner)}`);
    await migrate(sql, MIGRATIONS, upTo === undefined ? {} : { upTo });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Hands chunks to a reader one at a time. */
class Handover {
  #waiting: { chunk: Buffer | null; taken: () => void; failed: (error: unknown) => void } | undefined;
  #wanted: (() => void) | undefined;
  #error: { cause: unknown } | undefined;

  /** Resolves when the reader has taken the chunk; null ends it. */
  push(chunk: Buffer | null): Promise<void> {
    if (this.#error) return Promise.reject(this.#error.cause as Error);
    return new Promise((taken, failed) => {
      this.#waiting = { chunk, taken, failed };
      this.#wanted?.();
    });
  }

  fail(cause: unknown): void {
    this.#error = { cause };
    this.#waiting?.failed(cause);
  }

  async *read(): AsyncGenerator<Buffer> {
    for (;;) {
      if (!this.#waiting) await new Promise<void>((wanted) => (this.#wanted = wanted));
      const { chunk, taken } = this.#waiting!;
      this.#waiting = undefined;
      taken();
      if (chunk === null) return;
      yield chunk;
    }
  }
}
