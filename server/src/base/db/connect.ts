import postgres from "postgres";

import { watchedSocket } from "../../../../graph-host/src/watched-socket.ts";
import { ARRAY_TYPES } from "./array-types.ts";
import { guardTransactions } from "./guarded-transaction.ts";

export type Sql = postgres.Sql<Record<string, never>>;
export type Transaction = postgres.TransactionSql<Record<string, never>>;

export interface DatabaseAddress {
  uri: string;
  /** Directory of the unix socket, which is faster than TCP; null where there is none. */
  socket: string | null;
}

export interface ConnectOptions {
  max?: number;
  name?: string;
  /** For statements whose every step goes by an index: planned once a connection, for good. */
  pinned?: boolean;
  /** A connection that gives no answer for this long is closed, and its statements fail as lost. 0: never. */
  silenceMs?: number;
  onNotify?: (channel: string, payload: string) => void;
  /** A connection was lost. */
  onClose?: () => void;
}

type Options = postgres.Options<Record<string, never>>;

/** Longer than any statement of a request takes; statements that take longer have a pool of their own. */
const SILENCE_MS = 60_000;

/** Plans are made once, for tables that may have been empty then: always by index. */
const PINNED_PLANS = {
  jit: "off",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
} as const;

/**
 * A pool on any Postgres 15 or newer. Sessions run in UTC, so that timestamps printed by Postgres inside JSON
 * are UTC.
 */
export function connect(database: DatabaseAddress, options: ConnectOptions = {}): Sql {
  const { silenceMs = SILENCE_MS, onNotify, onClose } = options;
  // the types of postgres.js leave these options out
  const own = {
    ...watchedSocket(silenceMs),
    ...(onNotify && { onnotify: onNotify }),
    ...(onClose && { onclose: onClose }),
  };
  const sql = postgres(database.uri, {
    ...own,
    ...(database.socket && { host: database.socket }),
    max: options.max ?? 10,
    onnotice: () => {},
    fetch_types: false,
    types: ARRAY_TYPES,
    // connections are kept: opening one costs more than most of our statements
    idle_timeout: 0,
    max_lifetime: null,
    // several round trips, which may be slow
    connect_timeout: 10,
    keep_alive: 5,
    // a database that restarts must be found again at once, not after a growing pause
    backoff: (attempt) => Math.min(0.05 * attempt, 0.5),
    connection: { application_name: options.name ?? "heddle", TimeZone: "UTC", ...(options.pinned && PINNED_PLANS) },
  } as Options);
  return guardTransactions(sql as unknown as Sql);
}
