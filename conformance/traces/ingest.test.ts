import { RunTree } from "langsmith";
import { traceable } from "langsmith/traceable";
import { AIMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";

import { all, client, connect, unique, url } from "./client.ts";

test("a run is created and updated without batches", async () => {
  const single = connect({ autoBatchTracing: false });
  const id = crypto.randomUUID();
  const projectName = unique("single");
  const start_time = Date.now();
  await single.createRun({
    id,
    name: "one",
    run_type: "llm",
    inputs: { q: "?" },
    project_name: projectName,
    start_time,
  });
  await single.updateRun(id, { outputs: { a: "!" }, end_time: start_time + 1500, tags: ["t"], error: "Error: bad" });
  const run = await client.readRun(id);
  expect(run).toMatchObject({
    id,
    name: "one",
    run_type: "llm",
    inputs: { q: "?" },
    outputs: { a: "!" },
    error: "Error: bad",
    status: "error",
    tags: ["t"],
    trace_id: id,
  });
  expect(run.dotted_order).toMatch(new RegExp(`^\\d{8}T\\d{12}Z${id}$`));
  expect(await client.hasProject({ projectName })).toBe(true);
});

test("an update may come before its create", async () => {
  const single = connect({ autoBatchTracing: false });
  const id = crypto.randomUUID();
  await single.updateRun(id, { outputs: { late: false }, end_time: Date.now() });
  await single.createRun({ id, name: "late", run_type: "chain", inputs: {}, project_name: unique("order") });
  await expect.poll(async () => (await client.readRun(id)).outputs).toEqual({ late: false });
});

test.each([true, false])(
  "traceable functions form a tree with ordered children (batched: %s)",
  async (autoBatchTracing) => {
    const tracing = connect({ autoBatchTracing });
    const project_name = unique("traceable");
    const child = traceable((n: number) => ({ n: n + 1 }), {
      name: "child",
      run_type: "tool",
      client: tracing,
      project_name,
    });
    const parent = traceable(
      async (n: number) => {
        await child(n);
        return child(n + 1);
      },
      {
        name: "parent",
        client: tracing,
        project_name,
        metadata: { thread_id: "T1", team: "blue" },
        tags: ["x"],
        tracingEnabled: true,
      },
    );
    await parent(1);
    await tracing.awaitPendingTraceBatches();
    // awaitPendingTraceBatches() does not wait for unbatched requests
    const read = () => all(client.listRuns({ projectName: project_name }));
    await expect.poll(async () => (await read()).filter(({ end_time }) => end_time).length).toBe(3);
    const runs = await read();
    expect(runs.map(({ name }) => name).toSorted()).toEqual(["child", "child", "parent"]);
    const root = runs.find(({ name }) => name === "parent")!;
    expect(root).toMatchObject({ trace_id: root.id, tags: ["x"], outputs: { n: 3 } });
    expect(root.extra).toMatchObject({ metadata: { thread_id: "T1", team: "blue" } });
    for (const run of runs.filter(({ name }) => name === "child")) {
      expect(run).toMatchObject({ parent_run_id: root.id, trace_id: root.id, run_type: "tool" });
      expect(run.dotted_order?.startsWith(`${root.dotted_order}.`)).toBe(true);
    }
    const { start_time, dotted_order } = root as { start_time?: unknown; dotted_order?: string };
    expect(String(start_time).replaceAll(/[-:.Z]/g, "")).toBe(dotted_order!.slice(0, 21));
  },
);

test("an error of a traceable function is the run's error", async () => {
  const project_name = unique("failing");
  const failing = traceable(() => Promise.reject(new Error("on purpose")), {
    name: "f",
    client,
    project_name,
    tracingEnabled: true,
  });
  await expect(failing()).rejects.toThrow("on purpose");
  await client.awaitPendingTraceBatches();
  const [run] = await all(client.listRuns({ projectName: project_name, error: true }));
  expect(run).toMatchObject({ status: "error", error: expect.stringContaining("on purpose") });
});

test("accepts many concurrent runs, compressed with gzip, without warnings", async () => {
  const project_name = unique("many");
  const warnings: unknown[] = [];
  const warn = console.warn;
  console.warn = (...args: unknown[]) => warnings.push(args);
  try {
    for (let n = 0; n < 500; n++) {
      const run = new RunTree({
        name: `run ${n}`,
        client,
        project_name,
        inputs: { text: "x".repeat(1000) },
        run_type: "chain",
      });
      await run.postRun();
      await run.end({ n });
      await run.patchRun();
    }
    await client.awaitPendingTraceBatches();
  } finally {
    console.warn = warn;
  }
  expect(warnings).toEqual([]);
  const names = new Set<string>();
  for await (const run of client.listRuns({ projectName: project_name, select: ["id", "name", "outputs", "status"] })) {
    names.add(run.name);
    expect(run).toMatchObject({ status: "success", outputs: { n: Number(run.name.slice(4)) } });
  }
  expect(names.size).toBe(500);
});

test("attachments are returned byte for byte by their links, without a key", async () => {
  const project_name = unique("files");
  const data = new Uint8Array([0, 255, 13, 10, 45, 45, 1]);
  const run = new RunTree({
    name: "with a file",
    client,
    project_name,
    inputs: {},
    attachments: { image: ["image/png", data], note: { mimeType: "text/plain", data: new TextEncoder().encode("hi") } },
  });
  await run.postRun();
  await client.awaitPendingTraceBatches();
  const response = await fetch(`${url}/runs/${run.id}`);
  const { s3_urls } = (await response.json()) as {
    s3_urls: Record<string, { presigned_url: string; mime_type: string }>;
  };
  const link = new URL(s3_urls["attachment.image"]!.presigned_url, url);
  const file = await fetch(link);
  expect(file.headers.get("content-type")).toBe("image/png");
  expect(new Uint8Array(await file.arrayBuffer())).toEqual(data);
  expect(Object.keys(s3_urls).toSorted()).toEqual(["attachment.image", "attachment.note"]);
});

test("a run takes its tokens and costs from outputs or metadata", async () => {
  const project_name = unique("usage");
  const usage_metadata = { input_tokens: 7, output_tokens: 5, total_tokens: 12, input_cost: 1e-6, output_cost: 2e-6 };
  const inOutputs = new RunTree({ name: "a", run_type: "llm", client, project_name, inputs: {} });
  await inOutputs.postRun();
  await inOutputs.end({ messages: [], usage_metadata });
  await inOutputs.patchRun();
  const inMetadata = new RunTree({
    name: "b",
    run_type: "llm",
    client,
    project_name,
    inputs: {},
    metadata: { usage_metadata },
  });
  await inMetadata.postRun();
  await client.awaitPendingTraceBatches();
  for (const { id } of [inOutputs, inMetadata]) {
    const run = (await client.readRun(id)) as unknown as Record<string, unknown>;
    expect(run).toMatchObject({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, total_cost: "0.000003" });
  }
});

test("a trace continues in another process through its headers", async () => {
  const project_name = unique("distributed");
  const here = new RunTree({ name: "here", client, project_name, inputs: {}, metadata: { from: "here" }, tags: ["h"] });
  await here.postRun();
  const headers = here.toHeaders();
  // stands for the remote run; local runs become its children
  const parent = RunTree.fromHeaders(headers as unknown as Record<string, string>, { client, project_name })!;
  const there = parent.createChild({ name: "there", inputs: {} });
  await there.postRun();
  await there.end({ ok: true });
  await there.patchRun();
  await client.awaitPendingTraceBatches();
  expect(await client.readRun(there.id)).toMatchObject({ trace_id: here.id, parent_run_id: here.id });
});

test("a LangGraph run is traced by @langchain/core's tracer", async () => {
  const projectName = unique("graph");
  const State = Annotation.Root({
    messages: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  });
  const model = new FakeListChatModel({ responses: ["Hello"] });
  const graph = new StateGraph(State)
    .addNode("ask", async () => ({ messages: [await model.invoke("Hi")] }))
    .addNode("answer", () => ({ messages: [new AIMessage("Bye")] }))
    .addEdge(START, "ask")
    .addEdge("ask", "answer")
    .compile();
  const tracer = new LangChainTracer({ projectName, client });
  await graph.invoke({ messages: [] }, { callbacks: [tracer], metadata: { thread_id: "thread 1" } });
  await client.awaitPendingTraceBatches();
  const runs = await all(client.listRuns({ projectName }));
  const names = runs.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["LangGraph", "ask", "answer", "FakeListChatModel"]));
  const root = runs.find(({ parent_run_id }) => !parent_run_id)!;
  expect(runs.every(({ trace_id, status }) => trace_id === root.id && status === "success")).toBe(true);
  const inThread = await all(client.listRuns({ projectName, filter: 'eq(thread_id, "thread 1")', isRoot: true }));
  expect(inThread.map(({ id }) => id)).toEqual([root.id]);
});

test("an invalid run causes a warning and no retry", async () => {
  const warnings: string[] = [];
  const warn = console.warn;
  console.warn = (...args: unknown[]) => warnings.push(args.map(String).join(" "));
  const tracing = connect({ callerOptions: { maxRetries: 2 } });
  try {
    const run = new RunTree({
      name: "wrong",
      run_type: "nonsense",
      client: tracing,
      project_name: unique("wrong"),
      inputs: {},
    });
    await run.postRun();
    await tracing.awaitPendingTraceBatches();
  } finally {
    console.warn = warn;
  }
  expect(warnings.join("\n")).toContain("run_type must be one of");
});
