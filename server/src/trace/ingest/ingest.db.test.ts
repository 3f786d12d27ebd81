import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";

import { compress as zstd } from "@mongodb-js/zstd";
import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const { call, clickhouse, sql, platform } = await testTracePlatform();

const START = "2026-11-21T10:00:00.123456";
const ORDER = "20261121T100000123456Z";
type Json = Record<string, unknown>;

/** A run's merged row, as any query sees it. */
async function stored(id: string): Promise<Json | undefined> {
  const rows = await clickhouse.rows<Json>({
    name: "t",
    query: "select * from runs final where tenant_id = {t:UUID} and id = {id:UUID}",
    params: { t: WORKSPACE, id },
  });
  expect(rows.length).toBeLessThan(2);
  return rows[0];
}

async function projectOf(id: string): Promise<string | undefined> {
  const row = await stored(id);
  const [project] = await sql<
    { name: string }[]
  >`select name from projects where project_id = ${row?.["project_id"] as string}`;
  return project?.name;
}

async function eventually<T>(read: () => Promise<T>, until: (value: T) => boolean, ms = 1000): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (until(value) || performance.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface TestPart {
  name: string;
  content: string | Buffer;
  type?: string;
  /** How the length is told: the SDKs do either. */
  length?: "header" | "parameter" | "none";
}

function multipart(parts: TestPart[]): { body: Buffer; type: string } {
  const boundary = `----test${randomUUID()}`;
  const chunks = parts.map(({ name, content, type = "application/json", length = "parameter" }) => {
    const bytes = Buffer.from(content);
    const parameter = length === "parameter" ? `; length=${bytes.length}` : "";
    const header = length === "header" ? `Content-Length: ${bytes.length}\r\n` : "";
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}${parameter}\r\n${header}\r\n`;
    return Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n")]);
  });
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    type: `multipart/form-data; boundary=${boundary}`,
  };
}

async function send(parts: TestPart[], pack: (body: Buffer) => Buffer | Promise<Buffer> = (b) => b, encoding?: string) {
  const { body, type } = multipart(parts);
  const headers = { "Content-Type": type, ...(encoding && { "Content-Encoding": encoding }) };
  return call("POST", "/runs/multipart", await pack(body), headers);
}

const runOf = (id: string, more: Json = {}): Json => ({
  id,
  name: "chat",
  run_type: "llm",
  start_time: START,
  trace_id: id,
  dotted_order: ORDER + id,
  session_name: "tests",
  ...more,
});

test("a run that is created with everything is stored with everything", async () => {
  const id = uuid7();
  const answer = await call("POST", "/runs", {
    ...runOf(id),
    inputs: { messages: [{ role: "user", content: "How  are you?" }] },
    outputs: {
      choices: [{ message: { content: "Fine." } }],
      usage_metadata: {
        input_tokens: 10,
        output_tokens: 5,
        input_cost: 1e-6,
        output_cost: "0.0000025",
        input_token_details: { cache_read: 4 },
      },
    },
    end_time: 1_795_255_201_500,
    tags: ["a", "b"],
    error: null,
    events: [
      { name: "start", time: START },
      { name: "new_token", time: "2026-11-21T10:00:00.5Z" },
    ],
    extra: { metadata: { thread_id: "t1", user: { plan: "pro" }, n: 3 }, runtime: { sdk: "x" } },
    child_runs: [],
  });
  expect([answer.status, answer.json]).toEqual([202, { message: "Run created" }]);
  const row = await stored(id);
  expect(row).toMatchObject({
    name: "chat",
    run_type: "llm",
    start_time: "2026-11-21 10:00:00.123456",
    end_time: "2026-11-21 09:20:01.500000".replace("09:20", "10:00"),
    trace_id: id,
    dotted_order: ORDER + id,
    parent_run_id: null,
    error: null,
    inputs_preview: "How are you?",
    outputs_preview: "Fine.",
    tags: "\u001ea\u001eb\u001e",
    metadata: '\u001ethread_id\u001ft1\u001euser\u001f{"plan":"pro"}\u001en\u001f3\u001e',
    input_pairs: "\u001emessages.role\u001fuser\u001emessages.content\u001fHow  are you?\u001e",
    thread_id: "t1",
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_token_details: '{"cache_read":4}',
    prompt_cost: "0.000001",
    completion_cost: "0.0000025",
    total_cost: "0.0000035",
    first_token_time: "2026-11-21 10:00:00.500000",
  });
  expect(JSON.parse(row!["extra"] as string)).toMatchObject({ runtime: { sdk: "x" } });
});

test("create and update merge field by field, in either order, and nulls change nothing", async () => {
  for (const updateFirst of [false, true]) {
    const id = uuid7();
    const create = () =>
      call("POST", "/runs", { ...runOf(id), inputs: { q: 1 }, outputs: null, events: [], tags: ["created"] });
    const update = () =>
      call("PATCH", `/api/v1/runs/${id}`, {
        name: null,
        run_type: null,
        trace_id: null,
        parent_run_id: null,
        dotted_order: null,
        tags: null,
        extra: null,
        session_id: null,
        session_name: null,
        end_time: "2026-11-21T10:00:02+00:00",
        outputs: { a: 2 },
        events: [{ name: "end", time: START }],
      });
    const answers = updateFirst ? [await update(), await create()] : [await create(), await update()];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    const row = await eventually(
      () => stored(id),
      (found) => typeof found?.["outputs"] === "string",
    );
    expect(row).toMatchObject({
      name: "chat",
      inputs: '{"q":1}',
      outputs: '{"a":2}',
      end_time: "2026-11-21 10:00:02.000000",
      tags: "\u001ecreated\u001e",
      events: `[{"name":"end","time":"${START}"}]`,
    });
    expect(await sql`select 1 from waiting_pieces where run_id = ${id}`).toHaveLength(0);
  }
});

test("an update that comes first and tells project and start begins the run; the create's fields don't override it", async () => {
  const id = uuid7();
  const place = runOf(id, { name: undefined, run_type: undefined });
  const extra = { metadata: { from: "update", both: 2 }, runtime: { a: 1 } };
  await call("POST", "/runs/batch", {
    patch: [{ ...place, outputs: { done: true }, events: [{ name: "end" }], extra }],
  });
  expect(await stored(id)).toMatchObject({ outputs: '{"done":true}', name: null });
  await call("POST", "/runs/batch", {
    post: [{ ...runOf(id), events: [{ name: "start" }], extra: { metadata: { from: "create", only: 1 }, kept: true } }],
  });
  const row = await stored(id);
  expect(row).toMatchObject({ name: "chat", events: '[{"name":"end"}]' });
  expect(JSON.parse(row!["extra"] as string)).toEqual({
    kept: true,
    runtime: { a: 1 },
    metadata: { from: "update", only: 1, both: 2 },
  });
});

test("what is sent twice is there once, also when the start was not told", async () => {
  const id = uuid7();
  const unplaced = runOf(id, { start_time: undefined, dotted_order: undefined });
  for (let n = 0; n < 3; n++) expect((await call("POST", "/runs", unplaced)).status).toBe(202);
  await platform.deps.writer.forget({});
  expect((await call("POST", "/runs", unplaced)).status).toBe(202);
  expect((await stored(id))?.["dotted_order"]).toMatch(new RegExp(`^\\d{8}T\\d{12}Z${id}$`));
  const keys = await clickhouse.rows({
    name: "t",
    query: "select distinct start_time from runs where id = {id:UUID}",
    params: { id },
  });
  expect(keys).toHaveLength(1);
});

test("the project is the one of the id, else of the name, else default; another's id is refused", async () => {
  const [a, b, c] = [uuid7(), uuid7(), uuid7()];
  await call("POST", "/runs", runOf(a, { session_name: "by name" }));
  const project = (await stored(a))!["project_id"];
  await call("POST", "/runs", runOf(b, { session_id: project, session_name: "not this" }));
  await call("POST", "/runs", runOf(c, { session_name: undefined }));
  expect([await projectOf(a), await projectOf(b), await projectOf(c)]).toEqual(["by name", "by name", "default"]);
  const foreign = await call("POST", "/runs", runOf(uuid7(), { session_id: project }), { "x-test-workspace": uuid7() });
  expect([foreign.status, foreign.json.error]).toEqual([422, expect.stringContaining("there is no project")]);
});

test("traces and places are derived where they are absent, whatever the order of arrival", async () => {
  const [root, child, grandchild] = [uuid7(), uuid7(), uuid7()];
  const bare = (id: string, parent?: string): Json => ({
    id,
    name: "n",
    run_type: "chain",
    start_time: START,
    ...(parent && { parent_run_id: parent }),
  });
  const orders = [
    [bare(root), bare(child, root), bare(grandchild, child)],
    [bare(grandchild, child), bare(child, root), bare(root)],
  ];
  for (const [n, runs] of orders.entries()) {
    const ids = new Map([root, child, grandchild].map((id) => [id, n === 0 ? id : uuid7()]));
    const renamed = JSON.parse(
      JSON.stringify(runs).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => ids.get(id)!),
    ) as Json[];
    for (const run of renamed) {
      expect((await call("POST", "/runs", run)).status).toBe(202);
      // at once, wherever it stands for now
      expect((await stored(run["id"] as string))?.["dotted_order"]).toContain(run["id"]);
    }
    const [r, c, g] = [root, child, grandchild].map((id) => ids.get(id)!) as [string, string, string];
    const row = await eventually(
      () => stored(g),
      (found) => found?.["trace_id"] === r,
      3000,
    );
    expect(row).toMatchObject({
      trace_id: r,
      parent_run_id: c,
      dotted_order: `${ORDER}${r}.${ORDER}${c}.${ORDER}${g}`,
    });
  }
});

test("extras merge by key and by key of their metadata, also after a restart", async () => {
  for (const restart of [false, true]) {
    const id = uuid7();
    await call("POST", "/runs", runOf(id, { extra: { runtime: { v: 1 }, metadata: { a: "1", b: "1" } } }));
    if (restart) await platform.deps.writer.forget({});
    await call("PATCH", `/runs/${id}`, { extra: { metadata: { b: "2", thread_id: "T" } } });
    const row = await stored(id);
    expect(JSON.parse(row!["extra"] as string)).toEqual({
      runtime: { v: 1 },
      metadata: { a: "1", b: "2", thread_id: "T" },
    });
    expect(row).toMatchObject({ thread_id: "T", metadata: "\u001ea\u001f1\u001eb\u001f2\u001ethread_id\u001fT\u001e" });
  }
});

test("text that was sent is stored as it was written", async () => {
  const id = uuid7();
  const outputs =
    '{"big": 9007199254740993, "one": 1.0, "tiny":1e-400, "text":"\\u00e9 \\ud83d\\ude00 \\u0000 \\" \\\\"}';
  const body = `{"post":[${JSON.stringify(runOf(id)).slice(0, -1)}, "outputs" : ${outputs} , "inputs":{}}]}`;
  expect((await call("POST", "/runs/batch", body)).status).toBe(202);
  expect(await stored(id)).toMatchObject({ outputs, inputs: "{}" });
  const other = uuid7();
  await send([
    { name: `post.${other}`, content: JSON.stringify(runOf(other)) },
    { name: `post.${other}.outputs`, content: outputs },
  ]);
  expect(await stored(other)).toMatchObject({ outputs });
});

test("halves of surrogate pairs and control characters are stored, not refused", async () => {
  const id = uuid7();
  const name = "half \ud83d nul \0 sep \u001e";
  const body = JSON.stringify(runOf(id, { name, error: name, tags: [name], extra: { metadata: { [name]: name } } }));
  expect((await call("POST", "/runs", body)).status).toBe(202);
  expect(await stored(id)).toMatchObject({
    error: "half \uFFFD nul \0 sep \u001e",
    tags: "\u001ehalf \uFFFD nul \0 sep  \u001e",
  });
});

const packs: [string, (body: Buffer) => Buffer | Promise<Buffer>, string | undefined][] = [
  ["plain", (body) => body, undefined],
  ["gzip", (body) => gzipSync(body), "gzip"],
  ["zstd", (body) => zstd(body), "zstd"],
];

test.each(packs)("multipart: parts of several runs, mixed, with attachments, %s", async (_, pack, encoding) => {
  const [a, b] = [uuid7(), uuid7()];
  const picture = Buffer.from([0, 1, 2, 253, 254, 255, 13, 10, 45, 45]);
  const answer = await send(
    [
      { name: `post.${a}.inputs`, content: '{"q":"a"}', length: "header" },
      { name: `post.${b}`, content: JSON.stringify(runOf(b)) },
      { name: `post.${a}`, content: JSON.stringify(runOf(a)), length: "header" },
      {
        name: `patch.${a}`,
        content: JSON.stringify({ id: a, trace_id: a, dotted_order: ORDER + a, end_time: 1_795_255_203_000 }),
      },
      { name: `patch.${a}.outputs`, content: '{"a":"z"}' },
      { name: `post.${b}.error`, content: '"Error: bad"' },
      { name: `post.${b}.events`, content: "[]" },
      { name: `attachment.${a}.picture`, content: picture, type: "image/png; length=10", length: "none" },
    ],
    pack,
    encoding,
  );
  expect([answer.status, answer.text]).toEqual([202, '{"message":"Runs batch ingested"}']);
  expect(await stored(a)).toMatchObject({
    inputs: '{"q":"a"}',
    outputs: '{"a":"z"}',
    end_time: "2026-11-21 10:00:03.000000",
  });
  expect(await stored(b)).toMatchObject({ error: "Error: bad", events: "[]" });
  const [file] = await clickhouse.rows<{ blob: string; mime_type: string; name: string; size: number }>({
    name: "t",
    query: "select * from run_attachments where run_id = {id:UUID}",
    params: { id: a },
  });
  expect(file).toMatchObject({ name: "picture", mime_type: "image/png", size: 10 });
  const token = platform.deps.links.sign(file!);
  const response = await call("GET", `/attachments/${token}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(response.headers.get("content-length")).toBe("10");
  expect((await call("GET", `/attachments/${token.slice(0, -2)}xx`)).status).toBe(404);
});

