import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { has } from "./features.ts";
import { sleep, UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

type Seen = { seen: Record<string, any> }; // oxlint-disable-line no-explicit-any -- whatever the node saw

describe.each(sdks)("runs over SDK $sdk", ({ client }) => {
  test("a background run is pending at first, then succeeds", async () => {
    const { thread_id } = await client.threads.create();
    const input = { steps: 1, ms: 50, label: "bg" };
    const run = await client.runs.create(thread_id, "slow", { input, metadata: { purpose: "test" } });
    expect(run).toMatchObject({ thread_id, multitask_strategy: expect.any(String), metadata: { purpose: "test" } });
    expect(run.status).toBeOneOf(["pending", "running"]);
    expect(run.assistant_id).toBe((await client.assistants.get("slow")).assistant_id);
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ log: ["bg:begin", "bg:1"] });
    await expect.poll(async () => (await client.runs.get(thread_id, run.run_id)).status).toBe("success");
  });

  test("a run is returned with its request in kwargs", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "counter", {
      input: { add: 2 },
      config: { tags: ["x"], configurable: { a: 1 } },
      streamMode: ["updates", "values"],
      interruptBefore: ["double"],
    });
    await client.runs.join(thread_id, run.run_id);
    const { kwargs } = (await client.runs.get(thread_id, run.run_id)) as unknown as { kwargs: object };
    expect(kwargs).toMatchObject({
      input: { add: 2 },
      config: { tags: ["x"], configurable: { a: 1 } },
      stream_mode: ["updates", "values"],
      interrupt_before: ["double"],
    });
  });

  test("the client receives a run's id before the run ends", async () => {
    const { thread_id } = await client.threads.create();
    const seen: object[] = [];
    const onRunCreated = (created: object): number => seen.push(created);
    const run = await client.runs.create(thread_id, "counter", { input: {}, onRunCreated });
    expect(seen).toEqual([{ run_id: run.run_id, thread_id }]);
    await client.runs.join(thread_id, run.run_id);
    await client.runs.wait(thread_id, "counter", { input: {}, onRunCreated });
    expect(seen[1]).toMatchObject({ thread_id, run_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test("waiting for a run returns the thread's final values", async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.runs.wait(thread_id, "counter", { input: { add: 2 } })).toMatchObject({ total: 4 });
    expect(await client.runs.wait(thread_id, "counter", { input: { add: 1 } })).toMatchObject({ total: 10 });
  });

  test("waiting for a failed run throws the error, or returns it on request", async () => {
    const { thread_id } = await client.threads.create();
    const input = { reason: "as planned" };
    await expect(client.runs.wait(thread_id, "failing", { input })).rejects.toThrow(/CustomError.*as planned/);
    const values = await client.runs.wait(thread_id, "failing", { input, raiseError: false });
    expect(values).toMatchObject({ __error__: { message: expect.stringContaining("as planned") } });
    const runs = await client.runs.list(thread_id);
    expect(runs.map((run) => run.status)).toEqual(["error", "error"]);
  });

  test("a run that exceeds its recursion limit fails with GraphRecursionError", async () => {
    const { thread_id } = await client.threads.create();
    const payload = { input: { steps: 9, ms: 1, label: "deep" }, config: { recursion_limit: 3 } };
    await expect(client.runs.wait(thread_id, "slow", payload)).rejects.toThrow(/GraphRecursionError/);
    expect((await client.threads.get(thread_id)).status).toBe("error");
  });

  test("joining a finished run returns the thread's values", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "counter", { input: { add: 5 } });
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ total: 10 });
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ total: 10 });
  });

  test("a thread's runs can be listed by status, in pages", async () => {
    const { thread_id } = await client.threads.create();
    for (const add of [1, 2]) await client.runs.wait(thread_id, "counter", { input: { add } });
    await client.runs.wait(thread_id, "failing", { input: {}, raiseError: false });
    const all = await client.runs.list(thread_id);
    expect(all).toHaveLength(3);
    expect(await client.runs.list(thread_id, { status: "error" })).toMatchObject([{ status: "error" }]);
    expect(await client.runs.list(thread_id, { limit: 2 })).toHaveLength(2);
    // The JavaScript dev server returns wrong pages when there is an offset.
    const rest = await client.runs.list(thread_id, { limit: 2, offset: 2 });
    expect(rest.map((run) => run.run_id)).toEqual([all[2]!.run_id]);
  });

  // The JavaScript dev server lists the oldest first and ignores field selection.
  test("a thread's runs are listed newest first, with only the selected fields", async () => {
    const { thread_id } = await client.threads.create();
    const first = await client.runs.create(thread_id, "counter", { input: {} });
    await client.runs.join(thread_id, first.run_id);
    const second = await client.runs.create(thread_id, "counter", { input: {} });
    await client.runs.join(thread_id, second.run_id);
    const runs = await client.runs.list(thread_id, { select: ["run_id"] });
    expect(runs).toEqual([{ run_id: second.run_id }, { run_id: first.run_id }]);
  });

  test("a deleted run is gone, and its checkpoints with it", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "counter", { input: { add: 1 } });
    const run = await client.runs.create(thread_id, "counter", { input: { add: 10 } });
    await client.runs.join(thread_id, run.run_id);
    await expect.poll(async () => (await client.runs.get(thread_id, run.run_id)).status).toBe("success");
    await client.runs.delete(thread_id, run.run_id);
    await expect(client.runs.get(thread_id, run.run_id)).rejects.toThrow("HTTP 404: Run not found");
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ total: 2 });
  });

  // The JavaScript dev server deletes it, and the worker fails afterwards.
  test("a running run cannot be deleted", async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, "slow", { input: { steps: 1, ms: 700, label: "d" } });
    await expect.poll(async () => (await client.runs.get(thread_id, run.run_id)).status).toBe("running");
    await expect(client.runs.delete(thread_id, run.run_id)).rejects.toThrow("HTTP 409");
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ log: ["d:begin", "d:1"] });
  });

  test("an unknown run is not found", async () => {
    const { thread_id } = await client.threads.create();
    await expect(client.runs.get(thread_id, UNKNOWN_ID)).rejects.toThrow("HTTP 404: Run not found");
    await expect(client.runs.delete(thread_id, UNKNOWN_ID)).rejects.toThrow("HTTP 404");
    await expect(client.runs.list(UNKNOWN_ID)).rejects.toThrow("HTTP 404");
  });

  test("a run with ifNotExists creates its missing thread", async () => {
    const threadId = crypto.randomUUID();
    await client.runs.wait(threadId, "counter", { input: { add: 1 }, ifNotExists: "create", metadata: { by: "run" } });
    expect(await client.threads.get(threadId)).toMatchObject({
      metadata: { graph_id: "counter", by: "run" },
      values: { total: 2 },
    });
  });

  test("a delayed run starts after its delay", async () => {
    const { thread_id } = await client.threads.create();
    const started = Date.now();
    const run = await client.runs.create(thread_id, "counter", { input: { add: 1 }, afterSeconds: 1 });
    await sleep(300);
    expect((await client.runs.get(thread_id, run.run_id)).status).toBe("pending");
    expect((await client.threads.get(thread_id)).status).toBe("busy");
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ total: 2 });
    expect(Date.now() - started).toBeGreaterThanOrEqual(950);
  });

  test("a stateless run leaves no thread behind", async () => {
    const run = await client.runs.create(null, "slow", { input: { steps: 1, ms: 500, label: "s" } });
    expect(run.thread_id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await client.threads.get(run.thread_id)).status).toBe("busy");
    const gone = () => client.threads.get(run.thread_id).catch((error: Error) => error.message);
    await expect.poll(gone).toContain("HTTP 404");
  });

  test("a stateless run can be waited for", async () => {
    const values = await client.runs.wait(null, "agent", { input: { messages: [{ role: "user", content: "hello" }] } });
    expect(values).toMatchObject({ messages: [{ type: "human" }, { type: "ai", content: "You said: hello" }] });
    await expect(client.runs.wait(null, "failing", { input: {} })).rejects.toThrow(/CustomError/);
  });

  test("a batch creates one stateless run for each payload", async () => {
    const runs = await client.runs.createBatch([
      { assistantId: "counter", input: { add: 1 } },
      { assistantId: "echo", input: { input: 2 } },
    ]);
    expect(runs).toHaveLength(2);
    const ids = await Promise.all(["counter", "echo"].map((graph) => client.assistants.get(graph)));
    expect(runs.map((run) => run.assistant_id)).toEqual(ids.map((assistant) => assistant.assistant_id));
  });

  test("a node sees configurable, context, tags, metadata and the environment of langgraph.json", async () => {
    const { thread_id } = await client.threads.create();
    const { seen } = (await client.runs.wait(thread_id, "echo", {
      input: { input: { any: ["thing", null, 1.5] } },
      config: { tags: ["tagged"], configurable: { flavour: "lemon" } },
      context: { tone: "dry" },
      metadata: { purpose: "echo" },
    })) as Seen;
    expect(seen).toMatchObject({
      input: { any: ["thing", null, 1.5] },
      configurable: { flavour: "lemon", thread_id, graph_id: "echo", run_id: expect.any(String) },
      context: has("context") ? { tone: "dry" } : null,
      metadata: { purpose: "echo" },
      greeting: "hello from langgraph.json",
    });
    expect(seen["tags"]).toContain("tagged");
  });

  test("a factory builds the graph from the run's configuration", async () => {
    expect(await client.runs.wait(null, "factory", { input: {} })).toEqual({ by: "plain", hops: 1 });
    const long = { input: {}, config: { configurable: { flavour: "long" } } };
    expect(await client.runs.wait(null, "factory", long)).toEqual({ by: "long", hops: 2 });
  });

  test("a plain JavaScript graph that is not compiled runs too", async () => {
    expect(await client.runs.wait(null, "steps", { input: {} })).toEqual({ log: ["one", "two", "three"] });
  });

  test("a command may update the state and go to a node", async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "counter", { input: { add: 1 } });
    const values = await client.runs.wait(thread_id, "counter", {
      command: { update: { total: 8, trail: ["update"] }, goto: "double" },
    });
    expect(values).toMatchObject({ total: 20, trail: ["+1", "*2", "update", "*2"] });
  });
});

