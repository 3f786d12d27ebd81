import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { connect, type Sql } from "../../base/db/connect.ts";
import { MIGRATIONS } from "../../base/db/migrate.ts";
import { openDatabase } from "../../base/db/open-database.ts";
import { restoreMarker } from "../../base/db/unfinished-restore.ts";
import { createLog } from "../../base/log.ts";
import { selectKeys } from "../../base/secrets/sql.ts";
import { openKeyring } from "../../base/secrets/secrets.ts";
import { defaultKeyFile, readKeyFile } from "../../base/secrets/key-file.ts";
import { failure, type Finding, type Findings, ok, reason, skipped, warning } from "./finding.ts";
import type { DoctorSettings } from "./read-settings.ts";

/** A waited run takes about three round trips. */
const SLOW_ROUND_TRIP_MS = 5;
/** Leases are judged by the database's clock; times of traces and tokens by the server's. */
const CLOCK_WARNING_MS = 1000;
const CLOCK_ERROR_MS = 60_000;
/** Connections of a server besides its pool: of each graph host, listeners and the deployment's own. */
const BESIDE_POOL = 20;

/**
 * Checks the database that the servers use: the named one, or the data directory's embedded one, which is started for
 * the check when it does not run. Nothing is migrated or written.
 */
export async function* checkDatabase(settings: DoctorSettings): Findings {
  const { dataDir, databaseUri } = settings;
  if (existsSync(restoreMarker(dataDir))) {
    const advice = "Run heddle restore again, which starts over, or delete the directory.";
    return yield failure("restore", `A restore into ${dataDir} has not finished, and no server starts on it.`, advice);
  }
  if (databaseUri === undefined && !existsSync(join(dataDir, "postgres"))) {
    return yield skipped("postgres", "There is no embedded Postgres yet; the first start creates it.");
  }
  const log = createLog("silent");
  let database: Awaited<ReturnType<typeof openDatabase>>;
  try {
    database = await openDatabase({ dataDir, uri: databaseUri, log });
  } catch (error) {
    // some errors name the command that helps
    const [, command] = (error as Error).message.split("\n");
    const advice = /^ {2}\w/.test(command ?? "") ? `Run: ${command!.trim()}` : unreachableAdvice(settings);
    return yield failure("postgres", `Postgres cannot be reached: ${reason(error).replace(/:$/, "")}.`, advice);
  }
  try {
    const sql = connect(database.address, { max: 1, name: "heddle doctor" });
    try {
      yield* examine(sql, settings);
    } catch (error) {
      yield failure("postgres", `A query failed: ${reason(error)}.`, "See the log of Postgres.");
    } finally {
      await sql.end({ timeout: 2 });
    }
  } finally {
    await database.close();
  }
}

const unreachableAdvice = ({ databaseUri, dataDir }: DoctorSettings): string =>
  databaseUri === undefined
    ? `See ${join(dataDir, "postgres", "postgres.log")}.`
    : "Check host, port, user, password and firewall of DATABASE_URI (--postgres-uri).";

interface ServerFacts {
  version: string;
  major: number;
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  max_connections: number;
  used: number;
  recovery: boolean;
  has_vector: boolean;
  installed_vector: boolean;
  may_create: boolean;
  may_extend: boolean;
  database: string;
  role: string;
}

async function* examine(sql: Sql, settings: DoctorSettings): Findings {
  const [facts] = await sql<ServerFacts[]>`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as major,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('max_connections')::int as max_connections,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      pg_is_in_recovery() as recovery,
      exists (select from pg_available_extensions where name = 'vector') as has_vector,
      exists (select from pg_extension where extname = 'vector') as installed_vector,
      has_schema_privilege('public', 'create') as may_create,
      has_database_privilege(current_database(), 'create') as may_extend,
      quote_ident(current_database()) as database, quote_ident(current_user) as role`;
  yield* checkServer(facts!, settings);
  yield await checkRoundTrip(sql);
  yield await checkClock(sql);
  yield* checkSchema(sql);
  yield* checkStoredSecrets(sql, settings);
}

function* checkServer(facts: ServerFacts, { databasePool }: DoctorSettings): Generator<Finding> {
  yield facts.major < 15
    ? failure("postgres", `Postgres ${facts.version} is too old.`, "Use Postgres 15 or newer.")
    : ok("postgres", `Postgres ${facts.version} answers.`);
  if (facts.recovery) {
    yield failure("postgres.primary", "This is a read-only standby.", "Name the primary in DATABASE_URI.");
  }
  const unsafe = (["fsync", "full_page_writes", "synchronous_commit"] as const).filter((name) => facts[name] === "off");
  yield unsafe.length > 0
    ? failure(
        "postgres.durability",
        `${unsafe.join(" and ")} ${unsafe.length === 1 ? "is" : "are"} off: acknowledged data is lost in a crash.`,
        "Set to on in postgresql.conf, for the role and for the database, and reload.",
      )
    : ok("postgres.durability", "Commits are durable (fsync, full_page_writes, synchronous_commit).");
  const figures = { max_connections: facts.max_connections, used: facts.used };
  const needed = databasePool + BESIDE_POOL;
  yield facts.max_connections - facts.used < needed
    ? warning(
        "postgres.connections",
        `${facts.used} of ${facts.max_connections} connections are in use; a server takes up to ${needed}.`,
        "Raise max_connections of Postgres, or lower HEDDLE_DATABASE_POOL.",
        figures,
      )
    : ok("postgres.connections", `${facts.used} of ${facts.max_connections} connections are in use.`, figures);
  if (facts.installed_vector) yield ok("postgres.vector", "The extension vector is installed.");
  else if (facts.has_vector && facts.may_extend) yield ok("postgres.vector", "The extension vector is available.");
  else if (facts.has_vector) {
    yield warning(
      "postgres.vector",
      "The extension vector is available, but this user may not create it: semantic search works without it, slower.",
      `As the owner of the database, run: grant create on database ${facts.database} to ${facts.role}`,
    );
  } else
    yield skipped(
      "postgres.vector",
      "The extension vector is not available; semantic search works without it, slower.",
    );
  if (!facts.may_create) {
    yield failure(
      "postgres.privileges",
      "The user may not create tables in this database.",
      `As the owner of the database, run: grant create on schema public to ${facts.role}`,
    );
  }
}

