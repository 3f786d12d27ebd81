/**
 * The part of an agent server that works on Postgres, without HTTP and without graph hosts: its pools, lease, listener,
 * admission, claims, checkpoint writer, stored streams and sweep are the server's own modules. What a graph host would
 * do between a run's start and its end is a checkpoint of the input and one of a step.
 */
import { setImmediate as turn } from "node:timers/promises";

import { CheckpointDatabase } from "../../../graph-host/src/checkpoints/checkpoint-database.ts";
import type { WriteItem } from "../../../graph-host/src/checkpoints/rows.ts";
import type { GraphHosts } from "../../src/agent/hosts/graph-hosts.ts";
import { RunAdmission } from "../../src/agent/runs/admit-run.ts";
import { type Claim, CLAIM_MS, RunClaimer } from "../../src/agent/runs/claim-runs.ts";
import { primeQueue } from "../../src/agent/runs/prime-queue.ts";
import type { RunQueueOptions } from "../../src/agent/runs/queue-options.ts";
import { type BegunRun, metadataOf, toActiveRun } from "../../src/agent/runs/start-run.ts";
import { ServerLease } from "../../src/agent/servers/server-lease.ts";
import { agentOptions } from "../../src/agent/settings.ts";
import { openStores, tryStores } from "../../src/agent/start/open-stores.ts";
import { RunStreams } from "../../src/agent/streams/run-streams.ts";
import { StreamKeeper } from "../../src/agent/streams/stream-keeper.ts";
import { StreamSweeper } from "../../src/agent/streams/stream-sweeper.ts";
import { readOptions } from "../../src/base/config/options.ts";
import type { DatabaseAddress } from "../../src/base/db/connect.ts";
import { Listener } from "../../src/base/db/listener.ts";
import { deferred, type Deferred } from "../../src/base/deferred.ts";
import { uuid7 } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { Poller } from "../../src/base/polling/poller.ts";
import { Started } from "../../src/base/started.ts";

export const GRAPH = "simulated";
/** Frames of a run with a stored stream, and the turns of the event loop in which they arrive. */
const FRAMES = 20;
const BURSTS = 4;

const log = createLog("error");
const settings = readOptions(agentOptions, {});
/** A host is always free. */
const hosts = () => ({ hasCapacity: true, runnable: [GRAPH] }) as unknown as GraphHosts;

export interface SimulatedRun {
  threadId: string;
  assistantId: string;
  /** Its frames are stored. */
  resumable: boolean;
  /** It is not started by its creation, as if no slot were free there: any server claims it. */
  queued: boolean;
}

/** Durations in milliseconds. */
export interface Durations {
  accept: number[];
  /** From the creation of a queued run to its claim. */
  claim: number[];
  end: number[];
}

/** Runs that clients wait for, over all servers. */
const waiting = new Map<string, { done: Deferred<void>; acceptedAt: number; resumable: boolean }>();

export class SimulatedServer {
  readonly id = uuid7();
  readonly durations: Durations = { accept: [], claim: [], end: [] };
  readonly #started = new Started();
  readonly #active = new Map<string, unknown>();
  /** The newest checkpoint of threads that this server's host has in memory. */
  readonly #heads = new Map<string, string>();
  #lease!: ServerLease;
  #claimer!: RunClaimer;
  #admission!: RunAdmission;
  #checkpoints!: CheckpointDatabase;
  #streams!: RunStreams;
  #keeper!: StreamKeeper;

