import { gzipSync } from "node:zlib";

import { compress as zstd } from "@mongodb-js/zstd";
import { expect, test } from "vitest";

import { ingestClient, ORDER, START, type Json, sampleRun } from "../../../test/ingest-client.ts";
import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import { uuid7 } from "../../base/ids.ts";

const traces = await testTracePlatform();
const { call, clickhouse, sql, platform } = traces;
const { send, stored } = ingestClient(traces);

async function runProject(id: string): Promise<string | undefined> {
  const row = await stored(id);
  const [project] = await sql<
    { name: string }[]
  >`select name from projects where project_id = ${row?.["project_id"] as string}`;
  return project?.name;
}

test("stores a run with all of its fields", async () => {
  const id = uuid7();
  const response = await call("POST", "/runs", {
    ...sampleRun(id),
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
    extra: {
      metadata: { thread_id: "t1", user: { plan: "pro" }, n: 3 },
      runtime: { sdk: "x" },
    },
    child_runs: [],
  });
  expect([response.status, response.json]).toEqual([202, { message: "Run created" }]);
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
  expect(JSON.parse(row!["extra"] as string)).toMatchObject({
    runtime: { sdk: "x" },
  });
});

test("create and update merge field by field, in either order, and nulls change nothing", async () => {
  for (const updateFirst of [false, true]) {
    const id = uuid7();
    const create = () =>
      call("POST", "/runs", {
        ...sampleRun(id),
        inputs: { q: 1 },
        outputs: null,
        events: [],
        tags: ["created"],
      });
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
    await until(async () => typeof (await stored(id))?.["outputs"] === "string", "the row has outputs", 20);
    expect(await stored(id)).toMatchObject({
      name: "chat",
      inputs: '{"q":1}',
      outputs: '{"a":2}',
      end_time: "2026-11-21 10:00:02.000000",
      tags: "\u001ecreated\u001e",
      events: `[{"name":"end","time":"${START}"}]`,
    });
    // an update that waited is removed after the row has it
    const waiting = () => sql`select 1 from waiting_pieces where run_id = ${id}`;
    await until(async () => (await waiting()).length === 0, "no piece waits", 20);
  }
});

test("an early update with project and start creates the run, and the create does not override its fields", async () => {
  const id = uuid7();
  const run = sampleRun(id, { name: undefined, run_type: undefined });
  const extra = { metadata: { from: "update", both: 2 }, runtime: { a: 1 } };
  await call("POST", "/runs/batch", {
    patch: [{ ...run, outputs: { done: true }, events: [{ name: "end" }], extra }],
  });
  expect(await stored(id)).toMatchObject({
    outputs: '{"done":true}',
    name: null,
  });
  await call("POST", "/runs/batch", {
    post: [
      {
        ...sampleRun(id),
        events: [{ name: "start" }],
        extra: { metadata: { from: "create", only: 1 }, kept: true },
      },
    ],
  });
  const row = await stored(id);
  expect(row).toMatchObject({ name: "chat", events: '[{"name":"end"}]' });
  expect(JSON.parse(row!["extra"] as string)).toEqual({
    kept: true,
    runtime: { a: 1 },
    metadata: { from: "update", only: 1, both: 2 },
  });
});

test("a repeated create is stored once, also without a start time", async () => {
  const id = uuid7();
  const unplaced = sampleRun(id, {
    start_time: undefined,
    dotted_order: undefined,
  });
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

test("resolves the project by id, then by name, then default, and rejects another workspace's id", async () => {
  const [a, b, c] = [uuid7(), uuid7(), uuid7()];
  await call("POST", "/runs", sampleRun(a, { session_name: "by name" }));
  const project = (await stored(a))!["project_id"];
  await call("POST", "/runs", sampleRun(b, { session_id: project, session_name: "not this" }));
  await call("POST", "/runs", sampleRun(c, { session_name: undefined }));
  expect([await runProject(a), await runProject(b), await runProject(c)]).toEqual(["by name", "by name", "default"]);
  const foreign = await call("POST", "/runs", sampleRun(uuid7(), { session_id: project }), {
    "x-test-workspace": uuid7(),
  });
  expect([foreign.status, foreign.json.error]).toEqual([422, expect.stringContaining("there is no project")]);
});

test("derives missing trace ids and dotted orders, whatever the order of arrival", async () => {
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
      // readable at once, at an assumed place
      expect((await stored(run["id"] as string))?.["dotted_order"]).toContain(run["id"]);
    }
    const [r, c, g] = [root, child, grandchild].map((id) => ids.get(id)!) as [string, string, string];
    await until(async () => (await stored(g))?.["trace_id"] === r, "the grandchild is in its trace", 20);
    expect(await stored(g)).toMatchObject({
      trace_id: r,
      parent_run_id: c,
      dotted_order: `${ORDER}${r}.${ORDER}${c}.${ORDER}${g}`,
    });
  }
});

