/**
 * Restores an archive into an empty installation. The archive is read twice: first all of it is verified, then it is
 * loaded. From the first byte written until everything has been verified, a marker in the data directory keeps servers
 * from starting on it; a restore that did not finish is started over.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { ID_FILE } from "../../base/blob/blob-location.ts";
import { blobDirectory } from "../../base/blob/open-blobs.ts";
import { blobOptions } from "../../base/blob/settings.ts";
import { readOptions } from "../../base/config/options.ts";
import { connect, type DatabaseAddress, type Sql } from "../../base/db/connect.ts";
import { CopyConnection } from "../../base/db/copy-connection.ts";
import { EmbeddedPostgres, stopAbandonedPostgres } from "../../base/db/embedded-postgres.ts";
import { migrateDatabase } from "../../base/db/migrate.ts";
import { restoreMarker } from "../../base/db/unfinished-restore.ts";
import { createLog } from "../../base/log.ts";
import { defaultKeyFile } from "../../base/secrets/key-file.ts";
import { secretsOptions } from "../../base/secrets/settings.ts";
import { hasSource, servingRevisions } from "../../control/revisions/source.ts";
import { runProgram } from "../../control/drivers/process/run-program.ts";
import { endAllInstances } from "../../control/runtime/sql.ts";
import { resetHours } from "../../trace/run-facts/sql.ts";
import { recordCommand } from "../record-command.ts";
import type { DataLocation } from "../with-database.ts";
import { type EntryContent, type PlacedEntry, readArchive } from "./archive-reader.ts";
import { openArchivePlace } from "./archive-place.ts";
import { isPassing } from "./control-files.ts";
import { quoted } from "./copy-database.ts";
import { FileRestorer } from "./restore-files.ts";
import { type Introduction, MACHINE, type Manifest } from "./manifest.ts";
import { DatabaseLoader } from "./restore-database.ts";
import { attachTraces, deleteOrphans, WAITING_PARTS } from "./restore-traces.ts";
import { openKeys } from "./seal-keys.ts";
import { backupOptions } from "./settings.ts";
import { ArchiveError, type TarEntry } from "./tar.ts";
import { type VerifiedArchive, verifyArchive } from "./verify-archive.ts";

export interface RestoreRequest {
  location: DataLocation;
  /** File, or s3://bucket/key. */
  from: string;
  /** Leaves out the keys of the archive. */
  withoutKeys: boolean;
  passphrase: string | undefined;
  /** Whether to reject an archive that the passphrase does not authenticate. */
  onlyAuthenticated?: boolean;
  onProgress: (message: string) => void;
}

export interface RestoreResult extends VerifiedArchive {
  attachments: { files: number; bytes: number };
  control: { files: number; bytes: number };
  /** Runs that arrived after the backup's moment, in projects that it does not have; removed. */
  removed_runs: number;
  /** Deployments that serve, and what the platform does about their builds at its next start. */
  deployments: { name: string; build: "restored" | "rebuilt" | "lost" }[];
}

/** What a data directory holds that a restore would write. */
const DATA = ["postgres", "chdb", "blobs", "control", "secrets.keys"];

export async function restoreBackup(request: RestoreRequest): Promise<RestoreResult> {
  const { location, from, onProgress } = request;
  const { dataDir, databaseUri, env = {} } = location;
  const attachments = blobDirectory(readOptions(blobOptions, env), dataDir);
  await rejectData(dataDir, attachments);

  onProgress("verifying the archive");
  let keys: Record<string, string> = {};
  const { passphrase, onlyAuthenticated = false } = request;
  const verified = await verifyArchive(from, env, {
    passphrase,
    onlyAuthenticated,
    onKeys(sealed) {
      if (request.withoutKeys) return;
      if (passphrase === undefined) {
        throw new Error(
          "The archive holds encrypted keys. Set HEDDLE_BACKUP_PASSPHRASE or --passphrase-file, or leave them out with " +
            "--without-keys.",
        );
      }
      keys = openKeys(sealed, passphrase);
    },
  });
  for (const warning of verified.warnings) onProgress(`WARNING ${warning}`);
  const { introduction } = verified;
  rejectOtherDatabase(introduction, databaseUri, env);

  await clearUnfinished(dataDir, attachments);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { uid, gid } = statSync(dataDir);
  // no other user may change what is being restored
  await chmod(dataDir, 0o700);
  await writeFile(restoreMarker(dataDir), `${verified.archive}\n`, { mode: 0o600 });
  const result = await load(request, verified, keys, attachments);
  // root restores for the user that the directory was made for
  if (process.getuid?.() === 0 && uid !== 0) {
    for (const directory of new Set([dataDir, attachments].filter((path) => existsSync(path))))
      await runProgram("chown", ["-hR", `${uid}:${gid}`, "--", directory]);
  }
  await rm(restoreMarker(dataDir));
  return result;
}