test("feedback may come along", async () => {
  const id = uuid7();
  const feedback = { id: randomUUID(), run_id: id, trace_id: id, key: "k", score: 1, feedback_source: { type: "api" } };
  const answer = await send([
    { name: `post.${id}`, content: JSON.stringify(runOf(id)) },
    { name: `feedback.${feedback.id}`, content: JSON.stringify(feedback) },
  ]);
  expect(answer.status).toBe(202);
  expect(await sql`select 1 from feedback where run_id = ${id}`).toHaveLength(1);
});

test("much feedback in a request waits once, and what is none of it harms no other", async () => {
  const id = uuid7();
  await call("POST", "/runs", runOf(id));
  const part = (more: Json) => {
    const feedback = { id: randomUUID(), run_id: id, trace_id: id, key: "many", score: 1, ...more };
    return { name: `feedback.${feedback.id}`, content: JSON.stringify(feedback) };
  };
  const good = Array.from({ length: 100 }, (_, n) => part({ comment: `nul \0 and half \ud800 ${n}` }));
  const began = performance.now();
  expect((await send(good)).status).toBe(202);
  // one after the other each would wait for the copy that filters read
  expect(performance.now() - began).toBeLessThan(3000);
  const session_id = uuid7();
  const mixed = [part({ key: "mixed" }), part({ key: "" }), part({ run_id: null, session_id }), part({ key: "mixed" })];
  const refused = await send([...mixed, { name: "feedback.x", content: "{" }]);
  expect([refused.status, refused.json.error]).toEqual([422, expect.stringMatching(/^3 of 5 were refused/)]);
  expect((await send([part({ key: "k".repeat(181) })])).json.error).toMatch(/^key: Too big: .*<=180 characters$/);
  const keys = await sql`select key, count(*)::int as n from feedback where run_id = ${id} group by key order by key`;
  expect(keys).toEqual([
    { key: "many", n: 100 },
    { key: "mixed", n: 2 },
  ]);
});

