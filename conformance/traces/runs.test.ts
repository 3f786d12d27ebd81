import { RunTree } from "langsmith";
import { expect, test } from "vitest";

import { all, client, unique, url } from "./client.ts";

/** Sends an agent's trace: a chain, a model call below it, and a tool that fails. */
async function sendTrace(project_name: string, metadata: Record<string, unknown> = {}) {
  const root = new RunTree({
    name: "agent",
    run_type: "chain",
    inputs: { q: "?" },
    project_name,
    client,
    metadata,
    tags: ["t"],
  });
  await root.postRun();
  const model = root.createChild({
    name: "model",
    run_type: "llm",
    inputs: { messages: [{ role: "user", content: "hi" }] },
  });
  await model.postRun();
  await model.end({ usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } });
  await model.patchRun();
  const tool = model.createChild({ name: "tool", run_type: "tool", inputs: { x: 1 } });
  await tool.postRun();
  await tool.end(undefined, "Error: broken");
  await tool.patchRun();
  await root.end({ a: 42 });
  await root.patchRun();
  await client.awaitPendingTraceBatches();
  return { root, model, tool };
}

const names = (runs: { name?: string }[]) => runs.map((run) => run.name);

test("readRun returns the run, with its children on request", async () => {
  const { root, model, tool } = await sendTrace(unique("read"), { user: "u" });
  const run = await client.readRun(root.id, { loadChildRuns: true });
  expect(run).toMatchObject({
    id: root.id,
    name: "agent",
    run_type: "chain",
    inputs: { q: "?" },
    outputs: { a: 42 },
    trace_id: root.id,
    dotted_order: root.dotted_order,
    tags: ["t"],
    status: "success",
    total_tokens: 7,
    child_runs: [{ id: model.id, parent_run_id: root.id, child_runs: [{ id: tool.id, error: "Error: broken" }] }],
  });
  expect(run.extra).toMatchObject({ metadata: { user: "u" } });
  expect(run.start_time!.toString().replace(/[-:.]|Z$/g, "")).toBe(root.dotted_order.split("Z")[0]);
  await expect(client.readRun(crypto.randomUUID())).rejects.toMatchObject({ status: 404 });
});

test("listRuns applies every filter of the client", async () => {
  const projectName = unique("list");
  const { root, model, tool } = await sendTrace(projectName, { user: "u1" });
  const other = await sendTrace(projectName, { user: "u2" });
  const list = async (query: object) => names(await all(client.listRuns({ projectName, ...query })));
  expect(await list({})).toHaveLength(6);
  expect(await list({ isRoot: true })).toEqual(["agent", "agent"]);
  expect(await list({ runType: "llm" })).toEqual(["model", "model"]);
  expect(await list({ error: true })).toEqual(["tool", "tool"]);
  expect(await list({ limit: 3 })).toHaveLength(3);
  expect(await list({ traceId: root.id, order: "asc" })).toEqual(["agent", "model", "tool"]);
  expect(await list({ parentRunId: root.id })).toEqual(["model"]);
  const filter = 'and(eq(metadata_key, "user"), eq(metadata_value, "u1"), eq(is_root, true))';
  expect((await all(client.listRuns({ projectName, filter }))).map((run) => run.id)).toEqual([root.id]);
  expect(await list({ filter: 'eq(run_type, "tool")', traceFilter: 'has(tags, "t")' })).toHaveLength(2);
  expect(await list({ isRoot: true, treeFilter: 'eq(name, "nobody")' })).toEqual([]);
  const byId = await all(client.listRuns({ id: [model.id, tool.id] }));
  expect(new Set(byId.map((run) => run.id))).toEqual(new Set([model.id, tool.id]));
  const [selected] = await all(client.listRuns({ projectName, isRoot: true, limit: 1, select: ["outputs"] }));
  expect(selected).toMatchObject({ id: other.root.id, name: "agent", outputs: { a: 42 } });
  expect(selected).not.toHaveProperty("inputs");
  await expect(all(client.listRuns({ projectName, filter: "eq(name, x)" }))).rejects.toThrow(/character 9/);
});

