/** Rules that mask what arrives, on real stores. */
import { beforeEach, expect, test } from "vitest";

import { microseconds, sampleRun } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const { call, sql, platform, clickhouse } = await testTracePlatform();
const { masking } = platform.deps;

beforeEach(async () => {
  await sql`delete from masking_rules`;
  masking.forget();
});

const EMAIL = "ada@example.com";
let n = 0;
const rule = async (fields: object) => {
  const made = await call("POST", "/masking-rules", { name: `rule ${++n}`, ...fields });
  expect(made.status).toBe(200);
  return made.json as { id: string };
};
const run = (fields: object, project = "masked") =>
  sampleRun(project, { start_time: microseconds(Date.now() + ++n), inputs: {}, outputs: {}, ...fields });
/** Sends parts of JSON text, by their names. */
async function sendParts(parts: Record<string, string>) {
  const form = new FormData();
  for (const [name, text] of Object.entries(parts)) form.append(name, new Blob([text], { type: "application/json" }));
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type")!;
  return call("POST", "/runs/multipart", Buffer.from(await encoded.arrayBuffer()), { "Content-Type": type });
}
const read = async (id: string) => (await call("GET", `/runs/${id}`)).json;

test("nothing of what a rule masks is stored, by any way of sending runs", async () => {
  await rule({ detectors: ["email", "secret"] });
  const values = { inputs: { n: 1.5, text: `to ${EMAIL}` }, outputs: { api_key: "hunter2" }, error: `no ${EMAIL}` };
  const [batched, single, patched] = [run(values), run(values), run({})];
  await call("POST", "/runs/batch", { post: [batched, patched], patch: [] });
  await call("POST", "/runs", single);
  await call("PATCH", `/runs/${patched.id}`, {
    trace_id: patched.trace_id,
    dotted_order: patched.dotted_order,
    ...values,
  });
  const parted = run({});
  const whole = { ...parted, inputs: undefined, outputs: undefined };
  const parts = Object.entries(values).map(([field, value]) => [`post.${parted.id}.${field}`, JSON.stringify(value)]);
  const sent = await sendParts({ [`post.${parted.id}`]: JSON.stringify(whole), ...Object.fromEntries(parts) });
  expect(sent.status).toBe(202);
  for (const { id } of [batched, single, patched, parted]) {
    expect(await read(id)).toMatchObject({
      inputs: { n: 1.5, text: "to [email]" },
      outputs: { api_key: "[secret]" },
      error: "no [email]",
    });
  }
  const [left] = await clickhouse.rows<{ n: string }>({
    name: "test",
    query: `select count() as n from runs where concat(ifNull(inputs, ''), ifNull(inputs_preview, ''), ifNull(error, ''),
      toString(input_pairs), ifNull(outputs, ''), toString(output_pairs)) like '%${EMAIL}%'`,
  });
  expect(Number(left!.n)).toBe(0);
});

test("a rule of a project masks there, and updates that name no project", async () => {
  const project = (await call("POST", "/sessions", { name: `own ${++n}` })).json as { id: string; name: string };
  await rule({ project_id: project.id, pattern: "\\d{4}", replacement: "#", fields: ["inputs", "outputs"] });
  const [mine, others] = [run({ inputs: { pin: "1234" } }, project.name), run({ inputs: { pin: "1234" } }, "others")];
  await call("POST", "/runs/batch", { post: [mine, others], patch: [] });
  expect((await read(mine.id)).inputs).toEqual({ pin: "#" });
  expect((await read(others.id)).inputs).toEqual({ pin: "1234" });
  const { trace_id, dotted_order } = others;
  await call("PATCH", `/runs/${others.id}`, { trace_id, dotted_order, outputs: { pin: "1234" } });
  expect((await read(others.id)).outputs).toEqual({ pin: "#" });
});

test("drops by path, counts, and stops when it is disabled", async () => {
  const { id } = await rule({ path: "messages.*.content", fields: ["inputs"] });
  const messages = [
    { role: "user", content: "a" },
    { role: "ai", content: [{ text: "b" }] },
  ];
  const first = run({ inputs: { messages } });
  await call("POST", "/runs/batch", { post: [first], patch: [] });
  expect((await read(first.id)).inputs.messages).toEqual([
    { role: "user", content: "[masked]" },
    { role: "ai", content: "[masked]" },
  ]);
  await masking.flush();
  const listed = await call("GET", "/masking-rules");
  expect(listed.json).toMatchObject([{ id, masked_runs: 1, masked_values: 2, is_enabled: true }]);
  await call("PATCH", `/masking-rules/${id}`, { is_enabled: false });
  const second = run({ inputs: { messages } });
  await call("POST", "/runs/batch", { post: [second], patch: [] });
  expect((await read(second.id)).inputs.messages).toEqual(messages);
  expect((await call("DELETE", `/masking-rules/${id}`)).status).toBe(200);
  expect((await call("DELETE", `/masking-rules/${id}`)).status).toBe(404);
});

