/** Runs of graphs appear as traces without configuration: only `heddle dev` and the official clients. */
import type { Run } from "langsmith/schemas";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type Client as AgentClient, connectTo } from "../clients.ts";
import { startTracedServer } from "../server.ts";
import { all, connect } from "./client.ts";

let server: Awaited<ReturnType<typeof startTracedServer>>;
let agents: AgentClient;
let traces: ReturnType<typeof connect>;
const SLOW = 200_000;

beforeAll(async () => {
  server = await startTracedServer();
  agents = connectTo("1.15.0", server.url);
  traces = connect({ apiUrl: server.tracesUrl });
}, SLOW);
afterAll(() => server.stop());

/** Starts a run and waits for its end. */
async function run(graph: string, input: Record<string, unknown>, threadId?: string, more: object = {}) {
  const thread_id = threadId ?? (await agents.threads.create()).thread_id;
  const { run_id } = await agents.runs.create(thread_id, graph, { input, ...more });
  await agents.runs.join(thread_id, run_id).catch(() => {});
  return { thread_id, run_id };
}

/** Returns the trace of a run once it has ended, the root first. */
async function readTrace(runId: string): Promise<Run[]> {
  await expect.poll(() => readRoot(runId).then((root) => root?.end_time), { timeout: 20_000 }).toBeTruthy();
  const runs = await all(traces.listRuns({ traceId: runId }));
  return runs.sort((a, b) => Number(Boolean(a.parent_run_id)) - Number(Boolean(b.parent_run_id)));
}

const readRoot = (runId: string): Promise<Run | undefined> => traces.readRun(runId).catch(() => undefined);
const named = (runs: Run[], name: string): Run => runs.find((run) => run.name === name)!;
const metadata = (run: Run): Record<string, unknown> => run.extra?.["metadata"] as Record<string, unknown>;

test("a run and its trace carry each other's ids and the thread's", async () => {
  const input = { messages: [{ role: "user", content: "hi there" }] };
  const { thread_id, run_id } = await run("agent", input);
  const runs = await readTrace(run_id);
  const [root] = runs;
  expect(root).toMatchObject({ id: run_id, trace_id: run_id, name: "LangGraph", status: "success", inputs: input });
  expect(JSON.stringify(root!.outputs)).toContain("You said: hi there");
  const { assistant_id } = await agents.runs.get(thread_id, run_id);
  for (const run of runs) {
    expect(metadata(run)).toMatchObject({ run_id, thread_id, assistant_id, graph_id: "agent", run_attempt: 1 });
  }
  const model = named(runs, "RuleModel");
  expect(model).toMatchObject({ run_type: "llm", status: "success", trace_id: run_id });
  expect(named(runs, "model").id).toBe(model.parent_run_id);
  // the checkpoint's namespace names the task, as the thread's history does
  expect(metadata(model)["langgraph_checkpoint_ns"]).toMatch(/^model:/);

  const second = await run("agent", input, thread_id);
  await readTrace(second.run_id);
  const ofThread = await all(traces.readThread({ threadId: thread_id, projectName: "default" }));
  expect(ofThread.map(({ id }) => id).sort()).toEqual([run_id, second.run_id].sort());
});

test("a streamed model run records the time of its first token", async () => {
  const input = { messages: [{ role: "user", content: "one two three four" }] };
  const { run_id } = await run("agent", input, undefined, { streamMode: ["messages-tuple"] });
  const model = named(await readTrace(run_id), "RuleModel");
  const { first_token_time: first } = model as { first_token_time?: string };
  expect(Date.parse(first!)).toBeGreaterThanOrEqual(Math.floor(Number(new Date(model.start_time!))));
  expect(Date.parse(first!)).toBeLessThanOrEqual(Number(new Date(model.end_time!)) + 1);
});

test("a failure is an error of the node and of the run, also without a graph", async () => {
  const { run_id } = await run("failing", { reason: "no luck" });
  const runs = await readTrace(run_id);
  expect(runs[0]!.status).toBe("error");
  expect(runs[0]!.error).toContain("no luck");
  expect(named(runs, "fail").error).toContain("no luck");
  expect(named(runs, "prepare").error ?? null).toBeNull();

  const graphless = await run("broken", { a: 1 });
  const [root, ...others] = await readTrace(graphless.run_id);
  expect(root).toMatchObject({ status: "error", inputs: { a: 1 } });
  expect(root!.error).toContain("no graph today");
  expect(others).toEqual([]);
});

