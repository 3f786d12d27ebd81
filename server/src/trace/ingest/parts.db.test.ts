/** Attachments and feedback sent with runs, and rejected parts of a request. */
import { randomUUID } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";

import { compress as zstd } from "@mongodb-js/zstd";
import { expect, test } from "vitest";

import { ingestClient, ORDER, type Json, multipart, sampleRun, type TestPart } from "../../../test/ingest-client.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const traces = await testTracePlatform();
const { call, sql } = traces;
const { send, stored } = ingestClient(traces);

test("accepts feedback in the same request", async () => {
  const id = uuid7();
  const feedback = {
    id: randomUUID(),
    run_id: id,
    trace_id: id,
    key: "k",
    score: 1,
    feedback_source: { type: "api" },
  };
  const response = await send([
    { name: `post.${id}`, content: JSON.stringify(sampleRun(id)) },
    { name: `feedback.${feedback.id}`, content: JSON.stringify(feedback) },
  ]);
  expect(response.status).toBe(202);
  expect(await sql`select 1 from feedback where run_id = ${id}`).toHaveLength(1);
});

test.each(["value", "extra", "correction", "comment"])(
  "rejects feedback whose %s is nested too deep",
  async (field) => {
    const id = uuid7();
    const nested = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const content = `{"id":"${randomUUID()}","run_id":"${id}","trace_id":"${id}","key":"k","${field}":${nested}}`;
    const response = await send([
      { name: `post.${id}`, content: JSON.stringify(sampleRun(id)) },
      { name: "feedback.1", content },
    ]);
    expect([response.status, response.json.error]).toEqual([
      422,
      expect.stringContaining("nested more than 1000 levels deep"),
    ]);
  },
);

test("stores many feedback parts with one wait, and rejects invalid ones without affecting the others", async () => {
  const id = uuid7();
  await call("POST", "/runs", sampleRun(id));
  const part = (more: Json) => {
    const feedback = {
      id: randomUUID(),
      run_id: id,
      trace_id: id,
      key: "many",
      score: 1,
      ...more,
    };
    return {
      name: `feedback.${feedback.id}`,
      content: JSON.stringify(feedback),
    };
  };
  const good = Array.from({ length: 100 }, (_, n) => part({ comment: `nul \0 and half \ud800 ${n}` }));
  const timed = async (parts: TestPart[]) => {
    const startedAt = performance.now();
    expect((await send(parts)).status).toBe(202);
    return performance.now() - startedAt;
  };
  const single = Math.min(
    await timed(good.splice(0, 1)),
    await timed(good.splice(0, 1)),
    await timed(good.splice(0, 1)),
  );
  // if stored one by one, each would wait for the copy that filters read
  expect(await timed(good)).toBeLessThan(30 * single + 1000);
  const session_id = uuid7();
  const mixed = [part({ key: "mixed" }), part({ key: "" }), part({ run_id: null, session_id }), part({ key: "mixed" })];
  const rejected = await send([...mixed, { name: "feedback.x", content: "{" }]);
  expect([rejected.status, rejected.json.error]).toEqual([422, expect.stringMatching(/^3 of 5 were rejected/)]);
  expect((await send([part({ key: "k".repeat(181) })])).json.error).toMatch(/^key: Too big: .*<=180 characters$/);
  const keys = await sql`select key, count(*)::int as n from feedback where run_id = ${id} group by key order by key`;
  expect(keys).toEqual([
    { key: "many", n: 100 },
    { key: "mixed", n: 2 },
  ]);
});

