import { describe, expect, test } from "vitest";
import { type Client, client, sdks } from "./clients.ts";
import { has } from "./features.ts";
import { UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

type Values = { total: number; trail: string[] };

async function counted(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, "counter", { input: { add: 3 } });
  return thread_id;
}

describe.each(sdks)("state over SDK $sdk", ({ client }) => {
  test("the state of a thread without runs is empty", async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.getState(thread_id)).toMatchObject({ values: {}, next: [], tasks: [] });
    expect(await client.threads.getHistory(thread_id)).toEqual([]);
  });

  test("the state after a run has the values, the checkpoint and its parent", async () => {
    const thread_id = await counted(client);
    const state = await client.threads.getState<Values>(thread_id);
    expect(state.values).toMatchObject({ total: 6, trail: ["+3", "*2"] });
    expect(state).toMatchObject({ next: [], tasks: [], checkpoint: { thread_id, checkpoint_ns: "" } });
    expect(state.parent_checkpoint!.checkpoint_id! < state.checkpoint.checkpoint_id!).toBe(true);
    expect(new Date(state.created_at!).getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(state.metadata).toMatchObject({ source: "loop", step: 2, parents: {}, thread_id, graph_id: "counter" });
    expect(state.metadata).toHaveProperty("run_id");
  });

  test("the state at a checkpoint can be read by id and by checkpoint", async () => {
    const thread_id = await counted(client);
    const [, middle] = await client.threads.getHistory<Values>(thread_id);
    const byId = await client.threads.getState<Values>(thread_id, middle!.checkpoint.checkpoint_id!);
    expect(byId).toMatchObject({ next: ["double"], tasks: [{ name: "double" }], values: { total: 3, trail: ["+3"] } });
    const byCheckpoint = await client.threads.getState<Values>(thread_id, middle!.checkpoint);
    expect(byCheckpoint.checkpoint).toEqual(byId.checkpoint);
    expect(byCheckpoint.values).toEqual(byId.values);
  });

  // The JavaScript dev server answers 400, although its own client sends this.
  test("the state at a checkpoint can be read with subgraphs", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "nested", { input: { ask: true } });
    const { checkpoint } = await client.threads.getState(thread_id);
    const state = await client.threads.getState(thread_id, checkpoint, { subgraphs: true });
    expect(state.tasks[0]!.state).toMatchObject({ next: ["grandchild"] });
  });

  test("history is newest first, with steps and sources", async () => {
    const thread_id = await counted(client);
    const history = await client.threads.getHistory<Values>(thread_id);
    expect(history.map((state) => [state.metadata!["source"], state.metadata!["step"], state.next])).toEqual([
      ["loop", 2, []],
      ["loop", 1, ["double"]],
      ["loop", 0, ["increment"]],
      ["input", -1, ["__start__"]],
    ]);
    for (const [index, state] of history.slice(0, -1).entries()) {
      expect(state.parent_checkpoint!.checkpoint_id).toBe(history[index + 1]!.checkpoint.checkpoint_id);
    }
    expect(history.at(-1)!.parent_checkpoint).toBeNull();
  });

  test("history can be limited and filtered by metadata", async () => {
    const thread_id = await counted(client);
    expect(await client.threads.getHistory(thread_id, { limit: 2 })).toHaveLength(2);
    const inputs = await client.threads.getHistory(thread_id, { metadata: { source: "input" } });
    expect(inputs).toMatchObject([{ metadata: { step: -1 } }]);
  });

  // The JavaScript dev server accepts only a bare id, which its client cannot send as documented.
  test("history before a checkpoint can be read", async () => {
    const thread_id = await counted(client);
    const [, second, ...older] = await client.threads.getHistory(thread_id);
    const ids = older.map((state) => state.checkpoint.checkpoint_id);
    const before = { configurable: { checkpoint_id: second!.checkpoint.checkpoint_id } };
    const found = await client.threads.getHistory(thread_id, { before });
    expect(found.map((state) => state.checkpoint.checkpoint_id)).toEqual(ids);
  });

  test("a state update applies the reducers and schedules the node's successors", async () => {
    const thread_id = await counted(client);
    const update = await client.threads.updateState(thread_id, {
      values: { total: 100, trail: ["by hand"] },
      asNode: "increment",
    });
    const { checkpoint } = update as unknown as { checkpoint: { checkpoint_id: string; thread_id: string } };
    expect(checkpoint.thread_id).toBe(thread_id);
    const state = await client.threads.getState<Values>(thread_id);
    expect(state.checkpoint.checkpoint_id).toBe(checkpoint.checkpoint_id);
    expect(state).toMatchObject({
      values: { total: 106, trail: ["+3", "*2", "by hand"] },
      next: ["double"],
      metadata: { source: "update", step: 3 },
    });
    expect((await client.threads.get(thread_id)).values).toMatchObject({ total: 106 });
    expect(await client.runs.wait(thread_id, "counter", { input: null })).toMatchObject({ total: 212 });
  });

  test.runIf(has("state updates without values"))(
    "a state update without values only schedules the node's successors",
    async () => {
      const thread_id = await counted(client);
      await client.threads.updateState(thread_id, { values: null, asNode: "increment" });
      expect(await client.threads.getState(thread_id)).toMatchObject({ values: { total: 6 }, next: ["double"] });
    },
  );

  test("rejects a state update on a busy thread", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "slow", { input: { steps: 1, ms: 600, label: "busy" } });
    const update = client.threads.updateState(thread_id, { values: { label: "x" }, asNode: "wait" });
    await expect(update).rejects.toThrow("HTTP 409: Thread is busy");
    await client.runs.join(thread_id, run.run_id);
  });

  test("pending tasks carry their interrupts, and those of subgraphs on request", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "nested", { input: { ask: true } });
    const flat = await client.threads.getState(thread_id);
    expect(flat).toMatchObject({ next: ["child"], tasks: [{ name: "child", state: null }] });
    expect(flat.tasks[0]!.interrupts).toMatchObject([{ value: "deep question" }]);
    expect(flat.tasks[0]!.checkpoint).toMatchObject({ thread_id, checkpoint_ns: `child:${flat.tasks[0]!.id}` });
    const deep = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    const child = deep.tasks[0]!;
    expect(child.checkpoint).toBeNull();
    expect(child.state).toMatchObject({ values: { log: ["enter", "before"] }, next: ["grandchild"] });
    expect(child.state!.tasks[0]!.state).toMatchObject({ next: ["deep"] });
  });

  test("a failed task carries its error", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "failing", { input: { reason: "told" }, raiseError: false });
    const state = await client.threads.getState(thread_id);
    expect(state).toMatchObject({ values: { prepared: true }, next: ["fail"], tasks: [{ name: "fail" }] });
    expect(state.tasks[0]!.error).toContain("told");
  });

  // The JavaScript dev server does not have this path.
  test("metadata can be patched through the state", async () => {
    const { thread_id } = await client.threads.create({ metadata: { keep: 1 } });
    await client.threads.patchState(thread_id, { patched: true });
    expect((await client.threads.get(thread_id)).metadata).toMatchObject({ keep: 1, patched: true });
  });
});