/** Throws when the installation holds data, and names it. */
async function rejectData(dataDir: string, attachments: string): Promise<void> {
  if (existsSync(restoreMarker(dataDir))) return;
  const found = DATA.map((name) => join(dataDir, name)).filter((path) => existsSync(path));
  if (attachments !== join(dataDir, "blobs") && (await readdir(attachments).catch(() => [])).length > 0) {
    found.push(attachments);
  }
  if (found.length === 0) return;
  throw new Error(
    `Heddle restores into an empty installation only, and this one holds data: ${found.join(", ")}. Name an empty ` +
      "directory with --data-dir, or move the data away. Nothing was changed.",
  );
}

function rejectOtherDatabase(
  { databases, traces_version }: Introduction,
  databaseUri: string | undefined,
  env: Record<string, string | undefined>,
): void {
  if (databases.length > 0 && databaseUri !== undefined) {
    throw new Error(
      "The archive holds the database, and DATABASE_URI names an external one. Unset it: the archive is restored into " +
        "the embedded Postgres of the data directory, from where pg_dump can take it to another server.",
    );
  }
  if (databases.length === 0 && databaseUri === undefined) {
    throw new Error(
      "The archive holds no database, because that was external. Restore your copy of it with pg_restore first, and set " +
        "DATABASE_URI.",
    );
  }
  if (traces_version !== null && env["CLICKHOUSE_URL"]) {
    throw new Error(
      "The archive holds the files of the embedded trace store, and CLICKHOUSE_URL names an external one. Unset it.",
    );
  }
}

/** Removes what an unfinished restore has written; the directory was empty before it. */
async function clearUnfinished(dataDir: string, attachments: string): Promise<void> {
  if (!existsSync(restoreMarker(dataDir))) return;
  if (existsSync(join(dataDir, "postgres")) && !(await stopAbandonedPostgres(dataDir))) {
    throw new Error(`Another restore into ${dataDir} is running.`);
  }
  for (const name of DATA) await rm(join(dataDir, name), { recursive: true, force: true });
  for (const name of await readdir(attachments).catch(() => [])) {
    await rm(join(attachments, name), { recursive: true, force: true });
  }
}

interface Loading {
  address: DatabaseAddress;
  manifest: Manifest;
  introduction: Introduction;
  result: RestoreResult;
  files: FileRestorer;
  loader: DatabaseLoader | undefined;
  database: string | undefined;
  finishDatabase(): Promise<void>;
}

async function load(
  { location, from, onProgress }: RestoreRequest,
  { manifest, ...verified }: Awaited<ReturnType<typeof verifyArchive>>,
  keys: Record<string, string>,
  attachments: string,
): Promise<RestoreResult> {
  const { dataDir, databaseUri, env = {} } = location;
  const { introduction } = verified;
  const result: RestoreResult = {
    ...verified,
    attachments: { files: 0, bytes: 0 },
    control: { files: 0, bytes: 0 },
    removed_runs: 0,
    deployments: [],
  };
  const embedded = databaseUri === undefined ? new EmbeddedPostgres({ dataDir, lingerSeconds: 5 }) : undefined;
  const address = embedded ? await embedded.start() : { uri: databaseUri!, socket: null };
  const loading: Loading = {
    address,
    manifest,
    introduction,
    result,
    files: new FileRestorer({
      blobs: attachments,
      control: join(dataDir, "control"),
      traces: join(dataDir, "chdb", WAITING_PARTS),
    }),
    loader: undefined,
    database: undefined,
    async finishDatabase() {
      const { loader } = this;
      if (!loader) return;
      this.loader = undefined;
      try {
        onProgress(`verifying the database ${this.database}`);
        await loader.finish(manifest);
        await loader.migrate(ownerOf(this.database!));
      } finally {
        await loader.close();
      }
    },
  };
  const leavesOut = isNotRestored(introduction, dataDir);
  const place = await openArchivePlace(from, readOptions(backupOptions, env));
  try {
    if (embedded) await createDeployments(address, introduction, manifest);
    const again = await readArchive(await place.read(), {
      async handle(entry, content) {
        if (!leavesOut(entry)) await restoreEntry(loading, entry, content, onProgress);
      },
    });
    if (JSON.stringify(again.manifest) !== JSON.stringify(manifest)) {
      throw new ArchiveError("The archive was replaced while it was read.");
    }
    await loading.finishDatabase();
    await loading.files.finish();
    await writeKeys(dataDir, env, keys);
    await finishStores(loading, location, onProgress);
    return result;
  } finally {
    place.close();
    await loading.loader?.close();
    await embedded?.stop();
  }
}

/**
 * Returns which entries are not needed here: builds that were made in another place or on another kind of machine, and
 * those of format 1, of which neither is known. The control plane builds them again.
 */
