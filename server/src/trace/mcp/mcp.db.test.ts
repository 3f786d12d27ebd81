import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, test } from "vitest";

import { createTraceApp } from "../../trace-app.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testTenants } from "../../../test/identity.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const db = await testDatabase();
const { a, b } = await testTenants(db);
const guard = await testGuard(db);
const { platform, call } = await testTracePlatform({ HEDDLE_PUBLIC_URL: "https://heddle.example" }, { db, guard });
const app = createTraceApp(platform.deps, guard);

const keyed = (key: string) => ({ "x-api-key": key });
const fetchFrom = (async (url: URL | string, init?: RequestInit) =>
  app.request(url instanceof URL ? url.href : url, init)) as typeof fetch;

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: "a test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL("http://heddle.test/mcp"), {
    fetch: fetchFrom,
    requestInit,
  });
  await client.connect(transport as never);
  return client;
}

const root = sampleRun("shop", {
  name: "agent",
  tags: ["blue"],
  extra: { metadata: { user: "ann", thread_id: "t-1" } },
});
const long = "x".repeat(3000);
const tool = sampleRun(
  "shop",
  { name: "search", run_type: "tool", error: "Timeout: no answer", outputs: { text: long } },
  { parent: root },
);
const other = sampleRun("shop", { name: "agent", outputs: { answer: 43 } }, { seconds: 9 });

let client: Client;
const use = async (name: string, input: object = {}, by = client) => {
  const { isError, structuredContent, content } = await by.callTool({ name, arguments: { ...input } });
  const [{ text }] = content as [{ text: string }];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
  return { failed: isError === true, text, data: structuredContent as any };
};

beforeAll(async () => {
  await sendRuns(call, [root, tool, other], keyed(a.editor));
  client = await connect(a.editor);
});

test("lists strict schemas, and only the tools that the key may use", async () => {
  const { tools } = await client.listTools();
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    expect([name, inputSchema.additionalProperties, outputSchema?.type]).toEqual([name, false, "object"]);
    expect(description!.length).toBeGreaterThan(30);
    expect(annotations?.destructiveHint).toBe(false);
  }
  const writing = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name);
  expect(writing).toEqual(["create_dataset", "add_examples", "commit_prompt", "add_feedback"]);
  const viewer = await connect(a.viewer);
  const seen = (await viewer.listTools()).tools.map(({ name }) => name);
  expect(seen).toEqual(tools.map(({ name }) => name).filter((name) => !writing.includes(name)));
  const { failed, text } = await use("add_feedback", { run_id: root.id, key: "k", score: 1 }, viewer);
  expect([failed, text]).toEqual([true, expect.stringContaining("lacks the permission feedback:create")]);
});

test("finds runs by plain filters and pages through them", async () => {
  expect((await use("list_projects")).data.projects).toEqual([
    expect.objectContaining({ name: "shop", run_count: 2, error_rate: 0 }),
  ]);
  const ids = async (input: object) =>
    (await use("query_runs", { project: "shop", ...input })).data.runs.map(({ id }: { id: string }) => id);
  expect(await ids({})).toEqual([other.id, root.id]);
  expect(await ids({ status: "error", root_only: false })).toEqual([tool.id]);
  expect(await ids({ tags: ["blue"], metadata: { user: "ann" }, thread_id: "t-1", since: "9000d" })).toEqual([root.id]);
  expect(await ids({ min_latency_seconds: 5, filter: 'eq(name, "agent")' })).toEqual([other.id]);
  expect(await ids({ text: "no answer", root_only: false, run_type: "tool" })).toEqual([tool.id]);
  expect(await ids({ sort_by: "latency", order: "asc" })).toEqual([root.id, other.id]);
  expect(await ids({ sort_by: "feedback:none" })).toEqual([other.id, root.id]);
  const first = (await use("query_runs", { project: "shop", limit: 1 })).data;
  expect(await ids({ limit: 1, cursor: first.next_cursor })).toEqual([root.id]);
  const { groups } = (await use("get_run_statistics", { project: "shop", root_only: false, group_by: "name" })).data;
  expect(groups).toMatchObject({ agent: { run_count: 2 }, search: { run_count: 1 } });
});