describe("state over HTTP", () => {
  // The JavaScript dev server has neither the top-level ids nor writes.
  test("a state carries the ids of its checkpoint and of the parent", async () => {
    const thread_id = await counted(client);
    const { json: state } = await request("GET", `/threads/${thread_id}/state`);
    expect(state.checkpoint_id).toBe(state.checkpoint.checkpoint_id);
    expect(state.parent_checkpoint_id).toBe(state.parent_checkpoint.checkpoint_id);
    expect(state.metadata).toMatchObject({
      thread_id,
      checkpoint_id: state.checkpoint_id,
      graph_id: "counter",
      source: "loop",
      step: 2,
      parents: {},
    });
    expect(state.metadata.writes).toMatchObject({ double: { trail: ["*2"] } });
  });

  test("history can be read by GET, before a checkpoint", async () => {
    const thread_id = await counted(client);
    const { json: history } = await request("GET", `/threads/${thread_id}/history?limit=2`);
    expect(history).toHaveLength(2);
    const older = await request("GET", `/threads/${thread_id}/history?before=${history[1].checkpoint.checkpoint_id}`);
    expect(older.json).toMatchObject([{ metadata: { step: 0 } }, { metadata: { step: -1 } }]);
  });

  test.each([["an id"], ["a checkpoint"], ["a config"]])("history accepts %s as before", async (kind) => {
    const thread_id = await counted(client);
    const [, second] = (await request("GET", `/threads/${thread_id}/history`)).json;
    const { checkpoint_id } = second.checkpoint;
    const before = { "an id": checkpoint_id, "a checkpoint": { checkpoint_id } }[kind] ?? {
      configurable: { checkpoint_id },
    };
    const { json } = await request("POST", `/threads/${thread_id}/history`, { before });
    expect(json).toMatchObject([{ metadata: { step: 0 } }, { metadata: { step: -1 } }]);
  });

  // The JavaScript dev server answers an unknown checkpoint with empty values.
  test("an unknown checkpoint is not found", async () => {
    const thread_id = await counted(client);
    expect((await request("GET", `/threads/${thread_id}/state/${UNKNOWN_ID}`)).status).toBe(404);
    const body = { checkpoint: { checkpoint_id: UNKNOWN_ID } };
    expect((await request("POST", `/threads/${thread_id}/state/checkpoint`, body)).status).toBe(404);
  });

  // The JavaScript dev server answers 500.
  test("rejects a state update as an unknown node", async () => {
    const thread_id = await counted(client);
    const body = { values: { total: 1 }, as_node: "no-such-node" };
    expect((await request("POST", `/threads/${thread_id}/state`, body)).status).toBe(422);
    expect((await request("GET", `/threads/${thread_id}/state`)).json.values).toMatchObject({ total: 6 });
  });

  test("rejects a state update of a thread without a graph", async () => {
    const { thread_id } = await client.threads.create();
    const answer = await request("POST", `/threads/${thread_id}/state`, { values: { total: 1 } });
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(`Thread ${thread_id} has no graph ID`) });
  });
});