test("listRuns fetches all pages", async () => {
  const projectName = unique("pages");
  const runs = Array.from(
    { length: 230 },
    (_, i) => new RunTree({ name: `run ${i}`, inputs: {}, project_name: projectName, client }),
  );
  await Promise.all(runs.map((run) => run.postRun()));
  await client.awaitPendingTraceBatches();
  const found = await all(client.listRuns({ projectName }));
  expect(new Set(names(found))).toEqual(new Set(names(runs)));
});

test("a run has a URL and can be shared", async () => {
  const { root, model } = await sendTrace(unique("shared"));
  expect(await client.getRunUrl({ runId: model.id })).toContain(`/r/${model.id}`);
  expect(await client.readRunSharedLink(root.id)).toBeUndefined();
  const link = await client.shareRun(root.id);
  expect(await client.readRunSharedLink(root.id)).toBe(link);
  const token = link.split("/").at(-2)!;
  expect(names(await client.listSharedRuns(token))).toEqual(["agent", "model", "tool"]);
  expect(names(await client.listSharedRuns(token, { runIds: [model.id] }))).toEqual(["model"]);
  expect((await fetch(`${url}/public/${token}/run`)).status).toBe(200);
  await client.unshareRun(root.id);
  expect(await client.readRunSharedLink(root.id)).toBeUndefined();
});

test("returns statistics of runs, and threads", async () => {
  const projectName = unique("statistics");
  const thread_id = unique("thread");
  await sendTrace(projectName, { thread_id });
  await sendTrace(projectName, { thread_id });
  const stats = await client.getRunStats({ projectNames: [projectName], isRoot: true });
  expect(stats).toMatchObject({ run_count: 2, total_tokens: 14, error_rate: 0 });

  const [group] = await all(client.listGroupRuns({ projectName, groupBy: "conversation" }));
  expect(group).toMatchObject({ thread_id, count: 2, total_tokens: 14 });
  const threads = await client.listThreads({ projectName });
  expect(threads).toMatchObject([{ thread_id, count: 2 }]);
  expect(names(await all(client.readThread({ threadId: thread_id, projectName })))).toEqual(["agent", "agent"]);
});

test("the v2 methods return runs, traces and threads", async () => {
  const projectName = unique("v2");
  const thread_id = unique("thread");
  const { root, model } = await sendTrace(projectName, { thread_id });
  const project_id = (await client.readProject({ projectName })).id;
  const runs = await all(
    client.runs.query({ project_ids: [project_id], selects: ["ID", "NAME", "RUN_TYPE"], page_size: 2 }),
  );
  expect(runs.map((run) => run.run_type)).toEqual(["TOOL", "LLM", "CHAIN"]);
  const run = await client.runs.retrieve(root.id, { project_id, selects: ["ID", "STATUS", "TOTAL_TOKENS", "TAGS"] });
  expect(run).toEqual({ id: root.id, status: "SUCCESS", total_tokens: 7, tags: ["t"] });
  expect((await client.runs.getURL(model.id, { project_id, trace_id: root.id })).url).toContain(model.id);
  const { items } = await client.traces.listRuns(root.id, { project_id, selects: ["NAME"] });
  expect(items).toEqual([{ name: "agent" }, { name: "model" }, { name: "tool" }]);
  const [trace] = await all(client.traces.query({ project_id, selects: ["ID"] }));
  expect(trace).toMatchObject({ root_run: { id: root.id }, trace_aggregates: { total_tokens: 7 } });

  const [thread] = await all(client.threads.query({ project_id }));
  expect(thread).toMatchObject({ thread_id, count: 1, total_tokens: 7 });
  expect(await all(client.threads.listTraces(thread_id, { project_id }))).toEqual([{ trace_id: root.id }]);
  const stats = await client.threads.stats(thread_id, { session_id: project_id, selects: ["TURNS", "TOTAL_TOKENS"] });
  expect(stats).toEqual({ turns: 1, total_tokens: 7 });

  const { share_token } = await client.runs.share.create(model.id, { session_id: project_id, trace_id: root.id });
  const shared = await client.public.runs.query(share_token!, { selects: ["ID"] });
  expect(shared.items).toHaveLength(3);
  await client.runs.share.delete(root.id, { session_id: project_id });
  await expect(client.public.runs.query(share_token!, {})).rejects.toMatchObject({ status: 404 });
});