test("finds traces whose root went elsewhere, as the console does, and runs that never ended", async () => {
  const elsewhere = sampleRun("elsewhere");
  const head = sampleRun("child only", { name: "head" }, { parent: elsewhere });
  const below = sampleRun("child only", { name: "below" }, { parent: head });
  const start_time = microseconds(Date.now() - 25 * 3_600_000);
  const open = sampleRun("child only", { name: "open", start_time }, { seconds: null });
  await sendRuns(call, [head, below, open], keyed(a.editor));
  const names = async (input: object) =>
    (await use("query_runs", { project: "child only", ...input })).data.runs
      .map(({ name }: { name: string }) => name)
      .toSorted();
  expect(await names({})).toEqual(["head", "open"]);
  expect(await names({ root_only: false })).toEqual(["below", "head", "open"]);
  expect(await names({ status: "incomplete" })).toEqual(["open"]);
  const { groups } = (await use("get_run_statistics", { project: "child only" })).data;
  expect(groups.all.run_count).toBe(2);
});

test("tells what to do about wrong arguments", async () => {
  for (const [input, message] of [
    [{ project: "none" }, 'There is no project "none". list_projects'],
    [{ project: "shop", sinse: "1d" }, "sinse"],
    [{ project: "shop", since: "yesterday" }, "Use ISO 8601"],
    [{ project: "shop", sort_by: "speed" }, "must be one of start_time"],
    [{ project: "shop", filter: "eq(name, x)" }, "Invalid filter at character"],
  ] as const) {
    const { failed, text } = await use("query_runs", input);
    expect([failed, text]).toEqual([true, expect.stringContaining(message)]);
  }
  await expect(client.callTool({ name: "none", arguments: {} })).rejects.toMatchObject({ code: -32602 });
});

test("reads a trace within a budget of characters, goes on by the cursor, and reads a cut value in pieces", async () => {
  const { data } = await use("read_trace", { trace_id: root.id });
  expect(data.runs.map(({ id, depth }: { id: string; depth: number }) => [id, depth])).toEqual([
    [root.id, 0],
    [tool.id, 1],
  ]);
  expect(data).toMatchObject({ run_count: 2, next_cursor: null });
  expect(data.runs[1]).toMatchObject({ status: "error", error: "Timeout: no answer", clipped: ["outputs"] });
  const small = (await use("read_trace", { trace_id: root.id, max_characters: 1000, max_value_characters: 1000 })).data;
  expect([small.runs.length, small.next_cursor]).toEqual([2, null]);
  const first = (await use("read_trace", { trace_id: root.id, errors_only: true, max_value_characters: 0 })).data;
  expect(first.runs).toMatchObject([{ id: tool.id }]);
  const piece = (await use("read_run_field", { run_id: tool.id, field: "outputs", path: "text", max_characters: 2000 }))
    .data;
  expect(piece).toEqual({ text: long.slice(0, 2000), total_characters: 3000, next_offset: 2000 });
  const rest = await use("read_run_field", { run_id: tool.id, field: "outputs", path: "text", offset: 2000 });
  expect(rest.data).toMatchObject({ text: long.slice(2000), next_offset: null });
  expect((await use("read_run_field", { run_id: tool.id, field: "outputs", path: "txt" })).text).toContain("text");
  const compared = (await use("compare_runs", { run_ids: [root.id, other.id] })).data;
  expect(compared.differences).toContainEqual({ path: "outputs.answer", values: [42, 43] });
});

test("writes feedback, examples and prompts, and reads them", async () => {
  const { id } = (await use("add_feedback", { run_id: root.id, key: "correct", score: false, comment: "wrong" })).data;
  expect((await use("list_feedback", { run_ids: [root.id] })).data.feedback).toMatchObject([
    { id, key: "correct", score: 0, comment: "wrong" },
  ]);
  await use("create_dataset", { name: "hard cases" });
  const added = await use("add_examples", {
    dataset: "hard cases",
    examples: [{ source_run_id: root.id, outputs: { answer: 44 } }, { inputs: { question: "?" } }],
  });
  expect(added.data.example_ids).toHaveLength(2);
  const { examples } = (await use("list_examples", { dataset: "hard cases", text: "44" })).data;
  expect(examples).toMatchObject([{ inputs: root["inputs"], outputs: { answer: 44 }, source_run_id: root.id }]);
  const messages = [{ role: "system", template: "Answer {question} in JSON: {{}}" }];
  const { commit } = (await use("commit_prompt", { name: "support", messages })).data;
  expect((await use("list_prompts")).data.prompts).toMatchObject([{ name: "support", last_commit: commit }]);
  const { manifest } = (await use("read_prompt", { name: "support" })).data;
  expect(manifest.kwargs).toMatchObject({ input_variables: ["question"] });
  const stale = await use("commit_prompt", { name: "support", messages, parent: "0".repeat(64) });
  expect([stale.failed, stale.text]).toEqual([true, expect.any(String)]);
  expect((await use("list_prompt_commits", { name: "support" })).data.commits).toHaveLength(1);
  const experiment = { name: "try 1", reference_dataset_id: added.data.dataset_id };
  await call("POST", "/sessions", experiment, keyed(a.editor));
  expect((await use("list_experiments", { dataset: "hard cases" })).data.experiments).toMatchObject([
    { name: "try 1" },
  ]);
  const compared = await use("compare_experiments", { dataset: "hard cases", experiments: ["try 1"] });
  expect(compared.data.experiments).toMatchObject([{ name: "try 1" }]);
  const audited = await db.sql`select operation from audit_log where operation like 'POST /api/v1/datasets%'`;
  expect(audited).toHaveLength(1);
});