test("names a rejected run by id, and stores the other runs of the request", async () => {
  const [good, bad] = [uuid7(), uuid7()];
  const wrong = await call("POST", "/runs/batch", {
    post: [sampleRun(good), sampleRun(bad, { run_type: "agent" })],
  });
  expect(wrong.status).toBe(422);
  expect(wrong.json.error).toContain(`run ${bad}: schema validation failed: run_type must be one of: "tool", "chain"`);
  expect(await stored(good)).toBeDefined();
  expect(await stored(bad)).toBeUndefined();

  const cases: [Json, number, RegExp][] = [
    [{ dotted_order: `20261121T100000123Z${bad}` }, 400, /invalid 'dotted_order': cannot parse/],
    [{ dotted_order: ORDER + bad, parent_run_id: good }, 400, /must contain at least two parts/],
    [
      {
        dotted_order: `${ORDER}${good}.20261121T095959000000Z${bad}`,
        parent_run_id: good,
        trace_id: good,
      },
      400,
      /earlier than parent/,
    ],
    [
      { parent_run_id: bad, trace_id: bad, dotted_order: undefined },
      422,
      /parent_run_id: must not be the run's own id/,
    ],
    [
      { dotted_order: `${ORDER}${bad}.${ORDER}${bad}`, trace_id: bad },
      422,
      /parent_run_id: must not be the run's own id/,
    ],
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
    const { json, ...answer } = await call("POST", "/runs", sampleRun(bad, change));
    expect([answer.status, json.error]).toEqual([status, expect.stringMatching(message)]);
  }
  expect((await call("POST", "/runs", "{nope")).status).toBe(400);
  expect((await call("POST", "/runs/batch", [])).status).toBe(422);
  expect((await call("POST", "/runs/batch", { post: {} })).status).toBe(422);
  expect((await call("PATCH", "/runs/nonsense", {})).status).toBe(422);
});

test("rejects bodies that are malformed, too large or in an unknown encoding", async () => {
  const id = uuid7();
  const part = { name: `post.${id}`, content: JSON.stringify(sampleRun(id)) };
  const small = await testTracePlatform({ HEDDLE_TRACE_MAX_BODY_BYTES: "100000" }, {});
  const other = uuid7();
  const { body, type } = multipart([
    { name: `post.${other}`, content: JSON.stringify(sampleRun(other)) },
    { name: `post.${other}.inputs`, content: `"${"x".repeat(200_000)}"` },
  ]);
  for (const [packed, encoding] of [
    [gzipSync(body), "gzip"],
    [await zstd(body), "zstd"],
    [deflateSync(body), "deflate"],
    [body, "identity"],
  ] as const) {
    const headers = { "Content-Type": type, "Content-Encoding": encoding };
    const declared = { ...headers, "Content-Length": String(packed.length) };
    for (const sent of [headers, declared]) {
      const answer = await small.call("POST", "/runs/multipart", packed, sent);
      expect([answer.status, answer.json]).toEqual([
        413,
        { error: `The part "post.${other}.inputs" is larger than 100000 bytes (HEDDLE_TRACE_MAX_BODY_BYTES).` },
      ]);
    }
  }
  const zeros = Buffer.alloc(300 * 1024 * 1024);
  for (const [bomb, encoding] of [
    [gzipSync(zeros), "gzip"],
    [deflateSync(zeros), "deflate"],
  ] as const) {
    const before = process.memoryUsage().rss;
    const headers = { "Content-Type": type, "Content-Encoding": encoding };
    expect((await call("POST", "/runs/multipart", bomb, headers)).status).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
  }

  const whole = multipart([part]);
  const cut = whole.body.subarray(0, whole.body.length - 30);
  const statuses = [
    await call("POST", "/runs/multipart", cut, { "Content-Type": whole.type }),
    await call("POST", "/runs/multipart", "", { "Content-Type": whole.type }),
    await send([part], (b) => b, "gzip"),
    await send([part], (b) => b, "zstd"),
    await send([part], (b) => deflateSync(b).subarray(0, -6), "deflate"),
    await send([part], (b) => b, "br"),
    await call("POST", "/runs/multipart", {}),
    await send([{ name: "unknown.thing", content: "{}" }]),
    await send([part, { name: `post.${id}.surprise`, content: "{}" }]),
    await send([{ ...part, type: "application/json; length=3", length: "none" }]),
    await send([{ name: `post.${id}.inputs`, content: "{}" }]),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 415, 415, 422, 422, 400, 422]);
  expect(await stored(id)).toBeUndefined();
});

/** A body as it arrives at a socket. */
const arriving = (body: Buffer) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < body.length; at += 16_384) controller.enqueue(body.subarray(at, at + 16_384));
      controller.close();
    },
  });

