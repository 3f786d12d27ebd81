import postgres from "postgres";

import { repairResults } from "../../../../host-kit/src/dense-results.ts";
import type { StateCipher } from "../../../../host-kit/src/state-cipher.ts";
import { watchedSocket } from "../../../../host-kit/src/watched-socket.ts";
import { ARRAY_TYPES } from "./array-types.ts";
import { guardTransactions } from "./guarded-transaction.ts";
import { openingTypes, rememberCipher } from "./sealed-values.ts";

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;

export interface DatabaseAddress {
  uri: string;
  /** Directory of the Unix socket, which is faster than TCP; null when there is none. */
  socket: string | null;
}

export interface ConnectOptions {
  max?: number;
  name?: string;
  /** For statements that use an index in every step: planned once per connection, permanently. */
  pinned?: boolean;
  /** Time without an answer after which a connection is closed and its statements fail as lost. 0: never. */
  silenceMs?: number;
  /** Time for the first attempt to establish a session. Default 10 s; shorter only where all callers retry. */
  startMs?: number;
  /**
   * Time without a statement after which Postgres rolls back an open transaction and closes its connection: the locks of
   * a process that is frozen or unreachable must not stop the others. Default: unlimited.
   */
  idleTransactionMs?: number;
  onNotify?: (channel: string, payload: string) => void;
  /** Decrypts encrypted values in results, and encrypts those for which statements ask (sealed-values.ts). */
  cipher?: (() => StateCipher | undefined) | undefined;
  /** Called when a connection was lost. */
  onClose?: () => void;
}

type Options = postgres.Options<Record<string, never>>;

/** Longer than any statement of a request; statements that take longer have a separate pool. */
const SILENCE_MS = 60_000;

/** Forces index plans, as plans are made once, for tables that may have been empty then. */
const PINNED_PLANS = {
  jit: "off",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
} as const;

/** Opens a pool on any Postgres 15 or newer. Sessions run in UTC, so that timestamps in Postgres' JSON are UTC. */
export function connect(database: DatabaseAddress, options: ConnectOptions = {}): Sql {
  const { silenceMs = SILENCE_MS, startMs, onNotify, onClose, cipher } = options;
  const opening = cipher && openingTypes(cipher);
  // options missing from the types of postgres.js
  const own = {
    ...watchedSocket(database.uri, silenceMs, startMs, {
      ...(options.idleTransactionMs !== undefined && {
        idle_in_transaction_session_timeout: options.idleTransactionMs,
      }),
      ...(options.pinned && PINNED_PLANS),
    }),
    ...(onNotify && { onnotify: onNotify }),
    ...(onClose && { onclose: onClose }),
  };
  const sql = postgres(database.uri, {
    ...own,
    ...(database.socket && { host: database.socket }),
    max: options.max ?? 10,
    onnotice: () => {},
    fetch_types: false,
    types: { ...ARRAY_TYPES, ...opening?.types } as object as Record<never, never>,
    ...(opening && { transform: opening.transform }),
    // connections are kept: opening one costs more than most of our statements
    idle_timeout: 0,
    max_lifetime: null,
    // several round trips, which may be slow
    connect_timeout: 10,
    keep_alive: 5,
    // reconnect promptly to a restarted database, without a growing delay
    backoff: (attempt) => Math.min(0.05 * attempt, 0.5),
    connection: {
      application_name: options.name ?? "heddle",
      TimeZone: "UTC",
    },
  } as Options);
  repairResults(sql);
  if (cipher) rememberCipher(sql as unknown as Sql, cipher);
  return guardTransactions(sql as unknown as Sql);
}

/**
 * Opens one more connection like those of the pool, for settings of a session. It replaces `sql.reserve()`: postgres.js
 * ends the process when a statement is sent on a reserved connection that was lost. The caller ends it.
 */
export function ownConnection(sql: Sql): Sql {
  const own = postgres({ ...sql.options, max: 1 } as unknown as Options);
  repairResults(own);
  return guardTransactions(own as unknown as Sql);
}
