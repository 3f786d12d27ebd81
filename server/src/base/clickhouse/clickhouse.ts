import { Readable } from "node:stream";

import type { ClickHouseClient, ClickHouseSettings, DataFormat } from "@clickhouse/client";

import type { FairShare } from "../fair-share.ts";
import type { Param } from "./format-param.ts";
import { Questions } from "./questions.ts";

export interface Query {
  /** A name for the query log: `runs.newest`. */
  name: string;
  query: string;
  params?: Record<string, Param>;
  settings?: ClickHouseSettings;
}

/**
 * The one way to ClickHouse, whether it is chDB in this process, a server or a cluster.
 *
 * Values go in as parameters, `{name:Type}`. 64-bit integers come back as numbers, decimals as text, times as
 * `YYYY-MM-DD hh:mm:ss.ffffff` in UTC.
 */
export class ClickHouse {
  readonly client: ClickHouseClient;
  /** Name of the cluster that the tables are spread over; empty for a single server. */
  readonly cluster: string;
  /** Whether the engine runs in this process. */
  readonly embedded: boolean;
  /** What callers ask takes turns here; the platform's own statements do not. */
  readonly questions: Questions;
  /** The tenant whose statements these are; empty for the platform's own. */
  readonly tenantId: string;
  /** Engine time of the tenants. A server schedules its statements itself; chDB shares the processors of this process. */
  readonly share: FairShare | undefined;
  /** Whether statements start behind callers' queries of other tenants while their own tenant is above its share. */
  readonly isBackground: boolean;

  constructor(
    client: ClickHouseClient,
    options: {
      cluster: string;
      embedded: boolean;
      questions?: Questions;
      tenantId?: string;
      share?: FairShare | undefined;
      isBackground?: boolean;
    },
  ) {
    this.client = client;
    this.cluster = options.cluster;
    this.embedded = options.embedded;
    this.questions = options.questions ?? new Questions({ seconds: 60, atOnce: Infinity });
    this.tenantId = options.tenantId ?? "";
    this.share = options.share;
    this.isBackground = options.isBackground ?? false;
  }

  /** The same store, where questions wait among those of this tenant, which is charged for the engine's time. */
  askedBy(tenantId: string): ClickHouse {
    const { cluster, embedded, questions, share } = this;
    return new ClickHouse(this.client, { cluster, embedded, questions, tenantId, share });
  }

  /** The same store for a tenant's work that no caller waits for, such as an export. */
  inBackgroundFor(tenantId: string): ClickHouse {
    const { cluster, embedded, questions, share } = this;
    return new ClickHouse(this.client, { cluster, embedded, questions, tenantId, share, isBackground: true });
  }

  /** The same store with these bounds for what callers ask. */
  withQuestions(questions: Questions): ClickHouse {
    const { cluster, embedded, share } = this;
    return new ClickHouse(this.client, { cluster, embedded, questions, share });
  }

  async rows<T>(query: Query): Promise<T[]> {
    const text = await this.text(query, "JSONEachRow");
    return text === "" ? [] : (JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as T[]);
  }

  /** The answer as ClickHouse prints it, for what is passed on unparsed. */
  async text(query: Query, format: DataFormat): Promise<string> {
    return scheduled(this, query, async (statement) => {
      const result = await this.client.query({ ...request(statement), format });
      return result.text();
    });
  }

  /** A statement without an answer. Mutations are waited for when `settings` say so. */
  async command(query: Query): Promise<void> {
    await scheduled(this, query, (statement) => this.client.command(request(statement)));
  }

  /**
   * Rows as lines of JSON objects. Resolves when they are durable and queries see them: the tables' own settings
   * make the engine sync what it has written before it answers.
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

  /** Where a mutation must go: on a cluster the name stands for a view over the shards, which can't be mutated. */
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
  if (isBackground && share.isAboveShare(tenantId)) await share.giveWay(() => false);
  return share.run(tenantId, (settings) => execute({ ...query, settings: { ...settings, ...query.settings } }));
}

const request = ({ name, query, params = {}, settings = {} }: Query) => ({
  query: `/* ${name} */ ${query}`,
  query_params: params as Record<string, unknown>,
  clickhouse_settings: settings,
});

const quoted = (name: string): string => `\`${name.replaceAll("`", "")}\``;