test("a body above the limit is stored part by part: a large run costs no small one", async () => {
  const small = await testTracePlatform({ HEDDLE_TRACE_MAX_BODY_BYTES: "100000" }, {});
  const ids = Array.from({ length: 8 }, () => uuid7());
  const [large, huge] = [ids[3]!, ids[5]!];
  const text = (length: number) => JSON.stringify({ text: "x".repeat(length) });
  const parts: TestPart[] = ids.flatMap((id) => [
    {
      name: `post.${id}`,
      content: JSON.stringify(sampleRun(id, id === huge ? { serialized: { x: "y".repeat(110_000) } } : {})),
    },
    { name: `post.${id}.inputs`, content: text(id === large ? 110_000 : 15_000) },
    { name: `post.${id}.outputs`, content: text(1000) },
    { name: `attachment.${id}.file`, content: "file", type: "text/plain" },
    { name: `feedback.${id}`, content: JSON.stringify({ id: uuid7(), run_id: id, trace_id: id, key: "k", score: 1 }) },
  ]);
  for (const isDeclared of [true, false]) {
    for (const [pack, encoding] of [
      [(b: Buffer) => b, undefined],
      [gzipSync, "gzip"],
    ] as const) {
      const { body, type } = multipart(
        parts.map((part): TestPart => ({ ...part, length: isDeclared ? "header" : "none" })),
      );
      const headers = { "Content-Type": type, ...(encoding && { "Content-Encoding": encoding }) };
      const answer = await small.call("POST", "/runs/multipart", arriving(pack(body)), headers);
      expect(answer.status).toBe(413);
      expect(answer.json.error).toContain("2 of 16 were rejected, the others were stored");
      expect(answer.json.error).toContain(`run ${large}: The part "post.${large}.inputs" is larger than 100000 bytes`);
      expect(answer.json.error).toContain(`run ${huge}: The part "post.${huge}" is larger than 100000 bytes`);
    }
  }
  expect((await small.call("GET", `/runs/${huge}`)).status).toBe(404);
  for (const id of ids.filter((id) => id !== huge)) {
    const { status, json: run } = await small.call("GET", `/runs/${id}`);
    expect([status, run.outputs]).toEqual([200, { text: "x".repeat(1000) }]);
    // a field that is too large is missing, not its run
    expect(run.inputs?.text?.length ?? 0).toBe(id === large ? 0 : 15_000);
    expect(Object.keys(run.s3_urls ?? {})).toEqual(["attachment.file"]);
  }
  expect(await small.sql`select 1 from feedback where run_id in ${small.sql(ids)}`).toHaveLength(8);
});

test("a body of more than four times the limit is rejected where it exceeds that", async () => {
  const small = await testTracePlatform({ HEDDLE_TRACE_MAX_BODY_BYTES: "100000" }, {});
  const ids = Array.from({ length: 30 }, () => uuid7());
  const { body, type } = multipart(
    ids.flatMap((id) => [
      { name: `post.${id}`, content: JSON.stringify(sampleRun(id)) },
      { name: `post.${id}.inputs`, content: JSON.stringify({ text: "x".repeat(20_000) }) },
    ]),
  );
  const answer = await small.call("POST", "/runs/multipart", arriving(body), { "Content-Type": type });
  expect([answer.status, answer.json.error]).toEqual([
    413,
    "The request body is larger than 400000 bytes (HEDDLE_TRACE_MAX_BODY_BYTES). What came before that was stored.",
  ]);
  expect((await small.call("GET", `/runs/${ids[0]!}`)).status).toBe(200);
  // one that says so is not read
  const declared = { "Content-Type": type, "Content-Length": String(body.length) };
  const rejected = await small.call("POST", "/runs/multipart", body, declared);
  expect([rejected.status, rejected.json.error]).toEqual([413, expect.not.stringContaining("stored")]);
  expect((await small.call("GET", `/runs/${ids[29]!}`)).status).toBe(404);
});

test("a batch in JSON and a request of OTLP above the limit are rejected whole", async () => {
  const small = await testTracePlatform({ HEDDLE_TRACE_MAX_BODY_BYTES: "100000" }, {});
  const ids = [uuid7(), uuid7()];
  const post = ids.map((id, n) => sampleRun(id, { inputs: { text: "x".repeat(n * 110_000) } }));
  expect((await small.call("POST", "/runs/batch", { post })).status).toBe(413);
  expect((await small.call("GET", `/runs/${ids[0]!}`)).status).toBe(404);
  const spans = ["", "x".repeat(110_000)].map((name) => ({ traceId: "1".repeat(32), spanId: "2".repeat(16), name }));
  const traces = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  expect((await small.call("POST", "/otel/v1/traces", traces)).status).toBe(413);
});