test("merges extra by key, and its metadata by key, also after a restart", async () => {
  for (const restart of [false, true]) {
    const id = uuid7();
    await call(
      "POST",
      "/runs",
      sampleRun(id, {
        extra: { runtime: { v: 1 }, metadata: { a: "1", b: "1" } },
      }),
    );
    if (restart) await platform.deps.writer.forget({});
    await call("PATCH", `/runs/${id}`, {
      extra: { metadata: { b: "2", thread_id: "T" } },
    });
    const row = await stored(id);
    expect(JSON.parse(row!["extra"] as string)).toEqual({
      runtime: { v: 1 },
      metadata: { a: "1", b: "2", thread_id: "T" },
    });
    expect(row).toMatchObject({
      thread_id: "T",
      metadata: "\u001ea\u001f1\u001eb\u001f2\u001ethread_id\u001fT\u001e",
    });
  }
});

test("stores text exactly as sent", async () => {
  const id = uuid7();
  const outputs =
    '{"big": 9007199254740993, "one": 1.0, "tiny":1e-400, "text":"\\u00e9 \\ud83d\\ude00 \\u0000 \\" \\\\"}';
  const body = `{"post":[${JSON.stringify(sampleRun(id)).slice(0, -1)}, "outputs" : ${outputs} , "inputs":{}}]}`;
  expect((await call("POST", "/runs/batch", body)).status).toBe(202);
  expect(await stored(id)).toMatchObject({ outputs, inputs: "{}" });
  const other = uuid7();
  await send([
    { name: `post.${other}`, content: JSON.stringify(sampleRun(other)) },
    { name: `post.${other}.outputs`, content: outputs },
  ]);
  expect(await stored(other)).toMatchObject({ outputs });
});

test("stores unpaired surrogates and control characters", async () => {
  const id = uuid7();
  const name = "half \ud83d nul \0 sep \u001e";
  const body = JSON.stringify(
    sampleRun(id, {
      name,
      error: name,
      tags: [name],
      extra: { metadata: { [name]: name } },
    }),
  );
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

test.each(packs)("accepts multipart parts of several runs, mixed, with attachments, %s", async (_, pack, encoding) => {
  const [a, b] = [uuid7(), uuid7()];
  const picture = Buffer.from([0, 1, 2, 253, 254, 255, 13, 10, 45, 45]);
  const answer = await send(
    [
      { name: `post.${a}.inputs`, content: '{"q":"a"}', length: "header" },
      { name: `post.${b}`, content: JSON.stringify(sampleRun(b)) },
      {
        name: `post.${a}`,
        content: JSON.stringify(sampleRun(a)),
        length: "header",
      },
      {
        name: `patch.${a}`,
        content: JSON.stringify({
          id: a,
          trace_id: a,
          dotted_order: ORDER + a,
          end_time: 1_795_255_203_000,
        }),
      },
      { name: `patch.${a}.outputs`, content: '{"a":"z"}' },
      { name: `post.${b}.error`, content: '"Error: bad"' },
      { name: `post.${b}.events`, content: "[]" },
      {
        name: `attachment.${a}.picture`,
        content: picture,
        type: "image/png; length=10",
        length: "none",
      },
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
  expect(await stored(b)).toMatchObject({
    error: "Error: bad",
    events: "[]",
  });
  const [file] = await clickhouse.rows<{
    blob: string;
    mime_type: string;
    name: string;
    size: number;
  }>({
    name: "t",
    query: "select * from run_attachments where run_id = {id:UUID}",
    params: { id: a },
  });
  expect(file).toMatchObject({
    name: "picture",
    mime_type: "image/png",
    size: 10,
  });
  const token = platform.deps.links.sign(file!);
  const response = await call("GET", `/attachments/${token}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(response.headers.get("content-length")).toBe("10");
  expect((await call("GET", `/attachments/${token.slice(0, -2)}xx`)).status).toBe(404);
});

test("keeps runs of two workspaces apart that share an id", async () => {
  const id = uuid7();
  const other = uuid7();
  await call("POST", "/runs", sampleRun(id, { name: "mine" }));
  await call("PATCH", `/runs/${id}`, { outputs: { theirs: true } }, { "x-test-workspace": other });
  await call("POST", "/runs", sampleRun(id, { name: "theirs" }), {
    "x-test-workspace": other,
  });
  expect(await stored(id)).toMatchObject({ name: "mine", outputs: null });
});

test("concurrent requests share inserts, and each run is readable after its response", async () => {
  const ids = Array.from({ length: 300 }, () => uuid7());
  const before = await insertsSoFar();
  await Promise.all(
    ids.map(async (id) => {
      expect((await call("POST", "/runs", sampleRun(id))).status).toBe(202);
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

test("a session_id that names a conversation is rejected with the place for it", async () => {
  const { status, text } = await call("POST", "/runs", sampleRun(uuid7(), { session_id: "chat-17" }));
  expect([status, text]).toEqual([422, expect.stringMatching(/session_id: must be a UUID.*project.*extra\.metadata/)]);
});