test("what is no run is refused by name, and harms no other of its request", async () => {
  const [good, bad] = [uuid7(), uuid7()];
  const wrong = await call("POST", "/runs/batch", { post: [runOf(good), runOf(bad, { run_type: "agent" })] });
  expect(wrong.status).toBe(422);
  expect(wrong.json.error).toContain(`run ${bad}: schema validation failed: run_type must be one of: "tool", "chain"`);
  expect(await stored(good)).toBeDefined();
  expect(await stored(bad)).toBeUndefined();

  const cases: [Json, number, RegExp][] = [
    [{ dotted_order: `20261121T100000123Z${bad}` }, 400, /invalid 'dotted_order': cannot parse/],
    [{ dotted_order: ORDER + bad, parent_run_id: good }, 400, /must contain at least two parts/],
    [
      { dotted_order: `${ORDER}${good}.20261121T095959000000Z${bad}`, parent_run_id: good, trace_id: good },
      400,
      /earlier than parent/,
    ],
    [{ parent_run_id: bad, trace_id: bad, dotted_order: undefined }, 422, /parent_run_id: is the run itself/],
    [{ dotted_order: `${ORDER}${bad}.${ORDER}${bad}`, trace_id: bad }, 422, /parent_run_id: is the run itself/],
    [{ start_time: "yesterday" }, 422, /start_time: must be a time/],
    [{ start_time: "2026-02-31T10:00:00Z", dotted_order: undefined }, 422, /start_time/],
    [{ id: "nonsense" }, 422, /id: must be a UUID/],
    [{ session_name: 5 }, 422, /session_name: must be text/],
    [{ tags: "x" }, 422, /tags: must be a list/],
    [{ events: {} }, 422, /events: must be a list/],
    [{ extra: [1] }, 422, /extra: must be an object/],
    [{ name: "x".repeat(5000) }, 422, /name: longer/],
  ];
  for (const [change, status, message] of cases) {
    const { json, ...answer } = await call("POST", "/runs", runOf(bad, change));
    expect([answer.status, json.error]).toEqual([status, expect.stringMatching(message)]);
  }
  expect((await call("POST", "/runs", "{nope")).status).toBe(400);
  expect((await call("POST", "/runs/batch", [])).status).toBe(422);
  expect((await call("POST", "/runs/batch", { post: {} })).status).toBe(422);
  expect((await call("PATCH", "/runs/nonsense", {})).status).toBe(422);
});

