import { expect, test } from "vitest";

import { uuid7 } from "../../base/ids.ts";
import { sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, platform } = await testTracePlatform();
const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const session_id = await platform.deps.projects.ensureProject("00000000-0000-7000-8000-000000000001", "threads");

const human = (content: string) => ({ role: "user", content });
const ai = (content: string) => ({ role: "assistant", content });
const inThread = (thread_id: string) => ({ extra: { metadata: { thread_id } } });

// two turns of an agent that receives all previous messages, and one of another thread
const first = sampleRun(
  "threads",
  { ...inThread("t1"), inputs: { messages: [human("hi")] }, outputs: { messages: [human("hi"), ai("hello")] } },
  { seconds: 1 },
);
const other = sampleRun("threads", { ...inThread("t2"), inputs: { question: "of the other" }, error: "Error: no" });
const second = sampleRun(
  "threads",
  {
    ...inThread("t1"),
    inputs: { messages: [human("hi"), ai("hello"), human("bye")] },
    outputs: { messages: [human("hi"), ai("hello"), human("bye"), ai("see you")] },
    tags: ["late"],
  },
  { seconds: 3 },
);
const usage = {
  input_tokens: 3,
  output_tokens: 4,
  total_tokens: 7,
  total_cost: 0.5,
  input_token_details: { cache_read: 2 },
};
const model = (parent: SampleRun) =>
  sampleRun("threads", { run_type: "llm", outputs: { usage_metadata: usage }, ...inThread("t1") }, { parent });
await sendRuns(call, [first, second, other, model(first), model(second), sampleRun("threads")]);
await call("POST", "/feedback", { run_id: second.id, key: "good", score: 1 });

const group = (body: object = {}, headers = {}) =>
  call("POST", "/runs/group", { session_id, group_by: "conversation", ...body }, headers);

test("lists a project's threads with their turns, latest first", async () => {
  const { json } = await group();
  expect(json.total).toBe(2);
  expect(json.groups).toMatchObject([
    {
      thread_id: "t1",
      filter: 'eq(thread_id, "t1")',
      count: 2,
      total_tokens: 14,
      total_cost: 1,
      min_start_time: first.start_time.slice(0, -1),
      max_start_time: second.start_time.slice(0, -1),
      latency_p50: 2,
      first_inputs: expect.stringContaining("hi"),
      last_outputs: expect.stringContaining("see you"),
      last_error: null,
      feedback_stats: { good: { n: 1, avg: 1 } },
    },
    { thread_id: "t2", count: 1, last_error: "Error: no", total_tokens: null },
  ]);
  expect((await group({ limit: 1, offset: 1 })).json).toMatchObject({ groups: [{ thread_id: "t2" }], total: 2 });
  expect((await group({ filter: 'has(tags,"late")' })).json).toMatchObject({
    groups: [{ thread_id: "t1", count: 1 }],
    total: 1,
  });
  expect((await group({ end_time: first.start_time })).json).toMatchObject({
    groups: [{ thread_id: "t1", count: 1, total_tokens: 7 }],
  });
  const stats = await call("POST", "/runs/group/stats", { session_id, group_by: "conversation" });
  expect(stats.json).toMatchObject({ group_count: 2, run_count: 3, total_tokens: 14 });
});

test("returns each message of a thread once", async () => {
  const read = (thread: string, select = "") =>
    call("GET", `/runs/threads/${thread}?session_id=${session_id}${select}`);
  const { json } = await read("t1");
  const messages = json.previews.all_messages.split("\n\n").map((text: string) => JSON.parse(text).content);
  expect(messages).toEqual(["hi", "hello", "bye", "see you"]);
  expect(json).toEqual({
    thread_id: "t1",
    previews: {
      all_messages: expect.any(String),
      human_ai_pairs: "human: hi\n\nai: hello\n\nhuman: bye\n\nai: see you",
      first_human_last_ai: "human: hi\n\nai: see you",
    },
  });
  expect(Object.keys((await read("t1", "&select=all_messages")).json.previews)).toEqual(["all_messages"]);
  expect((await read("nobody")).status).toBe(404);
});

test("lists threads through v2, in pages", async () => {
  const query = (body: object) => call("POST", "/api/v2/threads/query", { project_id: session_id, ...body });
  const { json } = await query({});
  expect(json).toMatchObject({ has_more: false });
  expect(json.items).toMatchObject([
    {
      thread_id: "t1",
      count: 2,
      first_trace_id: first.id,
      last_trace_id: second.id,
      trace_id: second.id,
      min_start_time: first.start_time,
      max_start_time: second.start_time,
      total_tokens: 14,
      total_cost: 1,
      total_token_details: { cache_read: 4 },
      num_errored_turns: 0,
      feedback_stats: { good: { n: 1, contains_thread_feedback: false } },
    },
    { thread_id: "t2", num_errored_turns: 1, last_error: "Error: no" },
  ]);
  const page = (await query({ page_size: 1 })).json;
  expect(page).toMatchObject({ items: [{ thread_id: "t1" }], has_more: true });
  const next = (await query({ page_size: 1, cursor: page.next_cursor })).json;
  expect(next).toMatchObject({ items: [{ thread_id: "t2" }], has_more: false });
  expect(next).not.toHaveProperty("next_cursor");
  expect((await query({ thread_filter: 'eq(status,"error")' })).json.items).toMatchObject([{ thread_id: "t2" }]);
  expect((await query({ filter: "eq(" })).status).toBe(400);
  expect((await query({ cursor: "x" })).status).toBe(400);
});

