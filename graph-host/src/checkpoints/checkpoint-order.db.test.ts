import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { claimRun, databaseHost } from "../../test/database-host.ts";
import type { HostProcess } from "../../test/host-process.ts";
import type { ThreadState } from "../calls/thread-state.ts";
import { CheckpointDatabase } from "./checkpoint-database.ts";
import { HeddleSaver } from "./heddle-saver.ts";
import { officialSaver } from "./test/own-postgres.ts";

/** Hosts with different clocks alternate on the threads of one database. */
const db = await testDatabase();
const graphs = {
  steps: "./human.ts:steps",
  nested: "./human.ts:nested",
  remembering: "./human.ts:remembering",
  clocked: "./clocked.ts:graph",
  counted: "./counted.ts:graph",
};
const TEN_MINUTES = 600_000;
const skewed = (ms: number) => ({
  NODE_OPTIONS: `--import ${new URL("../../test/skewed-clock.mjs", import.meta.url).href}`,
  SKEW_MS: String(ms),
});
const official = officialSaver(db.uri);
const database = new CheckpointDatabase(db.uri, { socket: db.options.host });

let ahead: HostProcess;
let right: HostProcess;
beforeAll(async () => {
  [ahead, right] = await Promise.all([databaseHost(db, graphs, skewed(TEN_MINUTES)), databaseHost(db, graphs)]);
});
afterAll(() => Promise.all([ahead.stop(), right.stop(), database.close(), official.end()]));

const three = ["one", "two", "three"];
const again = { input: { log: [] } };

async function readHistory(threadId: string, graph_id = "steps"): Promise<ThreadState[]> {
  const params = { graph_id, thread_id: threadId, config: {}, limit: 100 };
  return (await right.call("state.history", params)) as ThreadState[];
}

/**
 * Returns the newest checkpoint's id by Heddle's saver, by the official one, by `/state` and by the history, which must
 * agree.
 */
async function newestId(threadId: string): Promise<string> {
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const [ours, theirs, [first]] = await Promise.all([
    new HeddleSaver(database).getTuple(config),
    official.getTuple(config),
    readHistory(threadId),
  ]);
  expect(theirs!.checkpoint.id).toBe(ours!.checkpoint.id);
  expect(first!.checkpoint_id).toBe(ours!.checkpoint.id);
  return ours!.checkpoint.id;
}

/** Returns by how many seconds the time in a checkpoint's id is ahead of the clock. */
function secondsAhead(id: string): number {
  const [high, mid, low] = id.split("-");
  const ticks = BigInt(`0x${high}${mid}${low!.slice(1)}`) - 0x01b21dd213814000n;
  return (Number(ticks / 10_000n) - Date.now()) / 1000;
}

async function threadOfTheFuture(): Promise<string> {
  const { threadId, result } = await ahead.run("steps", again);
  expect(result.values.log).toEqual(three);
  expect(secondsAhead(await newestId(threadId))).toBeGreaterThan(500);
  return threadId;
}

describe("a thread whose newest checkpoint lies in the future", () => {
  test("each later run builds on its predecessor, in history too", async () => {
    const threadId = await threadOfTheFuture();
    for (const [n, host] of [right, ahead, right].entries()) {
      const { result } = await host.run("steps", again, { threadId });
      expect(result.values.log).toEqual(Array.from({ length: n + 2 }, () => three).flat());
    }
    const history = await readHistory(threadId);
    expect(history[0]!.checkpoint_id).toBe(await newestId(threadId));
    expect(history.map(({ parent_checkpoint_id: parent }) => parent)).toEqual([
      ...history.slice(1).map(({ checkpoint_id: id }) => id),
      null,
    ]);
  });

  test("a run from an older checkpoint becomes the newest", async () => {
    const threadId = await threadOfTheFuture();
    const older = (await readHistory(threadId)).find(({ next }) => next[0] === "three")!;
    const config = { configurable: { checkpoint_id: older.checkpoint_id } };
    const { result } = await right.run("steps", { input: null, config }, { threadId });
    expect(result.values.log).toEqual(three);
    const [head] = await readHistory(threadId);
    expect(head!.checkpoint_id).toBe(await newestId(threadId));
    expect(head!.metadata!["run_id"]).not.toBe(older.metadata!["run_id"]);
  });

  test("manual updates become the newest, at the head, at an older checkpoint and in several supersteps", async () => {
    const threadId = await threadOfTheFuture();
    const older = (await readHistory(threadId)).find(({ next }) => next[0] === "two")!;
    const by = (name: string) => ({ updates: [{ values: { log: [name] }, as_node: "one" }] });
    for (const [checkpoint, supersteps, log] of [
      [undefined, [by("a")], [...three, "a"]],
      [{ checkpoint_id: older.checkpoint_id! }, [by("b"), by("c")], ["one", "b", "c"]],
    ] as const) {
      const call = { graph_id: "steps", thread_id: threadId, config: {}, supersteps: [...supersteps] };
      const { checkpoint: created, state } = await right.call("state.update", {
        ...call,
        ...(checkpoint && { checkpoint }),
      });
      expect(state.values).toEqual({ log });
      expect(created["checkpoint_id"]).toBe(await newestId(threadId));
    }
  });

  test("a host whose clock is behind continues what another attempt began", async () => {
    const file = "/dev/null";
    const stopped = await ahead.run("counted", {
      ...again,
      interrupt_after: ["one"],
      config: { configurable: { file } },
    });
    const before = await newestId(stopped.threadId);
    const config = { configurable: { file } };
    const options = { threadId: stopped.threadId, runId: stopped.runId, attempt: 2 };
    const retried = await right.run("counted", { ...again, config }, options);
    expect(retried.result.values.log).toEqual(three);
    expect((await newestId(stopped.threadId)) > before).toBe(true);
  });

  test("a rollback restores the previous state, and the next run builds on it", async () => {
    const threadId = await threadOfTheFuture();
    const rolledBack = await right.run("steps", again, { threadId });
    await db.sql`select delete_run_checkpoints(${threadId}::uuid, ${rolledBack.runId}::uuid)`;
    const { result } = await right.run("steps", again, { threadId });
    expect(result.values.log).toEqual([...three, ...three]);
    await newestId(threadId);
  });

  test("copied and pruned threads can be continued", async () => {
    const threadId = await threadOfTheFuture();
    const copy = randomUUID();
    await db.sql`select copy_thread(${threadId}::uuid, ${copy}::uuid)`;
    await db.sql`update runs set status = 'success' where thread_id = ${threadId}`;
    expect(await db.sql`select prune_thread(${threadId}::uuid) as pruned`).toEqual([{ pruned: true }]);
    for (const id of [threadId, copy]) {
      const { result } = await right.run("steps", again, { threadId: id });
      expect(result.values.log).toEqual([...three, ...three]);
    }
  });

  test.each(["async", "exit"] as const)("durability %s keeps the order", async (durability) => {
    const threadId = await threadOfTheFuture();
    for (const n of [2, 3]) {
      const { result } = await right.run("steps", { ...again, durability }, { threadId });
      expect(result.values.log).toEqual(Array.from({ length: n }, () => three).flat());
      await newestId(threadId);
    }
  });

  test("its ids continue just above the newest, and other threads of the host use the current time", async () => {
    const threadId = await threadOfTheFuture();
    const before = secondsAhead(await newestId(threadId));
    await right.run("steps", again, { threadId });
    expect(secondsAhead(await newestId(threadId))).toBeLessThan(before + 1);
    const other = await right.run("steps", again);
    expect(Math.abs(secondsAhead(await newestId(other.threadId)))).toBeLessThan(60);
  });
});