test("bodies that are broken, too large or packed in an unknown way are refused", async () => {
  const id = uuid7();
  const part = { name: `post.${id}`, content: JSON.stringify(runOf(id)) };
  const small = await testTracePlatform({ HEDDLE_TRACE_MAX_BODY_BYTES: "100000" }, {});
  const { body, type } = multipart([part, { name: `post.${id}.inputs`, content: `"${"x".repeat(200_000)}"` }]);
  for (const [packed, encoding] of [
    [gzipSync(body), "gzip"],
    [await zstd(body), "zstd"],
    [body, "identity"],
  ] as const) {
    const headers = { "Content-Type": type, "Content-Encoding": encoding };
    expect((await small.call("POST", "/runs/multipart", packed, headers)).status).toBe(413);
  }
  const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024));
  const before = process.memoryUsage().rss;
  const headers = { "Content-Type": type, "Content-Encoding": "gzip" };
  expect((await call("POST", "/runs/multipart", bomb, headers)).status).toBe(413);
  expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);

  const whole = multipart([part]);
  const cut = whole.body.subarray(0, whole.body.length - 30);
  const statuses = [
    await call("POST", "/runs/multipart", cut, { "Content-Type": whole.type }),
    await call("POST", "/runs/multipart", "", { "Content-Type": whole.type }),
    await send([part], (b) => b, "gzip"),
    await send([part], (b) => b, "zstd"),
    await send([part], (b) => b, "br"),
    await call("POST", "/runs/multipart", {}),
    await send([{ name: "unknown.thing", content: "{}" }]),
    await send([part, { name: `post.${id}.surprise`, content: "{}" }]),
    await send([{ ...part, type: "application/json; length=3", length: "none" }]),
    await send([{ name: `post.${id}.inputs`, content: "{}" }]),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 400, 400, 415, 415, 422, 422, 400, 422]);
  expect(await stored(id)).toBeUndefined();
});

