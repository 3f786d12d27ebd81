/**
 * Writes a backup of an installation, running or not:
 *
 *  1. a snapshot of the platform's database,
 *  2. the trace store's files, frozen,
 *  3. links to the attachments,
 *  4. a copy of all three, then of the control plane's files, the databases of deployments, and the keys,
 *  5. the archive, read back as a restore reads it.
 *
 * The other copies are taken later, so they contain everything that the database references; a restore deletes the
 * surplus. Everything acknowledged before the first step is in the archive.
 */
import { existsSync, realpathSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";

import { blobDirectory } from "../../base/blob/open-blobs.ts";
import { blobOptions } from "../../base/blob/settings.ts";
import { readOptions } from "../../base/config/options.ts";
import { CopyConnection } from "../../base/db/copy-connection.ts";
import { connect, type Sql } from "../../base/db/connect.ts";
import { newestMigration } from "../../base/db/migrate.ts";
import { type Database, openDatabase } from "../../base/db/open-database.ts";
import { createLog } from "../../base/log.ts";
import { defaultKeyFile, readKeyFile } from "../../base/secrets/key-file.ts";
import { secretsOptions } from "../../base/secrets/settings.ts";
import { readVersion } from "../../base/version.ts";
import type { DataLocation } from "../with-database.ts";
import { openArchivePlace } from "./archive-place.ts";
import { ArchiveWriter } from "./archive-writer.ts";
import { DatabaseSnapshot } from "./copy-database.ts";
import { chooseBuilds, type ChosenBuilds, controlCopy } from "./control-files.ts";
import { BACKUP_LINKS, copyFiles, describeProblems, linkFiles } from "./copy-files.ts";
import { copyTraces, freezeTraces, type FrozenTraces } from "./copy-traces.ts";
import { FORMAT, INTRODUCTION, type Introduction, MACHINE, type Manifest, type Section } from "./manifest.ts";
import { openKeys, sealKeys } from "./seal-keys.ts";
import { backupOptions } from "./settings.ts";
import { ArchiveError } from "./tar.ts";
import { readVerified } from "./verify-archive.ts";

export interface BackupRequest {
  location: DataLocation;
  /** File, or s3://bucket/key. */
  to: string;
  withoutKeys: boolean;
  /** Encrypts the keys and authenticates the archive. Required unless the keys are left out or there are none. */
  passphrase: string | undefined;
  /** Copies builds too that the platform could make again. */
  withBuilds?: boolean;
  onProgress: (message: string) => void;
}

export interface BackupResult {
  archive: string;
  bytes: number;
  created_at: string;
  databases: { name: string; tables: number; rows: number }[];
  traces: Manifest["traces"];
  attachments: { files: number; bytes: number };
  control: { files: number; bytes: number };
  /** Builds of deployments, in the archive and left out. */
  builds: { copied: number; left_out: number };
  keys: Introduction["keys"];
  /** Whether the passphrase authenticates the archive. */
  authenticated: boolean;
  sections: Section[];
  notes: string[];
}

/** Advisory lock: one backup at a time, because frozen files and links take space. */
const LOCK = 7_236_585;
/** Database of the embedded Postgres. */
const PLATFORM = "heddle";
const KEYS = "keys/keys.sealed";

export async function createBackup(request: BackupRequest): Promise<BackupResult> {
  const { location, onProgress } = request;
  const env = location.env ?? {};
  const place = await openArchivePlace(request.to, readOptions(backupOptions, env));
  try {
    if (await place.exists()) throw new Error(`${place.shown} exists already. Name another file or key.`);
    const files = request.withoutKeys ? undefined : readKeys(location);
    if (files && request.passphrase === undefined) {
      throw new Error(
        "The archive would hold the encryption keys. Set HEDDLE_BACKUP_PASSPHRASE or --passphrase-file to encrypt them, " +
          "or leave them out with --without-keys.",
      );
    }
    const keys: Introduction["keys"] = request.withoutKeys ? "left out" : files ? "encrypted" : "none";
    const log = createLog("warn");
    const database = await openDatabase({ dataDir: location.dataDir, uri: location.databaseUri, log });
    const sql = connect(database.address, { max: 2, name: "heddle backup" });
    try {
      return await alone(database, async () => {
        const sources = await openSources(request, database, sql);
        try {
          // again, because a rotation may have added a key that the snapshot needs
          const sealed = files && sealKeys(readKeys(location) ?? files, request.passphrase!);
          const result = emptyResult(place.shown, keys, sources, request.passphrase !== undefined);
          const bytes = await place.write(composeArchive(sources, { ...request, sealed }, result), async (chunks) => {
            onProgress("reading the archive back");
            await compareArchive(chunks, result, request.passphrase);
          });
          return { ...result, bytes };
        } finally {
          await sources.close();
        }
      });
    } finally {
      await sql.end({ timeout: 2 });
      await database.close();
    }
  } finally {
    place.close();
  }
}

/** Reads an archive that has just been written, as a restore does. @throws Error when it is not what was written */
async function compareArchive(
  chunks: AsyncIterable<Uint8Array>,
  { sections }: BackupResult,
  passphrase: string | undefined,
): Promise<void> {
  const onKeys = (sealed: Buffer) => void (passphrase !== undefined && openKeys(sealed, passphrase));
  const { manifest } = await readVerified(chunks, { passphrase, onKeys });
  if (JSON.stringify(manifest.sections) === JSON.stringify(sections)) return;
  throw new ArchiveError("What was read back is another archive than the one that was written.");
}

async function alone<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const connection = new CopyConnection(database.address, { name: "heddle backup: lock" });
  try {
    const [row] = await connection.sql<{ mine: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as mine`;
    if (!row!.mine) throw new Error("Another backup of this installation is running.");
    return await work();
  } finally {
    await connection.close();
  }
}

/** Reads the files that hold keys. Undefined when there are none. */
function readKeys({ dataDir, env = {} }: DataLocation): Record<string, string> | undefined {
  const { secretsKeys, secretsKeyFile } = readOptions(secretsOptions, env);
  const found = {
    "secrets.keys": secretsKeys ?? readKeyFile(secretsKeyFile ?? defaultKeyFile(dataDir)),
    "control/tracing.key": readKeyFile(join(dataDir, "control", "tracing.key")),
  };
  const files = Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== null);
  return files.length > 0 ? Object.fromEntries(files) : undefined;
}

interface Sources {
  dataDir: string;
  database: Database;
  createdAt: string;
  platform: DatabaseSnapshot | null;
  /** Databases of deployments, with their schema versions. */
  deployments: { name: string; schema_version: number }[];
  roles: Manifest["roles"];
  traces: FrozenTraces | null;
  /** Directory to read attachments from; null when they are in a bucket or there are none. */
  attachments: string | null;
  builds: ChosenBuilds;
  notes: string[];
  close(): Promise<void>;
}

/** Fixes the state to copy, as quickly as possible. */
async function openSources(
  { location: { dataDir, databaseUri, env = {} }, withBuilds = false, onProgress }: BackupRequest,
  database: Database,
  sql: Sql,
): Promise<Sources> {
  const id = randomUUID();
  const notes: string[] = [];
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of opened.reverse()) await end().catch((error: unknown) => onProgress(String(error)));
  };
  try {
    const createdAt = new Date().toISOString();
    let platform: DatabaseSnapshot | null = null;
    if (databaseUri === undefined) {
      platform = await openPlatform(database);
      opened.push(() => platform!.close());
      if (platform.foreignTables.length > 0) notes.push(foreignTables(PLATFORM, platform.foreignTables));
    } else {
      notes.push(
        "The database is external (DATABASE_URI) and not in the archive. Before this backup, run pg_dumpall --roles-only, " +
          "and pg_dump --format=custom of it and of each database heddle_d_…, or take a backup of its server: traces " +
          "and attachments of a later moment fit an earlier database. docs/backup.md has the commands.",
      );
    }
    const traces = await openTraces(dataDir, env, sql, id, notes);
    if (traces) opened.push(() => traces.release());
    const attachments = await openAttachments(dataDir, env, id, notes, opened);
    const { deployments, roles } = platform
      ? await findDeployments(database, env, notes)
      : { deployments: [], roles: [] };
    const builds = await chooseBuilds(sql, join(dataDir, "control"), withBuilds);
    notes.push(...builds.notes);
    return { dataDir, database, createdAt, platform, deployments, roles, traces, attachments, builds, notes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openPlatform(database: Database): Promise<DatabaseSnapshot> {
  const platform = await DatabaseSnapshot.open(database.address, PLATFORM).catch((error: unknown) => {
    if ((error as { code?: string }).code !== "42P01") throw error;
    throw new Error("The database is empty: no server has been started on it. There is nothing to back up.");
  });
  const newest = await newestMigration();
  if (platform.version <= newest) return platform;
  await platform.close();
  throw new Error(
    `The database has schema version ${platform.version}, but this version of Heddle knows versions up to ${newest}. ` +
      "Run the backup with the version of the servers.",
  );
}

const foreignTables = (database: string, names: string[]): string =>
  `Tables of ${database} that are not Heddle's are not in the archive: ${names.join(", ")}. Copy them with pg_dump.`;

async function openTraces(
  dataDir: string,
  env: Record<string, string | undefined>,
  sql: Sql,
  id: string,
  notes: string[],
): Promise<FrozenTraces | null> {
  if (env["CLICKHOUSE_URL"]) {
    notes.push(
      "Traces are in an external ClickHouse (CLICKHOUSE_URL) and not in the archive. After this backup has begun, run " +
        "BACKUP DATABASE … TO S3(…) on it.",
    );
    return null;
  }
  // without the file of its schema no trace platform has opened it
  return existsSync(join(dataDir, "chdb", "store")) ? freezeTraces(sql, dataDir, id) : null;
}

async function openAttachments(
  dataDir: string,
  env: Record<string, string | undefined>,
  id: string,
  notes: string[],
  opened: (() => Promise<unknown>)[],
): Promise<string | null> {
  const settings = readOptions(blobOptions, env);
  if (settings.blobBucket !== undefined) {
    notes.push(
      `Attachments are in the bucket ${settings.blobBucket} (HEDDLE_BLOB_BUCKET) and not in the archive. Use the ` +
        "bucket's versioning or replication, and keep deleted objects for as long as the archive.",
    );
    return null;
  }
  const directory = blobDirectory(settings, dataDir);
  if (!existsSync(directory)) return null;
  // of a backup that was killed: this is the only one that runs
  const left = (await readdir(directory)).filter((name) => name.startsWith(BACKUP_LINKS));
  for (const name of left) await rm(join(directory, name), { recursive: true, force: true });
  const links = join(directory, `${BACKUP_LINKS}${id}`);
  if (!(await linkFiles(directory, links))) return directory;
  opened.push(() => rm(links, { recursive: true, force: true }));
  return links;
}

async function findDeployments(database: Database, env: Record<string, string | undefined>, notes: string[]) {
  if (env["HEDDLE_DEPLOYMENT_DATABASE_URI"]) {
    notes.push(
      "Databases of deployments are external (HEDDLE_DEPLOYMENT_DATABASE_URI) and not in the archive. Run pg_dump of " +
        "each database heddle_d_… there, and pg_dumpall --roles-only.",
    );
    return { deployments: [], roles: [] };
  }
  const connection = new CopyConnection(database.address, { name: "heddle backup" });
  try {
    const names = await connection.sql<{ name: string }[]>`
      select datname as name from pg_database where datname ~ '^heddle_d_[0-9a-f]{32}$' and datallowconn order by datname`;
    const roles = await connection.sql<Manifest["roles"]>`
      select rolname as name, rolpassword as verifier, rolconnlimit as connections from pg_authid
      where rolname ~ '^heddle_d_[0-9a-f]{32}$' order by rolname`;
    const deployments: Sources["deployments"] = [];
    for (const { name } of names) {
      const snapshot = await DatabaseSnapshot.open(database.address, name).catch((error: unknown) => {
        // its agent server has not been started yet, or it was deleted at this moment
        if (["42P01", "3D000"].includes((error as { code?: string }).code ?? "")) return undefined;
        throw error;
      });
      if (!snapshot) continue;
      deployments.push({ name, schema_version: snapshot.version });
      if (snapshot.foreignTables.length > 0) notes.push(foreignTables(name, snapshot.foreignTables));
      await snapshot.close();
    }
    return { deployments, roles: roles.map((role) => ({ ...role })) };
  } finally {
    await connection.close();
  }
}

const emptyResult = (
  archive: string,
  keys: Introduction["keys"],
  { createdAt, builds, notes }: Sources,
  authenticated: boolean,
): BackupResult => ({
  archive,
  bytes: 0,
  created_at: createdAt,
  databases: [],
  traces: [],
  attachments: { files: 0, bytes: 0 },
  control: { files: 0, bytes: 0 },
  builds: { copied: builds.copied.size, left_out: builds.leftOut },
  keys,
  authenticated,
  sections: [],
  notes,
});

/** Yields the archive, and fills in the result. */
async function* composeArchive(
  sources: Sources,
  { sealed, passphrase, onProgress }: Pick<BackupRequest, "passphrase" | "onProgress"> & { sealed: Buffer | undefined },
  result: BackupResult,
): AsyncGenerator<Buffer> {
  const { dataDir, platform, deployments, traces, attachments, builds } = sources;
  const control = join(dataDir, "control");
  const archive = new ArchiveWriter();
  const manifest: Omit<Manifest, "sections"> = {
    tables: [],
    sequences: [],
    roles: sources.roles,
    traces: [],
    notes: result.notes,
  };
  const introduction: Introduction = {
    format: FORMAT,
    heddle_version: readVersion(),
    created_at: sources.createdAt,
    databases: platform ? [{ name: platform.name, schema_version: platform.version }, ...deployments] : [],
    traces_version: traces?.version ?? null,
    keys: result.keys,
    builds: builds.copied.size > 0 ? { directory: realpathSync(control), machine: MACHINE } : null,
  };
  yield* archive.file(INTRODUCTION, Buffer.from(`${JSON.stringify(introduction, null, 2)}\n`));
  if (sealed) yield* archive.file(KEYS, sealed);

  const copyDatabase = async function* (snapshot: DatabaseSnapshot): AsyncGenerator<Buffer> {
    onProgress(`database ${snapshot.name}`);
    const parts = yield* snapshot.copy(archive, (table, rows) => {
      if (rows >= 100_000) onProgress(`  ${table}: ${rows} rows`);
    });
    manifest.tables.push(...parts.tables);
    manifest.sequences.push(...parts.sequences);
    const rows = parts.tables.reduce((sum, table) => sum + table.rows, 0);
    result.databases.push({ name: snapshot.name, tables: parts.tables.length, rows });
  };
  if (platform) yield* copyDatabase(platform);
  if (traces) {
    onProgress("traces");
    manifest.traces = result.traces = yield* copyTraces(archive, dataDir, traces);
    // deleted data can leave the disk again
    await traces.release();
  }
  if (attachments !== null) {
    onProgress("attachments");
    const isTemporary = (path: string) => path.endsWith(".tmp") || path.startsWith(BACKUP_LINKS);
    const counts = yield* copyFiles(archive, attachments, "blobs", { leavesOut: isTemporary });
    result.attachments = { files: counts.files, bytes: counts.bytes };
    result.notes.push(...describeProblems(counts));
  }
  if (existsSync(control)) {
    onProgress("files of the control plane");
    const counts = yield* copyFiles(archive, control, "control", controlCopy(builds));
    result.control = { files: counts.files, bytes: counts.bytes };
    result.notes.push(...describeProblems(counts));
  }
  for (const { name, schema_version } of deployments) {
    const snapshot = await DatabaseSnapshot.open(sources.database.address, name);
    try {
      if (snapshot.version !== schema_version)
        throw new Error(`The deployment of ${name} was upgraded during the backup.`);
      yield* copyDatabase(snapshot);
    } finally {
      await snapshot.close();
    }
  }
  result.sections = yield* archive.end(manifest, passphrase);
}
