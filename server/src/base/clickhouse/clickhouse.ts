import { Readable } from "node:stream";

import type { ClickHouseClient, ClickHouseSettings, DataFormat } from "@clickhouse/client";

import type { FairShare, ShareSettings } from "../fair-share.ts";
import type { Param } from "./format-param.ts";
import { QueryLimiter } from "./query-limiter.ts";

export interface Query {
  /** Name in the query log, such as `runs.newest`. */
  name: string;
  query: string;
  params?: Record<string, Param>;
  settings?: ClickHouseSettings;
  /** Whether the answer depends on nothing but the data, neither on the time nor on chance. */
  isRepeatable?: boolean;
}

/** Setting that tells an embedded engine's connection that it may remember the answer. Never sent. */
export const REPEATABLE = "heddle_repeatable";

/** An engine that its first statement opens. */
export interface Wakeable {
  readonly isAsleep: boolean;
  readonly awake: Promise<void>;
}

/**
 * All access to ClickHouse: chDB in this process, a server or a cluster.
 *
 * Values are bound as parameters, `{name:Type}`. 64-bit integers are returned as numbers, decimals as text, times as
 * `YYYY-MM-DD hh:mm:ss.ffffff` in UTC.
 */
export class ClickHouse {
  readonly client: ClickHouseClient;
  /** Name of the cluster that holds the tables; empty for a single server. */
  readonly cluster: string;
  /** Whether the engine runs in this process. */
  readonly embedded: boolean;
  /** Limiter of callers' queries; the platform's own statements bypass it. */
  readonly limiter: QueryLimiter;
  /** Tenant charged for the statements; empty for the platform's own. */
  readonly tenantId: string;
  /**
   * Fair share of engine time among tenants. A server schedules its statements itself; chDB shares this process's CPUs.
   */
  readonly share: FairShare | undefined;
  /** Whether statements yield to other tenants' queries while their own tenant is above its share. */
  readonly isBackground: boolean;
  readonly #lazy: Wakeable | undefined;

  constructor(
    client: ClickHouseClient,
    options: {
      cluster: string;
      embedded: boolean;
      limiter?: QueryLimiter;
      tenantId?: string;
      share?: FairShare | undefined;
      isBackground?: boolean;
      lazy?: Wakeable | undefined;
    },
  ) {
    this.client = client;
    this.cluster = options.cluster;
    this.embedded = options.embedded;
    this.limiter = options.limiter ?? new QueryLimiter({ seconds: 60, atOnce: Infinity });
    this.tenantId = options.tenantId ?? "";
    this.share = options.share;
    this.isBackground = options.isBackground ?? false;
    this.#lazy = options.lazy;
  }

  /** Whether the engine is not open, because no statement has needed it. Housekeeping should then leave it so. */
  get isAsleep(): boolean {
    return this.#lazy?.isAsleep ?? false;
  }

  /** Resolves when the engine is open. */
  get awake(): Promise<void> {
    return this.#lazy?.awake ?? Promise.resolve();
  }

  /**
   * Returns the same store for one tenant: its queries queue among the tenant's, which is charged for the engine's
   * time.
   */
  forTenant(tenantId: string): ClickHouse {
    const { cluster, embedded, limiter, share } = this;
    return new ClickHouse(this.client, { cluster, embedded, limiter, tenantId, share });
  }

  /** Returns the same store for a tenant's background work, such as an export. */
  inBackgroundFor(tenantId: string): ClickHouse {
    const { cluster, embedded, limiter, share } = this;
    return new ClickHouse(this.client, { cluster, embedded, limiter, tenantId, share, isBackground: true });
  }

  /** Returns the same store with another limiter of callers' queries. */
  withLimiter(limiter: QueryLimiter): ClickHouse {
    const { cluster, embedded, share } = this;
    return new ClickHouse(this.client, { cluster, embedded, limiter, share, lazy: this.#lazy });
  }

  async rows<T>(query: Query): Promise<T[]> {
    const text = await this.text(query, "JSONEachRow");
    return text === "" ? [] : (JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as T[]);
  }

  /** Returns the answer in ClickHouse's own format, to be passed on unparsed. */
  async text(query: Query, format: DataFormat): Promise<string> {
    return scheduled(this, query, async (statement) => {
      const marked = this.embedded && query.isRepeatable && { settings: { ...statement.settings, [REPEATABLE]: 1 } };
      const result = await this.client.query({ ...request({ ...statement, ...marked }), format });
      return result.text();
    });
  }

  /** Executes a statement without an answer. Waits for mutations if `settings` say to. */
  async command(query: Query): Promise<void> {
    await scheduled(this, query, (statement) => this.client.command(request(statement)));
  }

  /**
   * Inserts rows given as lines of JSON objects. Resolves when they are durable and visible to queries: the tables'
   * settings make the engine sync its writes before it answers.
   */
  async insert(
    table: string,
    columns: readonly string[],
    lines: Buffer,
    settings: ClickHouseSettings = {},
  ): Promise<void> {
    if (lines.length === 0) return;
    const result = await this.client.exec({
      query: `insert into ${table} (${columns.join(", ")}) format JSONEachRow`,
      values: Readable.from([lines], { objectMode: false }),
      clickhouse_settings: settings,
    });
    result.stream.resume();
  }

  /**
   * Returns free memory of an embedded engine to the system, which takes 5 ms. Its allocator would keep the memory of a
   * large insert for some seconds: a sequence of 5 MB inserts took 220 MB, and 95 MB with releases (measured).
   */
  async releaseMemory(): Promise<void> {
    if (!this.embedded) return;
    // builds for some systems have another allocator; what was inserted before is stored in any case
    await this.command({ name: "memory.release", query: "system jemalloc purge" }).catch(() => {});
  }

  /** Table name for mutations: on a cluster the plain name is a view over the shards, which cannot be mutated. */
  mutable(table: string): string {
    return this.cluster === "" ? table : `${table}_local on cluster ${quoted(this.cluster)}`;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Executes a tenant's statement with the priority and threads of its share. */
async function scheduled<T>(
  { share, tenantId, isBackground }: ClickHouse,
  query: Query,
  execute: (query: Query) => Promise<T>,
): Promise<T> {
  if (!share || tenantId === "") return execute(query);
  if (isBackground && share.isAboveShare(tenantId)) await share.yieldToOthers(() => false);
  const limited = (settings: ShareSettings) => execute({ ...query, settings: { ...settings, ...query.settings } });
  return share.run(tenantId, limited, isBackground);
}

const request = ({ name, query, params = {}, settings = {} }: Query) => ({
  query: `/* ${name} */ ${query}`,
  query_params: params as Record<string, unknown>,
  clickhouse_settings: settings,
});

const quoted = (name: string): string => `\`${name.replaceAll("`", "")}\``;