test("masks names, tags and attachments of runs, and feedback by every way", async () => {
  const fields = ["name", "tags", "attachments", "feedback"];
  const { id } = await rule({ detectors: ["email"], fields });
  const sent = run({ name: `for ${EMAIL}`, tags: ["vip", EMAIL], inputs: { kept: EMAIL } });
  const feedback = { key: "note", run_id: sent.id, comment: `ask ${EMAIL}`, value: EMAIL, correction: { to: EMAIL } };
  const answer = await sendParts({
    [`post.${sent.id}`]: JSON.stringify(sent),
    [`attachment.${sent.id}.${EMAIL}`]: `write to ${EMAIL}`,
    "feedback.1": JSON.stringify(feedback),
  });
  expect(answer.status).toBe(202);
  const stored = await read(sent.id);
  expect(stored).toMatchObject({ name: "for [email]", tags: ["vip", "[email]"], inputs: { kept: EMAIL } });
  const urls = (await call("GET", `/runs/${sent.id}`)).json.s3_urls as Record<string, { presigned_url: string }>;
  expect(Object.keys(urls)).toEqual(["attachment.[email]"]);
  const made = await call("POST", "/feedback", { ...feedback, score: 1 });
  expect(made.json).toMatchObject({
    comment: "ask [email]",
    value: "[email]",
    correction: { to: "[email]" },
    score: 1,
  });
  const changed = await call("PATCH", `/feedback/${made.json.id}`, { comment: `no, ${EMAIL}` });
  expect(changed.json).toMatchObject({ comment: "no, [email]", value: "[email]" });
  const token = await call("POST", "/feedback/tokens", { run_id: sent.id, feedback_key: "public" });
  await call("POST", new URL(token.json.url).pathname, { comment: EMAIL });
  const listed = await call("GET", `/feedback?run=${sent.id}`);
  expect(JSON.stringify(listed.json)).not.toContain(EMAIL);
  expect(listed.json).toHaveLength(3);
  await masking.flush();
  // a name, a tag, an attachment's name and its content, three times three of feedback, its change, and a token's
  const counts = { id, masked_runs: 6, masked_values: 12 };
  expect((await call("GET", "/masking-rules")).json).toMatchObject([counts]);
  // what is rejected is not counted
  await call("POST", "/runs/batch", { post: [{ ...run({ name: EMAIL }), session_id: id }], patch: [] });
  await masking.flush();
  expect((await call("GET", "/masking-rules")).json).toMatchObject([counts]);
  await rule({ fields: ["attachments", "feedback", "tags"] });
  const dropped = run({ tags: ["vip"] });
  await sendParts({
    [`post.${dropped.id}`]: JSON.stringify(dropped),
    [`attachment.${dropped.id}.photo`]: "x",
    "feedback.1": JSON.stringify({ key: "note", run_id: dropped.id, comment: "anything", score: 0 }),
  });
  expect(await read(dropped.id)).toMatchObject({ tags: [], s3_urls: {} });
  const [left] = (await call("GET", `/feedback?run=${dropped.id}`)).json as object[];
  expect(left).toMatchObject({ comment: null, score: 0 });
});

test("previews, and rejects what it cannot mask with", async () => {
  const preview = await call("POST", "/masking-rules/preview", {
    rules: [{ detectors: ["email"] }, { pattern: "(?i)tiger" }],
    value: { a: [`${EMAIL} and Tiger`] },
  });
  expect(preview.json).toEqual({ value: { a: ["[email] and [masked]"] }, replaced: [1, 1] });
  // a pattern that takes too long masks the whole text
  const before = performance.now();
  for (const pattern of ["(a+)+$", "a(?:.*b)?"]) {
    const answer = await call("POST", "/masking-rules/preview", { rules: [{ pattern }], value: "a".repeat(60_000) });
    expect(answer.json.value).not.toMatch(/^a{60000}$/);
  }
  expect(performance.now() - before).toBeLessThan(5000);
  const border = `${"x".repeat(8190)}CUST-42${"x".repeat(9000)}`;
  const long = await call("POST", "/masking-rules/preview", { rules: [{ pattern: "CUST-[0-9]+" }], value: border });
  expect(long.json.value).toBe(border.replace("CUST-42", "[masked]"));
  for (const [fields, what] of [
    [{ pattern: "(" }, "pattern"],
    [{ pattern: "(a)\\1" }, "pattern"],
    [{ fields: ["names"] }, "fields"],
    [{ detectors: ["emails"] }, "detectors"],
    [{ path: "a..b" }, "path"],
    [{ project_id: "00000000-0000-7000-8000-00000000dead" }, "project_id"],
  ] as const) {
    const answer = await call("POST", "/masking-rules", { name: "x", ...fields });
    expect([answer.status, JSON.stringify(answer.json)]).toEqual([422, expect.stringContaining(what)]);
  }
  // not compiled, which would take seconds
  const { text } = await call("POST", "/masking-rules", { name: "x", pattern: "(".repeat(1001) });
  expect(text).toContain("<=1000 characters");
  expect(text).not.toContain("RE2");
});

test("malformed values are rejected as without rules", async () => {
  await rule({ detectors: ["email"] });
  const broken = run({});
  const parts = { [`post.${broken.id}`]: JSON.stringify(broken), [`post.${broken.id}.inputs`]: '{"a": "x' };
  expect((await sendParts(parts)).status).toBe(422);
});