test("the project's LangGraph uses the host's id generator", () => {
  expect(right.stderr.join("")).not.toContain("derives checkpoint ids");
});

test("subgraphs with memory and subgraphs with an interrupt keep their order", async () => {
  const first = await ahead.run("remembering", again);
  for (const n of [2, 3]) {
    const { result } = await right.run("remembering", again, { threadId: first.threadId });
    expect(result.values.log).toEqual(Array.from({ length: n }, (_, i) => `visit ${i + 1}`));
  }
  const interrupted = await ahead.run("nested", again);
  const resumed = await right.run("nested", { command: { resume: "ok" } }, { threadId: interrupted.threadId });
  expect(resumed.result.values.log).toEqual(["leaf", "paused: ok"]);
});

test("a clock that steps ahead and back during a run loses nothing", async () => {
  const host = await databaseHost(db, graphs, skewed(0));
  try {
    const threadId = randomUUID();
    for (const [n, skew] of [TEN_MINUTES, -TEN_MINUTES, 0, 400, 0].entries()) {
      const { result } = await host.run("clocked", { input: { log: [], skew } }, { threadId });
      expect(result.values.log).toHaveLength(n + 1);
      await newestId(threadId);
    }
  } finally {
    await host.stop();
  }
});

test("a CommonJS project keeps the order, in JavaScript and in TypeScript", async () => {
  const files = { required: "./required.js:graph", typed: "./typed.ts:graph" };
  const start = (ms: number) => databaseHost(db, files, skewed(ms), "commonjs");
  const hosts = await Promise.all([start(TEN_MINUTES), start(0)]);
  try {
    for (const graph of Object.keys(files)) {
      const threadId = randomUUID();
      for (const [n, host] of [hosts[0], hosts[1], hosts[1]].entries()) {
        const { result } = await host.run(graph, again, { threadId });
        expect(result.values.log).toEqual(Array.from({ length: n + 1 }, (_, i) => `run ${i + 1}`));
        await newestId(threadId);
      }
    }
  } finally {
    await Promise.all(hosts.map((host) => host.stop()));
  }
});

test("rejects a put below the newest id of its thread, unless it replaces its own checkpoint", async () => {
  const threadId = await threadOfTheFuture();
  const runId = randomUUID();
  await claimRun(db, runId, threadId, 1);
  const saver = new HeddleSaver(database, { fence: { runId, attempt: 1 } });
  const config = { configurable: { thread_id: threadId, checkpoint_ns: "" } };
  const head = (await saver.getTuple(config))!;
  const metadata = { source: "loop", step: 9, parents: {} } as const;
  const late = { ...head.checkpoint, id: "1ef663ba-28fe-6528-8002-5a559208592c" };
  await expect(saver.put(head.config, late, metadata, {})).rejects.toThrow(
    new RegExp(`^Checkpoint ${late.id} is older than ${head.checkpoint.id}, the newest of thread ${threadId}`),
  );
  const older = (await saver.getTuple(head.parentConfig!))!;
  await saver.put(older.parentConfig!, older.checkpoint, older.metadata!, {});
  expect(await newestId(threadId)).toBe(head.checkpoint.id);
});