async function checkRoundTrip(sql: Sql): Promise<Finding> {
  const times: number[] = [];
  for (let index = 0; index < 20; index++) {
    const start = performance.now();
    await sql`select 1`;
    times.push(performance.now() - start);
  }
  const median_ms = Number(times.sort((a, b) => a - b)[10]!.toFixed(2));
  const message = `A round trip takes ${median_ms} ms (median of 20).`;
  return median_ms > SLOW_ROUND_TRIP_MS
    ? warning("postgres.latency", message, "Run the servers in the same zone as Postgres.", { median_ms })
    : ok("postgres.latency", message, { median_ms });
}

/** Compares the clocks at the middle of the quickest of five round trips. */
async function checkClock(sql: Sql): Promise<Finding> {
  let best = { roundTrip: Infinity, skew: 0 };
  for (let index = 0; index < 5; index++) {
    const before = Date.now();
    const start = performance.now();
    const [row] = await sql<{ now: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    const roundTrip = performance.now() - start;
    if (roundTrip < best.roundTrip) best = { roundTrip, skew: before + roundTrip / 2 - row!.now };
  }
  const skew_ms = Math.round(best.skew);
  const message =
    Math.abs(skew_ms) < 5
      ? "This machine's clock agrees with that of Postgres."
      : `This machine's clock is ${Math.abs(skew_ms)} ms ${skew_ms > 0 ? "ahead of" : "behind"} that of Postgres.`;
  const advice = "Synchronize the clocks of both machines (chrony, systemd-timesyncd).";
  if (Math.abs(skew_ms) > CLOCK_ERROR_MS) return failure("postgres.clock", message, advice, { skew_ms });
  if (Math.abs(skew_ms) > CLOCK_WARNING_MS) return warning("postgres.clock", message, advice, { skew_ms });
  return ok("postgres.clock", message, { skew_ms });
}

async function* checkSchema(sql: Sql): Findings {
  const check = "postgres.schema";
  const newest = Math.max(
    ...readdirSync(MIGRATIONS).flatMap((name) => (/^\d{4}_.+\.sql$/.test(name) ? [Number.parseInt(name, 10)] : [])),
  );
  if (!(await hasTable(sql, "heddle_migrations"))) {
    return yield ok(check, "The database has no schema yet; the first start creates it.");
  }
  const [row] = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from heddle_migrations`;
  const version = row!.version;
  if (version > newest) {
    yield failure(
      check,
      `The schema has version ${version}; this Heddle supports up to ${newest}.`,
      "Start the newer Heddle that migrated it, or use another database.",
    );
  } else if (version < newest) {
    yield warning(check, `The schema has version ${version} of ${newest}.`, "The next start of a server migrates it.");
  } else yield ok(check, `The schema is current (version ${version}).`);
}

/** Checks that the keys of all stored secrets are at hand, as a server's start does. */
async function* checkStoredSecrets(sql: Sql, { dataDir, secrets }: DoctorSettings): Findings {
  if (!(await hasTable(sql, "secret_keys"))) return;
  const known = (await selectKeys(sql)).filter((key) => key.secrets > 0);
  const total = known.reduce((sum, key) => sum + key.secrets, 0);
  if (total === 0) return;
  const check = "secrets-keys.stored";
  const path = secrets.secretsKeyFile ?? defaultKeyFile(dataDir);
  const canOpen = Boolean(secrets.secretsKeys) || readKeyFile(path) !== null;
  const keyring = canOpen ? openKeyring(secrets, dataDir, createLog("silent"), known) : undefined;
  const missing = known.filter((key) => !keyring?.find(key.key_id)?.checkValue.equals(key.check_value));
  yield missing.length === 0
    ? ok(check, `All ${total} stored secrets can be opened.`)
    : failure(
        check,
        `${missing.reduce((sum, key) => sum + key.secrets, 0)} of ${total} stored secrets are encrypted with keys that ` +
          `are not in ${keyring?.source ?? path}: ${missing.map((key) => key.key_id).join(", ")}.`,
        "Restore the key file from its backup, or add the keys to HEDDLE_SECRETS_KEYS.",
      );
}

async function hasTable(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ exists: boolean }[]>`select to_regclass(${name}) is not null as exists`;
  return row!.exists;
}