test("an interrupted run and the one that resumes it are two traces of one thread", async () => {
  const first = await run("approval", { topic: "news" });
  const asked = await readTrace(first.run_id);
  expect(asked[0]!.status).toBe("success");
  expect(named(asked, "ask").error).toContain("Interrupt");
  const { run_id } = await agents.runs.create(first.thread_id, "approval", { command: { resume: "yes" } });
  await agents.runs.join(first.thread_id, run_id);
  const resumed = await readTrace(run_id);
  expect(resumed[0]).toMatchObject({ id: run_id, status: "success" });
  expect(resumed.map(({ name }) => name)).toEqual(expect.arrayContaining(["ask", "publish"]));
  expect(metadata(resumed[0]!)["thread_id"]).toBe(first.thread_id);
});

test("subgraphs and traceable functions are in their run's trace", async () => {
  const nested = await run("nested", { ask: false });
  const runs = await readTrace(nested.run_id);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const ancestors = (run: Run): string[] =>
    run.parent_run_id ? [run.name, ...ancestors(byId.get(run.parent_run_id)!)] : [run.name];
  const path = ancestors(named(runs, "deep"));
  expect(path.filter((name) => ["deep", "grandchild", "child", "LangGraph"].includes(name))).toEqual(
    expect.arrayContaining(["deep", "grandchild", "child", "LangGraph"]),
  );

  const { run_id } = await run("functions", { n: 21 });
  const ofFunctions = await readTrace(run_id);
  const double = named(ofFunctions, "double");
  expect(double).toMatchObject({ run_type: "tool", trace_id: run_id, outputs: { outputs: 42 } });
  expect(double.parent_run_id).toBe(named(ofFunctions, "compute").id);
});

test("a request may name project and example in langsmith_tracer", async () => {
  const { thread_id } = await agents.threads.create();
  const response = await fetch(`${server.url}/threads/${thread_id}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      assistant_id: "functions",
      input: { n: 1 },
      config: { run_name: "My run", tags: ["nightly"], metadata: { team: "blue" } },
      langsmith_tracer: { project_name: "elsewhere" },
    }),
  });
  expect(await response.json()).toEqual({ n: 2 });
  await expect.poll(() => traces.hasProject({ projectName: "elsewhere" }), { timeout: 10_000 }).toBe(true);
  await expect
    .poll(() => all(traces.listRuns({ projectName: "elsewhere", isRoot: true })).then((runs) => runs[0]?.end_time))
    .toBeTruthy();
  const [root] = await all(traces.listRuns({ projectName: "elsewhere", isRoot: true }));
  expect(root).toMatchObject({ name: "My run", tags: ["nightly"] });
  expect(metadata(root!)).toMatchObject({ team: "blue", thread_id });
});

test(
  "a run whose process dies continues in the same trace, and one that exhausts its attempts is ended",
  { timeout: SLOW },
  async () => {
    const survivor = await run("deadly", { deaths: 1, log: [] });
    const runs = await readTrace(survivor.run_id);
    expect(runs.filter(({ id }) => id === survivor.run_id)).toHaveLength(1);
    expect(runs[0]).toMatchObject({
      status: "success",
      inputs: { deaths: 1 },
      outputs: { log: ["prepared", "survived"] },
    });
    expect(runs[0]!.error ?? null).toBeNull();
    const attempts = runs.filter(({ name }) => name === "die").map((run) => metadata(run)["run_attempt"]);
    expect(attempts.sort()).toEqual([1, 2]);

    const doomed = await run("deadly", { deaths: 9, log: [] });
    expect((await agents.runs.get(doomed.thread_id, doomed.run_id)).status).toBe("error");
    const [root] = await readTrace(doomed.run_id);
    expect(root).toMatchObject({ id: doomed.run_id, status: "error", inputs: { deaths: 9 } });
    expect(root!.error).toContain("graph host");
  },
);

test("/info reports that runs are traced", async () => {
  const info = (await (await fetch(`${server.url}/info`)).json()) as { flags: object };
  expect(info.flags).toMatchObject({ langsmith: true, langsmith_tracing_replicas: true });
});
