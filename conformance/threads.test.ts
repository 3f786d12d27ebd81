import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { client, sdks } from "./clients.ts";
import { UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

describe.each(sdks)("threads over SDK $sdk", ({ client }) => {
  test("a created thread is idle and keeps its id and metadata", async () => {
    const threadId = randomUUID();
    const created = await client.threads.create({ threadId, metadata: { topic: "weather" } });
    expect(created).toMatchObject({ thread_id: threadId, status: "idle", metadata: { topic: "weather" } });
    expect(await client.threads.get(threadId)).toMatchObject({ thread_id: threadId, metadata: { topic: "weather" } });
  });

  test("the graph given to a new thread is kept in its metadata", async () => {
    expect((await client.threads.create({ graphId: "agent" })).metadata).toMatchObject({ graph_id: "agent" });
  });

  test("creating a thread twice is a conflict, or returns the existing one with do_nothing", async () => {
    const threadId = randomUUID();
    await client.threads.create({ threadId, metadata: { turn: 1 } });
    await expect(client.threads.create({ threadId })).rejects.toThrow("HTTP 409: Thread already exists");
    const again = await client.threads.create({ threadId, metadata: { turn: 2 }, ifExists: "do_nothing" });
    expect(again.metadata).toMatchObject({ turn: 1 });
  });

  test("supersteps create a new thread's history", async () => {
    const thread = await client.threads.create({
      graphId: "counter",
      supersteps: [
        { updates: [{ values: { add: 5 }, asNode: "__input__" }] },
        { updates: [{ values: { total: 5, trail: ["+5"] }, asNode: "increment" }] },
      ],
    });
    const state = await client.threads.getState<{ total: number; trail: string[] }>(thread.thread_id);
    expect(state.values).toMatchObject({ total: 5, trail: ["+5"] });
    expect(state.next).toEqual(["double"]);
    const values = await client.runs.wait(thread.thread_id, "counter", { input: null });
    expect(values).toMatchObject({ total: 10, trail: ["+5", "*2"] });
  });

  test("an unknown thread is not found", async () => {
    const message = `HTTP 404: Thread with ID ${UNKNOWN_ID} not found`;
    await expect(client.threads.get(UNKNOWN_ID)).rejects.toThrow(message);
    await expect(client.threads.delete(UNKNOWN_ID)).rejects.toThrow("HTTP 404");
    await expect(client.threads.update(UNKNOWN_ID, { metadata: {} })).rejects.toThrow("HTTP 404");
    await expect(client.threads.getState(UNKNOWN_ID)).rejects.toThrow("HTTP 404");
    await expect(client.threads.getHistory(UNKNOWN_ID)).rejects.toThrow("HTTP 404");
  });

  test("an update merges metadata", async () => {
    const { thread_id, updated_at } = await client.threads.create({ metadata: { keep: 1, change: 1 } });
    await new Promise((done) => setTimeout(done, 5));
    const updated = await client.threads.update(thread_id, { metadata: { change: 2 } });
    expect(updated.metadata).toMatchObject({ keep: 1, change: 2 });
    expect(new Date(updated.updated_at).getTime()).toBeGreaterThan(new Date(updated_at).getTime());
  });

  test("a deleted thread is gone", async () => {
    const { thread_id } = await client.threads.create();
    await client.threads.delete(thread_id);
    await expect(client.threads.get(thread_id)).rejects.toThrow("HTTP 404");
  });

  test("search filters by metadata, ids, status and values, sorts and pages", async () => {
    const mark = randomUUID();
    const ids: string[] = [];
    for (const add of [1, 2, 3]) {
      const { thread_id } = await client.threads.create({ metadata: { mark, add, nested: { a: add, b: 1 } } });
      ids.push(thread_id);
      if (add < 3)
        await client.runs.wait(thread_id, add === 1 ? "counter" : "approval", { input: { add, topic: "t" } });
    }
    const found = async (query: object) =>
      (await client.threads.search({ metadata: { mark }, ...query })).map((thread) => ids.indexOf(thread.thread_id));
    expect(await found({})).toEqual([2, 1, 0]);
    expect(await found({ sortBy: "created_at", sortOrder: "asc" })).toEqual([0, 1, 2]);
    expect(await found({ sortBy: "thread_id", sortOrder: "asc" })).toEqual(
      [0, 1, 2].sort((left, right) => (ids[left]! < ids[right]! ? -1 : 1)),
    );
    expect(await found({ limit: 1, offset: 1 })).toEqual([1]);
    expect(await found({ metadata: { mark, add: 2 } })).toEqual([1]);
    expect(await found({ metadata: { mark, nested: { a: 3 } } })).toEqual([2]);
    expect(await found({ metadata: { mark, graph_id: "counter" } })).toEqual([0]);
    expect(await found({ ids: [ids[0], ids[2]] })).toEqual([2, 0]);
    expect(await found({ status: "interrupted" })).toEqual([1]);
    expect(await client.threads.count({ metadata: { mark } })).toBe(3);
    expect(await client.threads.count({ metadata: { mark }, status: "idle" })).toBe(2);
  });

  // The JavaScript dev server also returns threads without values.
  test("search and count by values find only threads that have them", async () => {
    const mark = randomUUID();
    const { thread_id } = await client.threads.create({ metadata: { mark } });
    await client.threads.create({ metadata: { mark } });
    await client.runs.wait(thread_id, "counter", { input: { add: 4 } });
    const found = await client.threads.search({ metadata: { mark }, values: { total: 8 } });
    expect(found.map((thread) => thread.thread_id)).toEqual([thread_id]);
    expect(await client.threads.search({ metadata: { mark }, values: { total: 9 } })).toEqual([]);
    expect(await client.threads.count({ metadata: { mark }, values: { total: 8 } })).toBe(1);
  });

  test("search returns only the selected fields", async () => {
    const mark = randomUUID();
    const { thread_id } = await client.threads.create({ metadata: { mark } });
    const found = await client.threads.search({ metadata: { mark }, select: ["thread_id", "status"] });
    expect(found).toEqual([{ thread_id, status: "idle" }]);
  });

  test("a copy has the same history and changes independently", async () => {
    const { thread_id } = await client.threads.create({ metadata: { origin: "first" } });
    await client.runs.wait(thread_id, "counter", { input: { add: 1 } });
    const copy = await client.threads.copy(thread_id);
    expect(copy.thread_id).not.toBe(thread_id);
    expect(copy).toMatchObject({ status: "idle", metadata: { origin: "first" } });
    const history = await client.threads.getHistory(thread_id);
    const copied = await client.threads.getHistory(copy.thread_id);
    const shape = (states: typeof history) =>
      states.map(({ values, next, checkpoint, parent_checkpoint, created_at }) => {
        return [values, next, checkpoint.checkpoint_id, parent_checkpoint?.checkpoint_id, created_at];
      });
    expect(shape(copied)).toEqual(shape(history));
    expect(copied.every((state) => state.checkpoint.thread_id === copy.thread_id)).toBe(true);

    await client.runs.wait(copy.thread_id, "counter", { input: { add: 10 } });
    expect((await client.threads.getState(copy.thread_id)).values).toMatchObject({ total: 24 });
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ total: 2 });
  });

  // The JavaScript dev server drops the values of a copy.
  test("a copy has the source's values", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "counter", { input: { add: 1 } });
    const copy = await client.threads.copy(thread_id);
    expect(copy.values).toMatchObject({ total: 2 });
    expect((await client.threads.get(copy.thread_id)).values).toMatchObject({ total: 2 });
  });

  test("a copy of an interrupted thread can be resumed", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "approval", { input: { topic: "copy" } });
    const copy = await client.threads.copy(thread_id);
    const values = await client.runs.wait(copy.thread_id, "approval", { command: { resume: "yes" } });
    expect(values).toMatchObject({ answer: "yes", log: ["draft:copy", "asked", "published"] });
  });

  test("a thread's status and values follow its runs", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "slow", { input: { steps: 2, ms: 250, label: "s" } });
    expect((await client.threads.get(thread_id)).status).toBe("busy");
    await client.runs.join(thread_id, run.run_id);
    expect(await client.threads.get(thread_id)).toMatchObject({
      status: "idle",
      metadata: { graph_id: "slow" },
      values: { log: ["s:begin", "s:1", "s:2"] },
    });
    await client.runs.wait(thread_id, "failing", { input: {}, raiseError: false });
    expect((await client.threads.get(thread_id)).status).toBe("error");
  });
});