describe("runs over HTTP", () => {
  // The JavaScript dev server answers 422 or 500.
  test.each(["/runs", "/runs/wait", "/runs/stream"])("POST %s of an unknown thread is not found", async (path) => {
    const body = { assistant_id: "counter", input: {} };
    for (const multitask_strategy of [undefined, "reject", "enqueue", "interrupt", "rollback"]) {
      const answer = await request("POST", `/threads/${UNKNOWN_ID}${path}`, { ...body, multitask_strategy });
      expect(answer.status).toBe(404);
    }
  });

  test.each(["/runs", "/runs/wait"])("POST %s returns the run's location in a header", async (path) => {
    const thread = (await request("POST", "/threads", {})).json.thread_id;
    const stateful = await request("POST", `/threads/${thread}${path}`, { assistant_id: "counter", input: {} });
    expect(stateful.headers.get("content-location")).toMatch(new RegExp(`^/threads/${thread}/runs/[0-9a-f-]{36}$`));
    const stateless = await request("POST", path, { assistant_id: "counter", input: {} });
    expect(stateless.headers.get("content-location")).toMatch(/^\/runs\/[0-9a-f-]{36}$/);
  });

  test("a stateless run may keep its thread", async () => {
    const body = { assistant_id: "counter", input: { add: 2 }, on_completion: "keep" };
    const run = await request("POST", "/runs", body);
    await request("GET", `/threads/${run.json.thread_id}/runs/${run.json.run_id}/join`);
    expect((await request("GET", `/threads/${run.json.thread_id}`)).json.values).toMatchObject({ total: 4 });
  });

  test("text that looks like an interrupt stays text", async () => {
    const content = '{"__interrupt__": [], "__error__": {"error": "E", "message": "m"}}';
    const body = { assistant_id: "agent", input: { messages: [{ role: "user", content }] } };
    const { json } = await request("POST", "/runs/wait", body);
    expect(json.messages[1].content).toBe(`You said: ${content}`);
  });

  // The JavaScript dev server ignores durability.
  test.runIf(has("durability"))("durability exit keeps only the run's last checkpoint", async () => {
    const thread = (await request("POST", "/threads", {})).json.thread_id;
    const body = { assistant_id: "counter", input: { add: 1 }, durability: "exit" };
    expect((await request("POST", `/threads/${thread}/runs/wait`, body)).json).toMatchObject({ total: 2 });
    const history = await request("GET", `/threads/${thread}/history`);
    expect(history.json).toMatchObject([{ values: { total: 2 }, next: [] }]);
  });

  test("headers beginning with x- reach the graph", async () => {
    const body = { assistant_id: "echo", input: {} };
    const { json } = await request("POST", "/runs/wait", body, { "x-tenant": "blue" });
    expect(json.seen.configurable).toMatchObject({ "x-tenant": "blue" });
  });
});