test("returns the turns and statistics of one thread through v2", async () => {
  const traces = (query: string) => call("GET", `/api/v2/threads/t1/traces?project_id=${session_id}${query}`);
  expect((await traces("")).json).toEqual({
    items: [{ trace_id: first.id }, { trace_id: second.id }],
    has_more: false,
  });
  const selects = ["THREAD_ID", "LATENCY", "OP", "TOTAL_TOKENS", "NAME"].map((name) => `&selects=${name}`).join("");
  const page = (await traces(`&page_size=1${selects}`)).json;
  expect(page.items).toEqual([
    {
      trace_id: first.id,
      thread_id: "t1",
      total_tokens: 7,
      name: "sample",
      latency: 1,
      op: 1,
    },
  ]);
  expect((await traces(`&cursor=${page.next_cursor}`)).json.items).toEqual([{ trace_id: second.id }]);

  const stats = (query: string) => call("GET", `/api/v2/threads/t1/stats?session_id=${session_id}${query}`);
  expect(
    (await stats("&selects=TURNS&selects=TOTAL_COST&selects=LATENCY_P50&selects=PROMPT_TOKEN_DETAILS")).json,
  ).toEqual({
    turns: 2,
    total_cost: 1,
    latency_p50_seconds: 2,
    prompt_token_details: { raw: { cache_read: 4 } },
  });
  expect((await call("GET", `/api/v2/threads/nobody/stats?session_id=${session_id}&selects=TURNS`)).status).toBe(404);
});

test("threads are told apart by their whole ids, however long", async () => {
  const project = await platform.deps.projects.ensureProject("00000000-0000-7000-8000-000000000001", "long");
  const ids = ["a", "b"].map((end) => "x".repeat(5000) + end);
  const keys = ["session_id", "conversation_id"];
  const runs = ids.map((id, i) => sampleRun("long", { extra: { metadata: { [keys[i]!]: id, note: id } } }));
  await sendRuns(call, [...runs, sampleRun("long", { extra: { metadata: { thread_id: "x".repeat(250) } } })]);
  const { json } = await call("POST", "/runs/group", { session_id: project, group_by: "conversation" });
  expect(json.total).toBe(3);
  expect(json.groups.map((group: { thread_id: string }) => group.thread_id)).toEqual(["x".repeat(250), ids[1], ids[0]]);
  const found = async (filter: string) =>
    (await call("POST", "/runs/query", { session: [project], filter })).json.runs.map((run: SampleRun) => run.id);
  for (const [i, id] of ids.entries()) {
    const text = JSON.stringify(id);
    const key = JSON.stringify(keys[i]);
    const names = JSON.stringify(["session_id", "conversation_id", "thread_id"]);
    const own = [runs[i]!.id];
    expect(await found(json.groups.find((group: { thread_id: string }) => group.thread_id === id).filter)).toEqual(own);
    expect(await found(`eq(thread_id, ${text})`)).toEqual(own);
    expect(await found(`and(eq(metadata_key, ${key}), eq(metadata_value, ${text}))`)).toEqual(own);
    expect(await found(`and(in(metadata_key, ${names}), eq(metadata_value, ${text}))`)).toEqual(own);
    expect(await found(`has(metadata, ${JSON.stringify(JSON.stringify({ [keys[i]!]: id }))})`)).toEqual(own);
    // other metadata is compared by its beginning
    expect(await found(`and(eq(metadata_key, "note"), eq(metadata_value, ${text}))`)).toHaveLength(2);
    expect(await found(`and(eq(metadata_key, ${key}), neq(metadata_value, ${text}))`)).toEqual([]);
    const turns = await call("GET", `/api/v2/threads/${id}/traces?project_id=${project}`);
    expect(turns.json.items).toHaveLength(1);
  }
  const pages: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = (await call("POST", "/api/v2/threads/query", { project_id: project, page_size: 1, cursor })).json;
    pages.push(...page.items.map((thread: { thread_id: string }) => thread.thread_id));
    cursor = page.next_cursor;
    if (!page.has_more) break;
  }
  expect(pages).toEqual(["x".repeat(250), ids[1], ids[0]]);
});

test("another workspace sees no threads", async () => {
  expect((await group({}, OTHER)).status).toBe(404);
  expect((await group({ session_id: uuid7() })).status).toBe(404);
  for (const path of [
    `/runs/threads/t1?session_id=${session_id}`,
    `/v2/threads/t1/traces?project_id=${session_id}`,
    `/v2/threads/t1/stats?session_id=${session_id}&selects=TURNS`,
  ]) {
    expect((await call("GET", path, undefined, OTHER)).status).toBe(404);
  }
  expect((await call("POST", "/v2/threads/query", { project_id: session_id }, OTHER)).status).toBe(404);
});
