/**
 * Servers that share a database, reduced to their part in the streams of runs: no queue and no graph hosts. The caller
 * chooses the server that executes a run.
 *
 *     const servers = await streamServers();
 *     const server = await servers.start();
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import postgres from "postgres";

import { insertAssistant } from "../src/agent/assistants/sql.ts";
import { joinStream, type ReaderDeps } from "../src/agent/runs/read-run.ts";
import { RunFollower } from "../src/agent/streams/run-follower.ts";
import { RunStreams } from "../src/agent/streams/run-streams.ts";
import { createRuns } from "../src/agent/runs/sql.ts";
import { StreamKeeper } from "../src/agent/streams/stream-keeper.ts";
import { flagIncompleteStream, takeOverStreams } from "../src/agent/streams/sql.ts";
import { readKept } from "../src/agent/streams/stream-backing.ts";
import { continueStream } from "../src/agent/runs/take-over.ts";
import { upsertServer } from "../src/agent/servers/sql.ts";
import { ARRAY_TYPES } from "../src/base/db/array-types.ts";
import type { Sql } from "../src/base/db/connect.ts";
import { SpillSpace } from "../src/base/events/spill-space.ts";
import { splitFrames } from "../src/base/events/sse.ts";
import { uuid7 } from "../src/base/ids.ts";
import { createLog } from "../src/base/log.ts";
import { atEnd } from "./at-end.ts";
import { type TestDatabase, testDatabase } from "./db.ts";

const log = createLog("silent");

export interface StreamServers {
  db: TestDatabase;
  start(): Promise<StreamServer>;
  /** Creates a run that this server executes. */
  newRun(server: StreamServer, temporary?: boolean): Promise<RunIds>;
}

export interface RunIds {
  runId: string;
  threadId: string;
}