describe("threads over HTTP", () => {
  // The JavaScript dev server omits values.
  test("a thread created with {} has values {} and config {}", async () => {
    const { status, json } = await request("POST", "/threads", {});
    expect(status).toBe(200);
    expect(json.values).toEqual({});
    expect(json.config).toEqual({});
  });

  test("a thread can be created without a body", async () => {
    expect((await request("POST", "/threads")).json).toMatchObject({ status: "idle" });
  });

  // The JavaScript dev server ignores a top-level graph_id.
  test("a top-level graph_id is kept as metadata.graph_id", async () => {
    const { json } = await request("POST", "/threads", { graph_id: "agent" });
    expect(json.metadata).toMatchObject({ graph_id: "agent" });
    const same = await request("POST", "/threads", { graph_id: "agent", metadata: { graph_id: "agent" } });
    expect(same.status).toBe(200);
  });

  test("rejects a top-level graph_id that differs from metadata.graph_id", async () => {
    const { status } = await request("POST", "/threads", { graph_id: "agent", metadata: { graph_id: "echo" } });
    expect(status).toBe(422);
  });

  test("delete responds with 204 without a body", async () => {
    const { json } = await request("POST", "/threads", {});
    expect(await request("DELETE", `/threads/${json.thread_id}`)).toMatchObject({ status: 204, text: "" });
  });

  test("an update with Prefer: return=minimal responds with 204", async () => {
    const { json } = await request("POST", "/threads", {});
    const path = `/threads/${json.thread_id}`;
    const answer = await request("PATCH", path, { metadata: { a: 1 } }, { prefer: "return=minimal" });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect((await request("GET", path)).json.metadata).toMatchObject({ a: 1 });
  });

  test("search returns the number of matches and the next offset", async () => {
    const mark = randomUUID();
    for (const n of [1, 2, 3]) await request("POST", "/threads", { metadata: { mark, n } });
    const first = await request("POST", "/threads/search", { metadata: { mark }, limit: 2 });
    expect([first.headers.get("x-pagination-total"), first.headers.get("x-pagination-next")]).toEqual(["3", "2"]);
    const last = await request("POST", "/threads/search", { metadata: { mark }, limit: 2, offset: 2 });
    expect([last.headers.get("x-pagination-total"), last.headers.get("x-pagination-next")]).toEqual(["3", null]);
  });

  test("copying an unknown thread is 404 or 409", async () => {
    expect((await request("POST", `/threads/${UNKNOWN_ID}/copy`)).status).toBeOneOf([404, 409]);
  });
});

