import { chmodSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Language } from "./language.ts";
import { FaultProxy } from "../faults/fault-proxy.ts";
import { FleetServer } from "./fleet-server.ts";
import type { History } from "./history.ts";
import { now } from "./now.ts";
import { PostgresProcess } from "./postgres-process.ts";
import { RedisProcess } from "../faults/redis-process.ts";
import { stablePort } from "./stable-port.ts";
import { mayMount, SmallDisk } from "./small-disk.ts";

export const SERVER_NAMES = ["api", "worker1", "worker2"] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

/** The first executes almost nothing; the second also serves reads; the third only answers health checks. */
const SERVERS = {
  api: { role: "agent", jobs: 1 },
  worker1: { role: "agent", jobs: 30 },
  worker2: { role: "worker", jobs: 30 },
} as const;

const ENVIRONMENT = {
  HEDDLE_HOSTS: "1",
  HEDDLE_LEASE_MS: "5000",
  // the fleet's disks are small
  HEDDLE_MIN_FREE_DISK_MB: "4",
  // a run that is hit many times by chance must not exhaust its attempts
  HEDDLE_RUN_MAX_ATTEMPTS: "1000",
  HEDDLE_OUTBOUND_ALLOW: "127.0.0.1",
  HEDDLE_WEBHOOK_TIMEOUT_MS: "2000",
  HEDDLE_WEBHOOK_RETRY_MS: "300",
  HEDDLE_WEBHOOK_MAX_ATTEMPTS: "40",
  HEDDLE_CRON_SKIP_WAITING: "false",
  // stored streams are read after everything has settled
  RESUMABLE_STREAM_TTL_SECONDS: "36000",
  HEDDLE_STREAM_MEMORY_MB: "1",
  HEDDLE_LOG_LEVEL: "warn",
  NODE_NO_WARNINGS: "1",
};

export interface FleetDisks {
  postgres?: SmallDisk | undefined;
  servers: Partial<Record<ServerName, SmallDisk>>;
}

const mount = (directory: string, name: string, megabytes: number): SmallDisk | undefined =>
  mayMount() ? SmallDisk.mount(join(directory, name), megabytes) : undefined;

/** Three servers, Postgres, Redis and the proxies between them, all in one directory. */
export class Fleet {
  readonly directory: string;
  /** Language of the graphs. */
  readonly language: Language;
  readonly flow: boolean;
  readonly ledger: string;
  readonly postgres: PostgresProcess;
  readonly redis: RedisProcess;
  readonly disks: FleetDisks;
  readonly servers = {} as Record<ServerName, FleetServer>;
  readonly clientProxies = {} as Record<"api" | "worker1", FaultProxy>;
  #isStopping = false;

  private constructor(
    directory: string,
    language: Language,
    flow: boolean,
    postgres: PostgresProcess,
    redis: RedisProcess,
    disks: FleetDisks,
  ) {
    this.directory = directory;
    this.language = language;
    this.flow = flow;
    this.ledger = join(directory, "ledger.jsonl");
    this.postgres = postgres;
    this.redis = redis;
    this.disks = disks;
  }

  /** Creates the directory that holds all files of a run. */
  static makeDirectory(): string {
    const directory = mkdtempSync(join(tmpdir(), "heddle-chaos-"));
    // Postgres does not run as root, and its user needs access to its data
    chmodSync(directory, 0o755);
    return directory;
  }

  static async start(directory: string, history: History, language: Language, flow: boolean): Promise<Fleet> {
    const disks: FleetDisks = { postgres: mount(directory, "postgres", 768), servers: {} };
    const postgres = await PostgresProcess.create(join(directory, "postgres"));
    mkdirSync(join(directory, "redis"), { recursive: true });
    const redis = new RedisProcess(await stablePort(), join(directory, "redis"));
    const fleet = new Fleet(directory, language, flow, postgres, redis, disks);
    try {
      await fleet.#startServers(history);
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  async #startServers(history: History): Promise<void> {
    const { directory, language, flow, postgres, redis, disks } = this;
    await redis.start();
    for (const name of SERVER_NAMES) {
      disks.servers[name] = mount(directory, name, 24);
      const postgresProxy = await FaultProxy.start(postgres.port, "postgres");
      const redisProxy = await FaultProxy.start(redis.port, "other");
      const server = await FleetServer.create({
        name,
        ...SERVERS[name],
        directory,
        language,
        flow,
        ledger: this.ledger,
        databaseUri: postgres.uri(postgresProxy.port),
        redisUri: `redis://127.0.0.1:${redisProxy.port}/0`,
        postgresProxy,
        redisProxy,
        env: ENVIRONMENT,
        onExit: (exited, how) => {
          // Ctrl-C in a terminal reaches the servers too
          if (this.#isStopping) return;
          history.exit({ t: now(), server: exited.name, how, log: exited.log() });
          void exited.start().catch(() => {});
        },
      });
      this.servers[name] = server;
      if (name !== "worker2") this.clientProxies[name] = await FaultProxy.start(server.port, "other");
    }
    // the first server runs the migrations
    await this.servers.api.start();
    await Promise.all([this.servers.worker1.start(), this.servers.worker2.start()]);
  }

  /** Address of a server for clients, through its proxy. */
  url(server: "api" | "worker1"): string {
    return `http://127.0.0.1:${this.clientProxies[server].port}`;
  }

  /** Resolves when all processes run and every server has been ready for a while. */
  async untilSteady(): Promise<void> {
    await this.postgres.start();
    await Promise.all(Object.values(this.servers).map((server) => server.untilSteady()));
  }

  /** Marks the fleet as stopping: servers that exit are no longer restarted. */
  expectEnd(): void {
    this.#isStopping = true;
  }

  async stop(): Promise<void> {
    this.expectEnd();
    const quietly = (work: Promise<unknown>) => work.catch(() => {});
    await Promise.all(Object.values(this.servers).map((server) => quietly(server.stop())));
    const proxies = Object.values(this.servers).flatMap((server) => [server.postgresProxy, server.redisProxy]);
    await Promise.all([...proxies, ...Object.values(this.clientProxies)].map((proxy) => quietly(proxy.stop())));
    await quietly(this.redis.kill());
    await quietly(this.postgres.stop());
    for (const disk of [this.disks.postgres, ...Object.values(this.disks.servers)]) disk?.unmount();
  }
}