export async function streamServers(): Promise<StreamServers> {
  const db = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-streams-"));
  const servers: StreamServer[] = [];
  atEnd(async () => {
    for (const server of servers) await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const assistantId = uuid7();
  const blank = { description: null, config: {}, context: {}, metadata: {} };
  await insertAssistant(db.sql, { assistant_id: assistantId, graph_id: "g", name: "g", ...blank });
  return {
    db,
    start() {
      const server = new StreamServer(db, dataDir);
      servers.push(server);
      return server.start();
    },
    async newRun(server, temporary = false) {
      const run = { runId: uuid7(), threadId: uuid7() };
      const common = { assistantId, kwargs: '{"resumable":true}', metadata: "{}", strategy: "enqueue" as const };
      const more = {
        createThread: true,
        afterSeconds: 0,
        temporary,
        describe: false,
        serverId: server.id,
        claim: true,
      };
      await createRuns(db.sql, [{ ...run, ...common, ...more }]);
      return run;
    },
  };
}

export class StreamServer {
  readonly id = uuid7();
  readonly sql: Sql;
  readonly streams: RunStreams;
  readonly keeper: StreamKeeper;
  readonly follower: RunFollower;
  readonly deps: ReaderDeps;
  readonly executes = new Set<string>();
  readonly dead: Promise<"dead">;
  #die!: () => void;
  #alive = true;

  constructor(db: TestDatabase, dataDir: string) {
    this.dead = new Promise((resolve) => (this.#die = () => resolve("dead")));
    this.sql = postgres(db.uri, { ...db.options, max: 3, onnotice: () => {}, fetch_types: false, types: ARRAY_TYPES });
    this.streams = new RunStreams(
      { dataDir, serverId: this.id, ttlSecs: 60, memoryMb: 16 },
      {
        // data beyond the memory limit exists only in the persisted stream
        space: new SpillSpace(0),
        readKept: (runId, from, count) => readKept(this.sql, runId, from, count),
        flagIncomplete: (runId, reason) => flagIncompleteStream(this.sql, runId, reason),
      },
    );
    this.keeper = new StreamKeeper({
      sql: this.sql,
      log,
      live: undefined,
      onLost: (stream) => void this.follower.follow(stream.runId),
    });
    this.follower = new RunFollower({
      sql: this.sql,
      streams: this.streams,
      log,
      serverId: this.id,
      keeper: this.keeper,
      live: undefined,
      isActive: (runId) => this.executes.has(runId),
      alone: () => false,
    });
    this.deps = {
      sql: this.sql,
      streams: this.streams,
      follower: this.follower,
      queue: { has: (id) => this.executes.has(id) },
    };
  }

  async start(): Promise<this> {
    await upsertServer(this.sql, {
      serverId: this.id,
      hostName: "here",
      slots: 100,
      process: "null",
      instanceId: null,
      internalUrl: "",
      graphs: ["g"],
    });
    const notice = (runId: string) => this.follower.onNotice(runId);
    await this.sql.listen("heddle_frames", notice);
    await this.sql.listen("heddle_done", notice);
    await this.sql.listen("heddle_want", (ids) => {
      for (const id of ids.split(",")) {
        const stream = this.streams.get(id);
        if (stream && this.executes.has(id)) this.keeper.want(stream);
      }
    });
    return this;
  }

  /** Starts or takes over a run, as the queue does with a claimed one. */
  async execute(runId: string, threadId: string, attempt: number, held = true): Promise<void> {
    this.executes.add(runId);
    const [kept] = attempt > 1 ? await takeOverStreams(this.sql, [{ runId, attempt }]) : [];
    const before = this.streams.open(runId);
    const stream = kept ? await continueStream(this, before, attempt, kept) : before;
    stream.execution = { threadId, attempt };
    if (held || kept) this.keeper.keep(stream, { ...stream.execution, stored: kept?.frames ?? 0, held: true });
    stream.append("metadata", JSON.stringify({ run_id: runId, attempt }));
  }

  /** Acts like kill -9: writes in flight may succeed or not. */
  die(): void {
    this.#alive = false;
    this.#die();
    void this.keeper.stop();
    void this.follower.stop();
    void this.sql.end({ timeout: 0 }).catch(() => {});
  }

  async stop(): Promise<void> {
    if (this.#alive) this.die();
    await this.streams.stop();
  }
}

/** Reads a run to its end. `cuts`: byte counts after which a connection breaks; `choose` picks the server for each. */
export async function readAll(run: RunIds, cuts: number[], choose: () => StreamServer | undefined): Promise<Buffer> {
  const whole: Buffer[] = [];
  let count = 0;
  for (let connection = 0; ; connection++) {
    const server = choose();
    if (!server) {
      await sleep(5);
      continue;
    }
    const ended = await readOnce(server, run, count, cuts[connection] ?? Number.POSITIVE_INFINITY, (frame) => {
      whole.push(frame);
      count += 1;
    });
    if (ended) return Buffer.concat(whole);
  }
}

async function readOnce(
  server: StreamServer,
  run: RunIds,
  seen: number,
  bytes: number,
  take: (frame: Buffer) => void,
): Promise<boolean> {
  const { dead } = server;
  const lastEventId = String(seen - 1);
  const asked = joinStream(server.deps, run.threadId, run.runId, { lastEventId });
  const response = await Promise.race([asked.catch(() => "dead" as const), dead]);
  if (response === "dead") return false;
  const reader = response.body!.getReader();
  let buffer = Buffer.alloc(0);
  let left = bytes;
  for (;;) {
    const chunk = await Promise.race([reader.read(), dead]);
    if (chunk === "dead") return false;
    if (chunk.done) return true;
    const got = Buffer.from(chunk.value).subarray(0, left);
    left -= got.length;
    buffer = Buffer.concat([buffer, got]);
    const end = buffer.lastIndexOf("\n\n") + 2;
    if (end >= 2) {
      const frames = splitFrames(buffer.subarray(0, end)).map(({ frame }) => frame);
      // heartbeats are comments
      for (const frame of frames) if (frame[0] !== 0x3a) take(frame);
      buffer = buffer.subarray(end);
    }
    if (left <= 0) {
      await reader.cancel();
      return false;
    }
  }
}