describe("extracting over SDK 1.15.0", () => {
  // The JavaScript dev server does not support extraction.
  test("search extracts values by path", async () => {
    const mark = randomUUID();
    const { thread_id } = await client.threads.create({ metadata: { mark } });
    await client.runs.wait(thread_id, "counter", { input: { add: 2 } });
    const extract = { total: "values.total", last: "values.trail[-1]", mark: "metadata.mark" };
    const found = await client.threads.search({ metadata: { mark }, select: ["thread_id"], extract });
    expect(found).toEqual([{ thread_id, extracted: { total: 4, last: "*2", mark } }]);
  });
});

// The JavaScript dev server does not have this path.
describe("pruning over SDK 1.15.0", () => {
  test("a thread has a time to live, which a client can read on request", async () => {
    const { thread_id } = await client.threads.create({ ttl: 30 });
    const ttl = async () => {
      const thread = await client.threads.get(thread_id, { include: ["ttl"] } as never);
      return (thread as unknown as { ttl: { strategy: string; ttl: number; expires_at: string } }).ttl;
    };
    expect(await ttl()).toMatchObject({ strategy: "delete", ttl: 30 });
    expect(Date.parse((await ttl()).expires_at)).toBeGreaterThan(Date.now());
    await client.threads.update(thread_id, { metadata: {}, ttl: { ttl: 60, strategy: "keep_latest" as never } });
    expect(await ttl()).toMatchObject({ strategy: "keep_latest", ttl: 60 });
  });

  test("the storage size of a thread can be read", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "agent", { input: { messages: [{ role: "user", content: "hi" }] } });
    const { status, json } = await request("GET", `/threads/${thread_id}/storage`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ thread_id, runs: { count: 1 } });
    expect(json.checkpoints.count).toBeGreaterThan(0);
    expect(json.channel_values.by_channel).toHaveProperty("messages");
    expect(json.total_bytes).toBeGreaterThan(0);
  });

  test("pruned threads are gone, and unknown ids are not counted", async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.prune([thread_id, UNKNOWN_ID])).toEqual({ pruned_count: 1 });
    await expect(client.threads.get(thread_id)).rejects.toThrow("HTTP 404");
  });

  test("pruning may keep a thread's latest state", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "counter", { input: { add: 1 } });
    expect((await client.threads.getHistory(thread_id)).length).toBeGreaterThan(1);
    expect(await client.threads.prune([thread_id], { strategy: "keep_latest" })).toEqual({ pruned_count: 1 });
    expect(await client.threads.getHistory(thread_id)).toMatchObject([{ values: { total: 2 } }]);
    expect(await client.runs.wait(thread_id, "counter", { input: { add: 1 } })).toMatchObject({ total: 6 });
  });
});