test("reads threads", async () => {
  for (const sort of [{}, { sort_by: "total_cost", order: "asc" }])
    expect((await use("list_threads", { project: "shop", ...sort })).data.threads).toMatchObject([
      { thread_id: "t-1", count: 1 },
    ]);
  expect((await use("list_threads", { project: "shop", sort_by: "name" })).text).toContain("must be start_time");
  const { turns } = (await use("read_thread", { project: "shop", thread_id: "t-1" })).data;
  expect(turns).toMatchObject([{ trace_id: root.id, outputs: { answer: 42 } }]);
});

test("no name or id leads to another route than the tool's", async () => {
  for (const [tool, input] of [
    ["list_prompt_commits", { name: "../workspaces" }],
    ["read_prompt", { name: "../sessions", version: root.id }],
    ["read_prompt", { name: "p", version: ".." }],
    ["read_thread", { project: "shop", thread_id: ".." }],
  ] as const)
    expect(await use(tool, input)).toMatchObject({ failed: true, text: 'No name or id may be "." or "..".' });
});

test("another tenant sees and reaches nothing", async () => {
  const stranger = await connect(b.admin);
  const { projects } = (await use("list_projects", {}, stranger)).data;
  expect(projects.map(({ name }: { name: string }) => name)).toEqual(["default"]);
  for (const [name, input] of [
    ["read_trace", { trace_id: root.id }],
    ["read_run_field", { run_id: root.id, field: "inputs" }],
    ["compare_runs", { run_ids: [root.id, other.id] }],
    ["query_runs", { project: "shop" }],
    ["add_feedback", { run_id: root.id, key: "k", score: 1 }],
    ["add_examples", { dataset: "hard cases", examples: [{ inputs: {} }] }],
    ["read_prompt", { name: "support" }],
  ] as const) {
    const { failed, text } = await use(name, input, stranger);
    expect([name, failed, /ann|wrong|JSON: /.test(text)]).toEqual([name, true, false]);
  }
});

test("answers 401 with the address of the metadata", async () => {
  const answer = await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" });
  const metadata = "https://heddle.example/.well-known/oauth-protected-resource/mcp";
  expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer resource_metadata="${metadata}"`,
  ]);
  expect((await call("GET", new URL(metadata).pathname)).json).toMatchObject({
    resource: "https://heddle.example/mcp",
    authorization_servers: ["https://heddle.example"],
  });
});

test("serves the stateless revision, whose headers must agree with the body", async () => {
  const requestInit = { headers: keyed(a.editor) };
  const modern = new ModernClient({ name: "a test", version: "1" });
  await modern.connect(
    new ModernTransport(new URL("http://heddle.test/mcp"), { fetch: fetchFrom, requestInit }) as never,
  );
  const { structuredContent } = await modern.callTool({ name: "list_projects", arguments: { name_contains: "shop" } });
  expect(structuredContent).toMatchObject({ projects: [{ name: "shop" }] });
  await modern.close();

  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "list_projects", _meta: meta } };
  const accept = { ...keyed(a.editor), accept: "application/json, text/event-stream" };
  const headers = {
    ...accept,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "list_projects",
  };
  expect((await call("POST", "/mcp", body, headers)).json).toMatchObject({ id: 7, result: { resultType: "complete" } });
  const lying = await call("POST", "/mcp", body, { ...headers, "mcp-name": "add_feedback" });
  expect([lying.status, lying.json.id, lying.json.error.code]).toEqual([400, 7, -32020]);
  const unknown = await call("POST", "/mcp", { ...body, method: "x" }, { ...headers, "mcp-method": "x" });
  expect([unknown.status, unknown.json.error.code]).toEqual([404, -32601]);
  const newer = await call("POST", "/mcp", body, { ...headers, "mcp-protocol-version": "2030-01-01" });
  expect([newer.status, newer.json.error.code, newer.json.error.data.supported[0]]).toEqual([
    400,
    -32022,
    "2026-07-28",
  ]);
});
