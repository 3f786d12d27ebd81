import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { createCaller } from "../../../test/call.ts";
import { openGuard, WORKSPACE } from "../../../test/principal.ts";
import { microseconds, nextInstant, type SampleRun, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import { createTraceApp } from "../../trace-app.ts";
import { RunWriter } from "./run-writer.ts";
import { TraceHeads } from "./trace-heads.ts";

const { call, platform, clickhouse, sql } = await testTracePlatform();

type Json = Awaited<ReturnType<typeof call>>["json"];

/** Runs `work` against the same stores through a process without cached runs. */
async function afterRestart<T>(work: (again: typeof call) => Promise<T>): Promise<T> {
  const writer = new RunWriter({ ...platform.deps, registry: new Registry() });
  writer.start();
  try {
    return await work(createCaller(createTraceApp({ ...platform.deps, writer }, openGuard)));
  } finally {
    await writer.stop();
    await platform.deps.writer.forget({ traces: [] });
  }
}

const projectId = (name: string) => platform.deps.projects.ensureProject(WORKSPACE, name);
const usage = (input: number, output: number) => ({
  usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
});

/** What users see of a project's traces: everywhere the same ones. */
async function visible(project: string): Promise<{ runs: Json[]; strict: string[] }> {
  const session = await projectId(project);
  const select = ["id", "name", "total_tokens", "is_provisional_root", "thread_id"];
  const heads = { session: [session], is_root: true, include_provisional_roots: true };
  const listed = (await call("POST", "/runs/query", { ...heads, select })).json.runs as Json[];
  const strict = (await call("POST", "/runs/query", { session: [session], is_root: true })).json.runs as Json[];
  const traces = (
    await call("POST", "/api/v2/traces/query", {
      project_id: session,
      min_start_time: "2020-01-01T00:00:00Z",
      selects: ["ID", "TOTAL_TOKENS"],
    })
  ).json.items as Json[];
  const [stats, statistics] = await Promise.all([
    call("GET", `/sessions/${session}?include_stats=true`),
    call("POST", "/runs/stats", heads),
  ]);
  const tokens = listed.reduce((sum, run) => sum + run["total_tokens"], 0);
  expect(stats.json).toMatchObject({ run_count: listed.length, total_tokens: tokens });
  expect(statistics.json).toMatchObject({ run_count: listed.length });
  expect(statistics.json.total_tokens ?? 0).toBe(tokens);
  expect(traces.map(({ root_run }) => root_run.id)).toEqual(listed.map((run) => run["id"]));
  expect(traces.map((trace) => trace["is_provisional_root"] ?? false)).toEqual(
    listed.map((run) => run["is_provisional_root"]),
  );
  return { runs: listed, strict: strict.map((run) => run["id"] as string) };
}

const heads = async (project: string) =>
  (await visible(project)).runs.map((run) => [run["id"], run["is_provisional_root"]]);

/** Root, agent, model call. */
type Trace = [root: SampleRun, agent: SampleRun, call: SampleRun];

function sampleTrace(project: string, thread?: string): Trace {
  const extra = thread === undefined ? {} : { extra: { metadata: { conversation_id: thread } } };
  const root = sampleRun(project, { name: "gateway" });
  const agent = sampleRun(project, { name: "agent", ...extra }, { parent: root });
  const llm = sampleRun(
    project,
    { name: "model", run_type: "llm", outputs: usage(10, 5), ...extra },
    { parent: agent },
  );
  return [root, agent, llm];
}

const stored = async (table: string) =>
  Number((await sql<{ n: number }[]>`select count(*)::int as n from ${sql(table)}`)[0]!.n);

test("traces whose root never arrives are listed and counted, with a mark", async () => {
  const traces = Array.from({ length: 5 }, (_, i) => sampleTrace("orphans", `conversation ${i % 2}`));
  for (const [, agent, llm] of traces) await sendRuns(call, [agent, llm]);
  const { runs, strict } = await visible("orphans");
  expect(runs).toEqual(
    traces.toReversed().map(([, agent], i) =>
      expect.objectContaining({
        id: agent.id,
        name: "agent",
        total_tokens: 15,
        is_provisional_root: true,
        thread_id: `conversation ${i % 2}`,
      }),
    ),
  );
  expect(strict).toEqual([]);
  const session_id = await projectId("orphans");
  const groups = (await call("POST", "/runs/group", { session_id, group_by: "conversation" })).json;
  expect(groups.groups.map((group: Json) => [group["thread_id"], group["count"], group["total_tokens"]])).toEqual([
    ["conversation 0", 3, 45],
    ["conversation 1", 2, 30],
  ]);
  const [, agent] = traces[0]!;
  expect((await call("GET", `/runs/${agent.id}`)).json).toMatchObject({ is_provisional_root: true, total_tokens: 15 });
  const missing = await call("GET", `/runs/${agent.trace_id}`);
  expect(missing.status).toBe(404);
  expect(missing.json.detail).toContain(agent.id);
  const runsOfTrace = (await call("POST", "/runs/query", { trace: agent.trace_id })).json.runs;
  expect(runsOfTrace).toHaveLength(2);
});

test("a root that arrives takes the place of its stand-in, and nothing is counted twice", async () => {
  const [root, agent, llm] = sampleTrace("late root", "t");
  await sendRuns(call, [llm]);
  expect(await heads("late root")).toEqual([[llm.id, true]]);
  await sendRuns(call, [agent]);
  expect(await heads("late root")).toEqual([[agent.id, true]]);
  await sendRuns(call, [root]);
  const { runs, strict } = await visible("late root");
  expect(runs).toMatchObject([{ id: root.id, is_provisional_root: false, total_tokens: 15, thread_id: "t" }]);
  expect(strict).toEqual([root.id]);
  // repeated, in any order
  await sendRuns(call, [llm, agent, root]);
  await sendRuns(call, [sampleRun("late root", {}, { parent: agent })]);
  expect(await heads("late root")).toEqual([[root.id, false]]);
  expect((await call("GET", `/runs/${agent.id}`)).json).toMatchObject({ is_provisional_root: false });
});

test("a root takes the place also after a restart, and children of known roots are no heads", async () => {
  const [root, agent, llm] = sampleTrace("restarts");
  await sendRuns(call, [llm]);
  await afterRestart((again) => sendRuns(again, [agent]));
  expect(await heads("restarts")).toEqual([[agent.id, true]]);
  await afterRestart((again) => sendRuns(again, [root]));
  expect(await heads("restarts")).toEqual([[root.id, false]]);
  await afterRestart((again) => sendRuns(again, [sampleRun("restarts", {}, { parent: llm })]));
  expect(await heads("restarts")).toEqual([[root.id, false]]);
});

test("a root, its children and their order within one batch do not matter", async () => {
  const traces = [0, 1, 2].map(() => sampleTrace("batches"));
  const [[a1, a2, a3], [b1, b2, b3], [c1, c2, c3]] = traces as [Trace, Trace, Trace];
  await sendRuns(call, [a3, b3, a2, b2]);
  await sendRuns(call, [a1, c3, c1, c2]);
  expect(await heads("batches")).toEqual([
    [c1.id, false],
    [b2.id, true],
    [a1.id, false],
  ]);
  await sendRuns(call, [b1]);
  expect((await visible("batches")).strict).toEqual([c1.id, b1.id, a1.id]);
});

test("a parent with a later clock goes before its child", async () => {
  const root = sampleRun("clocks");
  const agent = sampleRun("clocks", { start_time: nextInstant() }, { parent: root });
  const llm = sampleRun("clocks", {}, { parent: agent });
  // the child's machine is behind: without dotted order, which would be rejected
  const placeless = (run: SampleRun, start_time: string) => ({ ...run, dotted_order: undefined, start_time });
  const early = placeless(llm, root.start_time);
  await sendRuns(call, [early as unknown as SampleRun]);
  expect(await heads("clocks")).toEqual([[llm.id, true]]);
  await sendRuns(call, [agent]);
  expect(await heads("clocks")).toEqual([[agent.id, true]]);
  const other = placeless(sampleRun("clocks", {}, { parent: agent }), root.start_time);
  await sendRuns(call, [other as unknown as SampleRun]);
  expect(await heads("clocks")).toEqual([[agent.id, true]]);
});

test("a root in another project leaves the trace a provisional root in this one", async () => {
  const [root, agent, llm] = sampleTrace("the gateway's");
  const here = [agent, llm].map((run) => ({ ...run, session_name: "the agent's" }));
  await sendRuns(call, here);
  await sendRuns(call, [root]);
  expect(await heads("the agent's")).toEqual([[agent.id, true]]);
  expect(await heads("the gateway's")).toEqual([[root.id, false]]);
  await afterRestart((again) =>
    sendRuns(again, [{ ...sampleRun("x", {}, { parent: agent }), session_name: "the agent's" }]),
  );
  expect(await heads("the agent's")).toEqual([[agent.id, true]]);
});

test("children without a place in the trace leave no head behind when their parent shows it", async () => {
  const root = sampleRun("places");
  const parent = sampleRun("places", {}, { parent: root });
  const children = [1, 2].map(() => {
    return { ...sampleRun("places", {}, { parent }), ...({ dotted_order: undefined, trace_id: undefined } as object) };
  });
  await sendRuns(call, children);
  expect(await heads("places")).toEqual([[children[0]!.id, true]]);
  await sendRuns(call, [root, parent]);
  await expect.poll(() => heads("places")).toEqual([[root.id, false]]);
  expect((await call("GET", `/runs/${children[0]!.id}`)).json.trace_id).toBe(root.id);
});

const hex = (digits: number) =>
  Array.from({ length: digits }, () => Math.floor(Math.random() * 16).toString(16)).join("");
const span = (
  traceId: string,
  spanId: string,
  parentSpanId: string | undefined,
  name: string,
  attributes: Json = {},
) => ({
  traceId,
  spanId,
  ...(parentSpanId && { parentSpanId }),
  name,
  kind: 1,
  startTimeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
  endTimeUnixNano: String(BigInt(Date.now() + 5) * 1_000_000n),
  attributes: Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  })),
});
const export_ = async (by: typeof call, project: string, ...spans: object[]) => {
  const body = { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: "x" }, spans }] }] };
  expect((await by("POST", "/otel/v1/traces", body, { "Langsmith-Project": project })).status).toBe(200);
};
const spanRun = (spanId: string) => `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;

test("OpenTelemetry: children are exported before their root, which may be exported anywhere", async () => {
  const [trace, http, agent, chat] = [hex(32), hex(16), hex(16), hex(16)];
  const llm = { "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 };
  await export_(call, "otel", span(trace, chat, agent, "chat", llm));
  expect(await heads("otel")).toEqual([[spanRun(chat), true]]);
  await export_(call, "otel", span(trace, agent, http, "invoke_agent"));
  expect(await heads("otel")).toEqual([[spanRun(agent), true]]);
  await export_(call, "otel", span(trace, http, undefined, "POST /chat"));
  expect((await visible("otel")).runs).toMatchObject([{ id: spanRun(http), total_tokens: 15 }]);
  // a span of a trace that no process remembers
  await afterRestart((again) => export_(again, "otel", span(trace, hex(16), agent, "late")));
  expect((await visible("otel")).strict).toEqual([spanRun(http)]);
  expect(await heads("otel")).toEqual([[spanRun(http), false]]);
});

test("a conversation named by a child is the thread of the trace, whichever arrives first", async () => {
  const conversation = (id: string) => ({ "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": id });
  const traces = Array.from({ length: 4 }, () => ({ trace: hex(32), http: hex(16), agent: hex(16) }));
  const [before, after, together, restarted] = traces as [
    (typeof traces)[0],
    (typeof traces)[0],
    (typeof traces)[0],
    (typeof traces)[0],
  ];
  const root = ({ trace, http }: (typeof traces)[0]) => span(trace, http, undefined, "POST /chat");
  const agent = ({ trace, http, agent }: (typeof traces)[0]) => span(trace, agent, http, "agent", conversation("c 1"));
  await export_(call, "web", agent(before));
  await export_(call, "web", root(before));
  await export_(call, "web", root(after));
  await export_(call, "web", agent(after));
  await export_(call, "web", agent(together), root(together));
  await export_(call, "web", root(restarted));
  await afterRestart((again) => export_(again, "web", agent(restarted)));
  const project_id = await projectId("web");
  const threads = await call("POST", "/api/v2/threads/query", { project_id });
  expect(threads.json.items).toMatchObject([{ thread_id: "c 1", count: 4 }]);
  const turns = await call("GET", `/api/v2/threads/c%201/traces?project_id=${project_id}`);
  expect(turns.json.items.map((turn: Json) => turn["trace_id"].replaceAll("-", ""))).toEqual(
    expect.arrayContaining(traces.map(({ trace }) => trace)),
  );
});

test("a root's own thread goes before that of other runs", async () => {
  const metadata = (thread_id: string) => ({ extra: { metadata: { thread_id } } });
  const root = sampleRun("own thread", metadata("own"));
  const child = sampleRun("own thread", metadata("child's"), { parent: root });
  await sendRuns(call, [child]);
  await sendRuns(call, [root]);
  await sendRuns(call, [sampleRun("own thread", metadata("another"), { parent: root })]);
  const late = sampleRun("own thread", {}, { seconds: null });
  await sendRuns(call, [late, sampleRun("own thread", metadata("child's"), { parent: late })]);
  await call("PATCH", `/runs/${late.id}`, { ...metadata("own"), end_time: microseconds(Date.now()) });
  const session_id = await projectId("own thread");
  const { groups } = (await call("POST", "/runs/group", { session_id, group_by: "conversation" })).json;
  expect(groups.map((group: Json) => [group["thread_id"], group["count"]])).toEqual([["own", 2]]);
});

test("a deleted trace leaves no provisional root, and late runs do not bring one back", async () => {
  const [root, agent, llm] = sampleTrace("deleted");
  const [, kept] = sampleTrace("deleted");
  await sendRuns(call, [agent, kept]);
  const before = await stored("provisional_roots");
  await call("POST", "/runs/delete", { trace_ids: [agent.trace_id] });
  expect(await stored("provisional_roots")).toBe(before - 1);
  await sendRuns(call, [llm, root]);
  expect(await heads("deleted")).toEqual([[kept.id, true]]);
  const session = await projectId("deleted");
  await call("DELETE", `/sessions/${session}`);
  expect(await sql`select 1 from provisional_roots where project_id = ${session}`).toHaveLength(0);
});

test("a provisional root that was recorded and not stored does not become a run", async () => {
  const [root, agent, llm] = sampleTrace("lost");
  const project_id = await projectId("lost");
  const ghost = { trace_id: root.id, project_id, run_id: uuid7(), start_time: "2026-11-01 00:00:00.000000" };
  await sql`insert into provisional_roots ${sql({ tenant_id: WORKSPACE, ...ghost })}`;
  await sendRuns(call, [llm]);
  expect(await heads("lost")).toEqual([[llm.id, true]]);
  await sendRuns(call, [agent, root]);
  expect(await heads("lost")).toEqual([[root.id, false]]);
  const params = { id: ghost.run_id };
  const query = "select count() as n from runs where id = {id:UUID}";
  expect(await clickhouse.rows({ name: "test", query, params })).toEqual([{ n: 0 }]);
  expect(await sql`select 1 from provisional_roots where project_id = ${project_id}`).toHaveLength(0);
});

test("a root that another replica stored at the same moment is found by the check", async () => {
  const [root, agent] = sampleTrace("replicas");
  await sendRuns(call, [agent]);
  const rows = await sql`select * from provisional_roots where run_id = ${agent.id}`;
  await sendRuns(call, [root]);
  // as if that replica had not seen the row
  await sql`insert into provisional_roots ${sql(rows)}`;
  const piece = { kind: "patch" as const, id: agent.id, attachments: [], received_at: "2026-11-01 00:00:00.000000" };
  await platform.deps.writer.write(WORKSPACE, [{ ...piece, fields: { provisional_root: true } }]);
  const { writer } = platform.deps;
  const checker = new TraceHeads(platform.deps, (tenantId, pieces) => writer.write(tenantId, pieces));
  await checker.check(60);
  expect(await heads("replicas")).toHaveLength(2);
  await checker.check(0);
  expect(await heads("replicas")).toEqual([[root.id, false]]);
  expect(await sql`select 1 from provisional_roots where run_id = ${agent.id}`).toHaveLength(0);
});
