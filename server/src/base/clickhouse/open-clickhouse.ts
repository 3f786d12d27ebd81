import { availableParallelism, totalmem } from "node:os";

import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  createClient,
} from "@clickhouse/client";

import { FairShare } from "../fair-share.ts";
import { ChdbConnection } from "./chdb-connection.ts";
import { checkChdb, type ChdbOptions, ChdbSessions, lockChdb } from "./chdb-sessions.ts";
import { ClickHouse } from "./clickhouse.ts";
import { LazyConnection } from "./lazy-connection.ts";

export interface ClickHouseOptions {
  /** `http[s]://user:password@host:port/database`; empty for chDB in this process. */
  url: string;
  /** Cluster name in the server's `remote_servers`; empty for a single server. */
  cluster: string;
  /** chDB only: data directory. */
  directory: string;
  /** chDB only: database name; for a server it is part of the URL. */
  database?: string;
  connections: number;
  /** chDB only: memory limit in bytes; 0: automatic. */
  maxMemory: number;
  /** chDB only: called while waiting for another process to release the directory. */
  onWait?: (message: string) => void;
  /**
   * chDB only: opens the engine, which takes 200 MB, at the first statement instead of now. Called with the opened
   * engine; all other statements wait for it.
   */
  onFirstUse?: (clickhouse: ClickHouse) => Promise<unknown>;
}

/** Settings that every statement relies on: formats of values, and one block per insert. */
const SETTINGS = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 1,
  output_format_json_escape_forward_slashes: 0,
  date_time_input_format: "best_effort",
  input_format_skip_unknown_fields: 0,
  // a run's start time decides its partition, and clients may send runs of many months at once
  max_partitions_per_insert_block: "0",
  do_not_merge_across_partitions_select_final: 1,
  session_timezone: "UTC",
  mutations_sync: "2",
  lightweight_deletes_sync: "2",
} as const;

/** Cluster only: an insert is answered when the shards have stored it, and subqueries see all shards. */
const CLUSTER_SETTINGS = {
  distributed_foreground_insert: 1,
  distributed_product_mode: "global",
  insert_quorum: "auto",
  insert_quorum_parallel: 1,
} as const;

/** chDB receives parameters inside the statement: 10,000 ids take 400 kB, and the engine's default limit is 256 KiB. */
const CHDB_MAX_STATEMENT_BYTES = 256 * 1024 * 1024;

/** Pause per block of a statement whose tenant is above its share, while others wait; then one block is processed. */
const PREEMPTED_MS = 100;

/** Opens chDB, or the server named by the URL. Throws when it does not answer. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  if (options.url !== "") return connectServer(options);
  const { directory, database = "default", connections, onWait } = options;
  const maxMemory = options.maxMemory || Math.min(4 * 1024 ** 3, Math.floor(totalmem() / 2));
  // parallel parsing takes 10 MB per thread, and inserts are too small to benefit
  // merges build the index of texts, which takes a fifth of an insert; parts that were never merged are read without it
  const cheapInserts = {
    max_insert_threads: 1,
    input_format_parallel_parsing: 0,
    exclude_materialize_skip_indexes_on_insert: "words",
  };
  const settings = {
    ...SETTINGS,
    ...cheapInserts,
    max_query_size: CHDB_MAX_STATEMENT_BYTES,
    low_priority_query_wait_time_ms: PREEMPTED_MS,
  };
  const engine = { directory, database, connections, settings, maxMemory, onWait };
  if (options.onFirstUse) return openLazily(engine, options.onFirstUse);
  const client = chdbClient(new ChdbConnection(await ChdbSessions.open(engine)));
  const share = new FairShare({ processors: await countThreads(client) });
  return new ClickHouse(client, { cluster: "", embedded: true, share });
}

async function openLazily(
  engine: ChdbOptions,
  onFirstUse: (clickhouse: ClickHouse) => Promise<unknown>,
): Promise<ClickHouse> {
  await checkChdb();
  const lock = await lockChdb(engine);
  const share = new FairShare({ processors: availableParallelism() });
  let opened: ChdbConnection | undefined;
  const connection = new LazyConnection({
    // once: a failure of `prepare` leaves an open engine
    open: async () => (opened ??= new ChdbConnection(await ChdbSessions.open(engine, lock))),
    async prepare(direct) {
      const client = chdbClient(direct);
      share.processors = await countThreads(client);
      await onFirstUse(new ClickHouse(client, { cluster: "", embedded: true }));
    },
    release: () => (opened ? void opened.close() : lock.release()),
  });
  return new ClickHouse(chdbClient(connection), { cluster: "", embedded: true, share, lazy: connection });
}

const chdbClient = (connection: NonNullable<ClickHouseClientConfigOptions["connection"]>): ClickHouseClient =>
  createClient({ connection, log: { level: ClickHouseLogLevel.OFF } });

/** Returns the number of threads that the engine uses for a statement. */
async function countThreads(client: ClickHouseClient): Promise<number> {
  const query = { name: "connect", query: "select toUInt64(getSetting('max_threads')) as threads" };
  const [engine] = await new ClickHouse(client, { cluster: "", embedded: true }).rows<{ threads: number }>(query);
  return engine!.threads;
}

async function connectServer({ url, cluster, connections }: ClickHouseOptions): Promise<ClickHouse> {
  const address = parseAddress(url);
  const database = decodeURIComponent(address.pathname.slice(1)) || "default";
  address.pathname = "/";
  const shared = {
    url: address.href,
    application: "heddle",
    request_timeout: 120_000,
    max_open_connections: connections,
    log: { level: ClickHouseLogLevel.OFF },
    use_multipart_params_auto: true,
    clickhouse_settings: { ...SETTINGS, ...(cluster !== "" && CLUSTER_SETTINGS), wait_end_of_query: 1 as const },
  };
  const client = createClient({ ...shared, database });
  const clickhouse = new ClickHouse(client, { cluster, embedded: false });
  try {
    if (database !== "default") await createDatabase(shared, database, cluster);
    await clickhouse.rows({ name: "connect", query: "select 1" });
  } catch (error) {
    await clickhouse.close();
    const { message, code } = error as Error & { code?: string };
    const explanation = `Cannot use the ClickHouse at ${address.host} (CLICKHOUSE_URL): ${message}`;
    throw Object.assign(new Error(explanation, { cause: error }), { code });
  }
  return clickhouse;
}

/** Throws without repeating the URL, which may contain a password. */
function parseAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address && /^https?:$/.test(address.protocol)) return address;
  throw new Error("CLICKHOUSE_URL must look like http[s]://user:password@host:8123/database");
}

async function createDatabase(
  options: Parameters<typeof createClient>[0],
  name: string,
  cluster: string,
): Promise<void> {
  const client = createClient(options);
  const onCluster = cluster === "" ? "" : ` on cluster \`${cluster.replaceAll("`", "")}\``;
  try {
    await client.command({ query: `create database if not exists \`${name.replaceAll("`", "")}\`${onCluster}` });
  } finally {
    await client.close();
  }
}