test("rows of one workspace are never those of another with the same run id", async () => {
  const id = uuid7();
  const other = uuid7();
  await call("POST", "/runs", runOf(id, { name: "mine" }));
  await call("PATCH", `/runs/${id}`, { outputs: { theirs: true } }, { "x-test-workspace": other });
  await call("POST", "/runs", runOf(id, { name: "theirs" }), { "x-test-workspace": other });
  expect(await stored(id)).toMatchObject({ name: "mine", outputs: null });
});

test("many requests at once share inserts, and each run is there when its answer is", async () => {
  const ids = Array.from({ length: 300 }, () => uuid7());
  const before = await insertsSoFar();
  await Promise.all(
    ids.map(async (id) => {
      expect((await call("POST", "/runs", runOf(id))).status).toBe(202);
    }),
  );
  const [row] = await clickhouse.rows<{ n: number }>({
    name: "t",
    query: "select count(distinct id) as n from runs where tenant_id = {t:UUID} and id in {ids:Array(UUID)}",
    params: { t: WORKSPACE, ids },
  });
  expect(row!.n).toBe(300);
  expect((await insertsSoFar()) - before).toBeLessThan(100);
});

async function insertsSoFar(): Promise<number> {
  const metric = platform.deps.metrics.registry.getSingleMetric("heddle_ingest_inserts_total")!;
  return (await metric.get()).values[0]!.value;
}
