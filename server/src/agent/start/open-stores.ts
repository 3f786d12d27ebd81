import type { StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import { ConfigError } from "../../base/config/options.ts";
import { connect, type DatabaseAddress, type Sql } from "../../base/db/connect.ts";
import { LiveFrames } from "../../base/events/live-frames.ts";
import { isPassing } from "../../base/db/retry.ts";
import { coerceError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Started } from "../../base/started.ts";
import type { AgentSettings } from "../settings.ts";

/** Exceeds the longest statement of a request: a state update holds its thread for 15 s. */
const SILENCE_MS = 20_000;
/**
 * Time after which Postgres releases what a transaction of a frozen server has locked, such as a thread. Exceeds the
 * longest pause between two statements: a state update may wait for a host for 15 s, and as long for its result.
 */
const IDLE_TRANSACTION_MS = 35_000;
/** Limit for statements that hardly ever wait. */
const HOT_SILENCE_MS = 10_000;
/** Ends of all runs may wait for one connection, and a cancel takes effect within 2 s. */
const HOT_START_MS = 2_000;

export interface AgentStores {
  sql: Sql;
  /** For statements of every run: creates are serialized, and so are ends. */
  hotSql: Sql;
  /** For heartbeats and claims: a dead connection must be noticed within the lease. */
  leaseSql: Sql;
  /** For frames, which are written one statement at a time, on a connection separate from the queue's. */
  framesSql: Sql;
  /** Fast path of frames between servers; undefined without Redis. */
  live: LiveFrames | undefined;
}

/** Opens the connection pools and Redis. Nothing is sent to the database yet. */
export async function openStores(
  { database, settings, log }: { database: DatabaseAddress; settings: AgentSettings; log: Log },
  cipher: () => StateCipher | undefined,
  started: Started,
): Promise<AgentStores> {
  const { databasePool, leaseMs, redisUri } = settings;
  const sql = connect(database, {
    max: databasePool,
    name: "heddle server",
    cipher,
    silenceMs: SILENCE_MS,
    idleTransactionMs: IDLE_TRANSACTION_MS,
  });
  const hot = { silenceMs: HOT_SILENCE_MS, startMs: HOT_START_MS };
  const hotSql = connect(database, { ...hot, cipher, max: 2, name: "heddle queue", pinned: true });
  const leaseSql = connect(database, { cipher, max: 2, name: "heddle lease", silenceMs: leaseMs / 2 });
  const framesSql = connect(database, { ...hot, cipher, max: 1, name: "heddle frames" });
  started.add(() => Promise.all([sql, hotSql, leaseSql, framesSql].map((pool) => pool.end({ timeout: 2 }))));
  const live = redisUri === undefined ? undefined : await connectLive(redisUri, log);
  started.add(async () => live?.close());
  return { sql, hotSql, leaseSql, framesSql, live };
}

/** Opens a connection of each pool: what the database or a pooler rejects is found at the start, not by a run. */
export async function tryStores({ sql, hotSql, leaseSql, framesSql }: AgentStores): Promise<void> {
  try {
    await Promise.all([sql, hotSql, leaseSql, framesSql].map((pool) => pool`select 1`));
  } catch (error) {
    if (isPassing(error)) throw error;
    const { message } = coerceError(error);
    throw new ConfigError(
      `The database rejected a connection: ${message}.` +
        (/startup parameter/.test(message) ? " Connect to PgBouncer without TLS (see docs/production.md)." : ""),
    );
  }
}

const connectLive = (uri: string, log: Log): Promise<LiveFrames> =>
  LiveFrames.connect(uri, log).catch((error: unknown) => {
    throw new ConfigError((error as Error).message);
  });