function isNotRestored({ format, builds }: Introduction, dataDir: string) {
  const hasBuilds = builds?.directory === join(realpathSync(dataDir), "control") && builds.machine === MACHINE;
  return ({ section, path, type }: PlacedEntry): boolean =>
    section === "control" &&
    (isPassing(path.join("/")) ||
      (!hasBuilds && path[0] === "builds" && path.length > 1) ||
      (format === 1 && type === "link"));
}

const ownerOf = (database: string): string | undefined => (database.startsWith("heddle_d_") ? database : undefined);

/** Creates the roles and empty databases of deployments, closed to all other roles. */
async function createDeployments(
  address: DatabaseAddress,
  { databases }: Introduction,
  { roles }: Manifest,
): Promise<void> {
  const connection = new CopyConnection(address, { name: "heddle restore" });
  const { sql } = connection;
  try {
    for (const { name, verifier, connections } of roles) {
      const password = verifier === null ? "" : ` password '${verifier.replaceAll("'", "''")}'`;
      await sql.unsafe(`create role ${quoted(name)} login${password} connection limit ${connections}`);
    }
    for (const { name } of databases) {
      if (ownerOf(name) === undefined) continue;
      await sql.unsafe(`create database ${quoted(name)} owner ${quoted(name)}`);
      await sql.unsafe(`revoke all on database ${quoted(name)} from public`);
    }
  } finally {
    await connection.close();
  }
}

async function restoreEntry(
  loading: Loading,
  entry: PlacedEntry,
  content: EntryContent,
  onProgress: (message: string) => void,
): Promise<void> {
  const { files, address, introduction, manifest, result } = loading;
  const [space, name = ""] = entry.section.split("/");
  if (space === "postgres") {
    if (loading.database !== name) {
      await loading.finishDatabase();
      const known = introduction.databases.find((database) => database.name === name);
      if (!known) throw new ArchiveError(`The archive holds the unknown database ${name}.`);
      onProgress(`database ${name}`);
      loading.loader = await DatabaseLoader.create(address, known, manifest, ownerOf(name));
      loading.database = name;
    }
    await loading.loader!.load(entry.path[0]!, content.chunks());
  } else if (space === "traces" || space === "blobs" || space === "control") {
    await files.restore(space, name, entry, content);
    if (entry.type !== "file") return;
    if (space === "control") count(result.control, entry);
    if (space === "blobs" && entry.name !== `blobs/${ID_FILE}`) count(result.attachments, entry);
  }
}

const count = (counts: { files: number; bytes: number }, { size }: TarEntry): void => {
  counts.files++;
  counts.bytes += size;
};

async function writeKeys(
  dataDir: string,
  env: Record<string, string | undefined>,
  files: Record<string, string>,
): Promise<void> {
  const { secretsKeyFile } = readOptions(secretsOptions, env);
  for (const [name, text] of Object.entries(files)) {
    const path =
      name === "secrets.keys" ? (secretsKeyFile ?? defaultKeyFile(dataDir)) : join(dataDir, "control", "tracing.key");
    if (existsSync(path)) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
  }
}

/** Brings the trace store and the mirror of feedback in line with the restored database. */
async function finishStores(
  loading: Loading,
  location: DataLocation,
  onProgress: (message: string) => void,
): Promise<void> {
  const { address, introduction, manifest, result } = loading;
  const { dataDir } = location;
  const sql = connect(address, { max: 2, name: "heddle restore", silenceMs: 0 });
  try {
    if (introduction.databases.length === 0) await migrateDatabase(address);
    if (introduction.traces_version !== null) {
      onProgress("attaching the traces");
      const clickhouse = await attachTraces(dataDir, sql, manifest, introduction.traces_version);
      try {
        result.removed_runs = await deleteOrphans(clickhouse, sql);
      } finally {
        await clickhouse.close();
      }
      await rm(join(dataDir, "chdb", WAITING_PARTS), { recursive: true, force: true });
    }
    await mirrorFeedback(sql);
    // copies of runs are not in the backup
    await resetHours(sql);
    // they belong to the installation that was backed up, which may still run them
    await endAllInstances(sql, "The platform was restored from a backup.");
    const builds = join(dataDir, "control", "builds");
    for (const serving of await servingRevisions(sql)) {
      const isThere = existsSync(join(builds, serving.artifact_id, "complete"));
      const build = isThere ? "restored" : hasSource(join(dataDir, "control"), serving) ? "rebuilt" : "lost";
      result.deployments.push({ name: serving.name, build });
    }
    await recordCommand(
      sql,
      createLog("warn"),
      "heddle restore",
      { created_at: introduction.created_at },
      { location },
    );
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** Has all feedback copied to the trace store again, which holds none after a restore. */
const mirrorFeedback = (sql: Sql) => sql`
  insert into feedback_changes (tenant_id, feedback_id, run_id)
  select tenant_id, feedback_id, run_id from feedback on conflict do nothing`;