  /** @param dataDir for frames that exceed the memory */
  async start(database: DatabaseAddress, dataDir: string, assistantId: string): Promise<this> {
    const stores = await openStores({ database, settings, log }, () => undefined, this.#started);
    const listener = new Listener(database, {
      log,
      channels: {
        heddle_queue: () => this.#claimer.onAnnounced(),
        heddle_cancel: () => {},
        heddle_done: () => {},
        heddle_frames: () => {},
        heddle_want: () => {},
      },
      onGap: () => this.#claimer.wake(),
    });
    this.#lease = new ServerLease({
      ...{ sql: stores.sql, leaseSql: stores.leaseSql, log, serverId: this.id, leaseMs: settings.leaseMs },
      ...{ maxFailures: settings.maxFailures, internalUrl: "", instanceId: undefined, slots: settings.jobs },
      graphs: () => [GRAPH],
      onLost: () => {
        throw new Error("a simulated server lost its lease");
      },
      onReleased: () => this.#claimer.wake(),
      onBeat: () => {},
      onOlderServers: () => {},
      onLostTrace: () => {},
    });
    const queue = {
      ...{ ...stores, log, settings, serverId: this.id, hosts },
      alone: () => this.#lease.alone,
      servers: () => this.#lease.servers,
      lowestLoadElsewhere: () => this.#lease.lowestLoadElsewhere,
    } as unknown as RunQueueOptions;
    const claims = new Poller({ pass: () => this.#claim(), everyMs: CLAIM_MS, log, failing: "could not claim runs" });
    this.#claimer = new RunClaimer(queue, this.#active, claims);
    this.#admission = new RunAdmission(queue);
    this.#checkpoints = new CheckpointDatabase(database.uri, { socket: database.socket });
    this.#started.add(() => this.#checkpoints.close());
    const { streamTtlSecs: ttlSecs, streamMemoryMb: memoryMb } = settings;
    this.#streams = new RunStreams({ dataDir, ttlSecs, memoryMb, serverId: this.id });
    this.#started.add(() => this.#streams.stop());
    this.#keeper = new StreamKeeper({
      ...{ sql: stores.framesSql, endSql: stores.hotSql, log, live: undefined },
      notify: () => !this.#lease.alone,
      onLost: () => {},
    });
    this.#started.add(() => this.#keeper.stop());
    const sweeper = new StreamSweeper(stores.sql, log, ttlSecs);
    this.#started.add(() => sweeper.stop());
    this.#started.add(() => listener.stop());
    this.#started.add(() => this.#lease.stop());
    await listener.start();
    await this.#lease.start();
    await tryStores(stores);
    await primeQueue(stores.hotSql, assistantId, this.id);
    sweeper.start();
    claims.start();
    this.#started.add(async () => {
      this.#claimer.stop();
      await claims.stop();
    });
    return this;
  }

  stop(): Promise<void> {
    return this.#started.stop();
  }

  /** Creates a run, and waits for its end on whichever server. */
  async run({ threadId, assistantId, resumable, queued }: SimulatedRun): Promise<void> {
    const runId = uuid7();
    const done = deferred<void>();
    const startedAt = performance.now();
    const reserved = !queued && this.#claimer.reserve();
    waiting.set(runId, { done, acceptedAt: startedAt, resumable });
    const { begun } = await this.#admission
      .admit(
        {
          ...{ runId, threadId, assistantId, kwargs: kwargs(resumable), metadata: "{}", strategy: "enqueue" },
          ...{ createThread: true, afterSeconds: 0, temporary: false, describe: false },
        },
        reserved,
      )
      .finally(() => reserved && this.#claimer.unreserve());
    this.durations.accept.push(performance.now() - startedAt);
    if (begun) void this.#execute(begun);
    else if (this.#lease.alone) this.#claimer.wake();
    else await this.#admission.announce();
    await done.promise;
  }

  async #claim(): Promise<number> {
    for await (const claim of this.#claimer.claims()) this.#begin(claim);
    return this.#claimer.nextDue();
  }

  #begin({ rows }: Claim): void {
    for (const row of rows) {
      this.durations.claim.push(performance.now() - waiting.get(row.run_id)!.acceptedAt);
      this.#active.set(row.run_id, row);
      void this.#execute(row);
    }
  }

  async #execute(run: BegunRun): Promise<void> {
    const { run_id: runId, thread_id: threadId, attempt } = run;
    const { done, resumable } = waiting.get(runId)!;
    this.#active.set(runId, run);
    try {
      const fence = { runId, attempt };
      if (!run.fresh_thread && (!run.head || this.#heads.get(threadId) !== run.head))
        await this.#checkpoints.read({ threadId, ns: "", limit: 1 });
      const last = checkpointItem(fence, threadId, 2);
      const state = JSON.stringify({ values: { last: "hello" }, next: [], interrupts: {}, of: null });
      if (resumable) await this.#executeKept(run, last, state);
      else {
        void this.#checkpoints.write(checkpointItem(fence, threadId, 1), true);
        void this.#checkpoints.write(last, true);
        const startedAt = performance.now();
        const notify = this.#notifies(run);
        await this.#checkpoints.write({ fence, blobs: [], writes: [], finish: { threadId, state, notify } }, false);
        this.durations.end.push(performance.now() - startedAt);
      }
      this.#heads.set(threadId, last.checkpoint!.id);
      done.resolve();
    } catch (error) {
      done.reject(error);
    } finally {
      waiting.delete(runId);
      this.#active.delete(runId);
      this.#claimer.onCapacity();
    }
  }

  #notifies(run: BegunRun): boolean {
    return toActiveRun(run, { settings, alone: () => this.#lease.alone }, false).start.notify;
  }

  async #executeKept(run: BegunRun, last: WriteItem, state: string) {
    const { run_id: runId, thread_id: threadId, attempt, metadataStored } = run;
    const fence = { runId, attempt };
    const stream = this.#streams.open(runId);
    stream.execution = { threadId, attempt };
    stream.append("metadata", metadataOf(runId, attempt));
    this.#keeper.keep(stream, { threadId, attempt, stored: metadataStored ? 1 : 0, held: true });
    void this.#checkpoints.write(checkpointItem(fence, threadId, 1), true);
    for (let burst = 0; burst < BURSTS; burst++) {
      for (let n = 0; n < FRAMES / BURSTS; n++) stream.emit(attempt, "messages", TOKEN);
      await turn();
    }
    await this.#checkpoints.write(last, false);
    const startedAt = performance.now();
    const quiet = !this.#notifies(run);
    const end = { runId, threadId, attempt, outcome: "success" as const, error: null, state, quiet };
    const { outcome } = await this.#keeper.end(stream, end, undefined);
    if (outcome !== "success") throw new Error(`a simulated run ended as ${outcome}`);
    this.durations.end.push(performance.now() - startedAt);
    this.#streams.end(runId, { status: "success", output: "{}" });
  }
}

/** A token of a chat model, as a message event carries it. */
const TOKEN = JSON.stringify([
  { content: "token ", type: "AIMessageChunk", id: "run-0190c0de", additional_kwargs: {}, response_metadata: {} },
  { langgraph_step: 1, langgraph_node: "agent", thread_id: "a thread", ls_model_name: "model" },
]);

const kwargs = (resumable: boolean): string =>
  JSON.stringify({
    input: { messages: [{ role: "user", content: "a question ".repeat(20) }] },
    config: { recursion_limit: 25, configurable: {} },
    stream_mode: ["values"],
    ...(resumable && { resumable: true }),
  });

function checkpointItem(fence: { runId: string; attempt: number }, threadId: string, step: number): WriteItem {
  const id = uuid7();
  const version = `${Date.now()}.${step}`;
  const checkpoint = { v: 4, id, ts: new Date().toISOString(), versions_seen: { agent: { start: version } } };
  return {
    fence,
    checkpoint: {
      ...{ threadId, ns: "", id, parentId: null },
      checkpoint: JSON.stringify({ ...checkpoint, channel_versions: { messages: version } }),
      metadata: JSON.stringify({ step, source: "loop", run_id: fence.runId, thread_id: threadId, graph_id: GRAPH }),
    },
    blobs: [
      { threadId, ns: "", channel: "messages", version, type: "json", blob: Buffer.from('"a message"'.repeat(30)) },
    ],
    writes: [],
  };
}
