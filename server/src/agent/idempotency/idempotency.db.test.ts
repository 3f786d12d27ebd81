import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { testPrincipal } from "../../../test/principal.ts";
import { readOnce, reserve } from "./idempotent-request.ts";
import { deleteOldKeys } from "./sql.ts";

const db = await testDatabase();
const { call, sql } = await testAgentServer({}, undefined, { db });
const trail = (topic: string, more: object = {}) => ({ assistant_id: "trail", input: { topic }, ...more });
const unique = () => crypto.randomUUID();
const newThread = async (): Promise<string> => (await call("POST", "/threads", {})).json.thread_id;
const post = (path: string, body: object | object[], key: string, headers: Record<string, string> = {}) =>
  call("POST", path, body, { "Idempotency-Key": key, ...headers });
const listRuns = async (threadId: string) =>
  (await call("GET", `/threads/${threadId}/runs`)).json as { run_id: string }[];

test("a repeated request gets the run of the first one", async () => {
  const id = await newThread();
  const key = unique();
  const first = await post(`/threads/${id}/runs`, trail("a"), key);
  expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
  // the order of keys makes no difference
  const again = await post(`/thread/${id}/runs`, { input: { topic: "a" }, assistant_id: "trail" }, key);
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.json.run_id).toBe(first.json.run_id);
  expect(again.headers.get("content-location")).toBe(first.headers.get("content-location"));
  expect(await listRuns(id)).toHaveLength(1);
  expect(first.json.kwargs).not.toHaveProperty("__idempotency");
});

test("ten concurrent requests create one run", async () => {
  const id = await newThread();
  const key = unique();
  const answers = await Promise.all(Array.from({ length: 10 }, () => post(`/threads/${id}/runs`, trail("a"), key)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(new Set(answers.map(({ json }) => json.run_id)).size).toBe(1);
  expect(await listRuns(id)).toHaveLength(1);
});

test("a key belongs to one operation, one body and one caller", async () => {
  const id = await newThread();
  const key = unique();
  await post(`/threads/${id}/runs`, trail("a"), key);
  const other = await post(`/threads/${id}/runs`, trail("b"), key);
  expect([other.status, other.text]).toEqual([422, expect.stringContaining("used for another request")]);
  for (const path of [`/threads/${id}/runs/wait`, `/threads/${await newThread()}/runs`, "/runs"]) {
    expect((await post(path, trail("a"), key)).status).toBe(422);
  }
  const elsewhere = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
  expect((await post(`/threads/${id}/runs`, trail("b"), key, elsewhere)).status).toBe(200);
  expect(await listRuns(id)).toHaveLength(2);
});

test.each(["", "x".repeat(256), "\u00e9"])("rejects %j as a key", async (key) => {
  expect((await post("/runs", trail("a"), key)).status).toBe(422);
});

test("a rejected request leaves its key free", async () => {
  const key = unique();
  const id = unique();
  expect((await post(`/threads/${id}/runs`, trail("a"), key)).status).toBe(404);
  expect((await post(`/threads/${id}/runs`, trail("b", { if_not_exists: "create" }), key)).status).toBe(200);
  const busy = await newThread();
  await call("POST", `/threads/${busy}/runs`, { assistant_id: "slow", input: {} });
  const reject = unique();
  expect((await post(`/threads/${busy}/runs`, trail("a", { multitask_strategy: "reject" }), reject)).status).toBe(422);
  const [row] = await sql`select count(*)::int as n from idempotency_keys where key = ${reject}`;
  expect(row!["n"]).toBe(0);
  await call("DELETE", `/threads/${busy}`);
});

test("a retry uses the ids that a killed server reserved", async () => {
  const id = await newThread();
  const key = unique();
  const body = trail("a");
  // the request as it is before the kill: the body is the one that the route has parsed
  const headers = new Headers({ "idempotency-key": key });
  const once = readOnce(headers, testPrincipal(), `create ${id}`, body)!;
  const reserved = await reserve(sql, once, id, 24);
  expect(await listRuns(id)).toHaveLength(0);
  const { status, json, headers: responseHeaders } = await post(`/threads/${id}/runs`, body, key);
  expect([status, json.run_id, responseHeaders.get("idempotent-replayed")]).toEqual([200, reserved.run_id, null]);
  expect((await post(`/threads/${id}/runs`, body, key)).json.run_id).toBe(reserved.run_id);
});

test("wait and stream repeat the run's first response", async () => {
  const id = await newThread();
  const [waitKey, streamKey] = [unique(), unique()];
  const waited = await post(`/threads/${id}/runs/wait`, trail("w"), waitKey);
  const waitedAgain = await post(`/threads/${id}/runs/wait`, trail("w"), waitKey);
  expect(waitedAgain.json).toEqual(waited.json);
  expect(waitedAgain.headers.get("idempotent-replayed")).toBe("true");
  const streamed = await post(`/threads/${id}/runs/stream`, trail("s"), streamKey);
  expect(streamed.text).toContain("first:s");
  const again = await post(`/threads/${id}/runs/stream`, trail("s"), streamKey);
  expect([again.text, again.headers.get("content-location")]).toEqual([
    streamed.text.replaceAll(": heartbeat\n\n", ""),
    streamed.headers.get("content-location"),
  ]);
  expect(await listRuns(id)).toHaveLength(2);
});

test("a stateless run does not run again, even after it was deleted and on another server", async () => {
  const keys = { create: unique(), wait: unique() };
  const created = await post("/runs", trail("x"), keys.create);
  const waited = await post("/runs/wait", trail("x"), keys.wait);
  expect((await post("/runs/wait", trail("x"), keys.wait)).json).toEqual(waited.json);
  await expect.poll(async () => (await sql`select 1 from runs where run_id = ${created.json.run_id}`).length).toBe(0);
  const other = await testAgentServer({}, undefined, { db });
  const again = await other.call("POST", "/runs", trail("x"), { "Idempotency-Key": keys.create });
  expect(again.status).toBe(200);
  expect(again.json).toMatchObject({
    run_id: created.json.run_id,
    thread_id: created.json.thread_id,
    assistant_id: created.json.assistant_id,
    created_at: created.json.created_at,
    kwargs: { input: { topic: "x" } },
  });
  const late = await other.call("POST", "/runs/wait", trail("x"), { "Idempotency-Key": keys.wait });
  expect([late.status, late.text]).toEqual([410, expect.stringContaining("no longer stored")]);
  await other.stop();
});

test("treats a batch as one request", async () => {
  const key = unique();
  const batch = [trail("1"), trail("2"), trail("3")];
  const ids = async () =>
    ((await post("/runs/batch", batch, key)).json as { run_id: string }[]).map((run) => run.run_id);
  const first = await ids();
  expect(new Set(first).size).toBe(3);
  expect(await ids()).toEqual(first);
  expect((await post("/runs/batch", batch.slice(1), key)).status).toBe(422);
});

test("an expired key is free, and swept", async () => {
  const id = await newThread();
  const key = unique();
  const { json: first } = await post(`/threads/${id}/runs`, trail("a"), key);
  const age = () => sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${key}`;
  await age();
  const { json: second, headers } = await post(`/threads/${id}/runs`, trail("b"), key);
  expect(second.run_id).not.toBe(first.run_id);
  expect(headers.get("idempotent-replayed")).toBeNull();
  await age();
  expect(await deleteOldKeys(sql, 24, 100)).toBe(1);
  expect(await deleteOldKeys(sql, 24, 100)).toBe(0);
});

test("without a trace platform, a run with feedback_keys has no links", async () => {
  const id = await newThread();
  const key = unique();
  const run = await post(`/threads/${id}/runs`, trail("a", { feedback_keys: ["thumbs"] }), key);
  expect([run.status, run.json.kwargs.feedback_keys, run.json.kwargs.feedback_urls]).toEqual([
    200,
    ["thumbs"],
    undefined,
  ]);
  const waited = await post(`/threads/${id}/runs/wait`, trail("b", { feedback_keys: ["thumbs"] }), unique());
  expect(waited.json).not.toHaveProperty("__feedback__");
});

test("the OpenAPI document names the header on every route that accepts it", async () => {
  const { paths } = (await call("GET", "/openapi.json")).json;
  const taking = Object.entries<{ post?: { parameters?: { name: string; in: string; required: boolean }[] } }>(paths)
    .filter(([, { post }]) =>
      post?.parameters?.some((parameter) => parameter.in === "header" && parameter.name === "Idempotency-Key"),
    )
    .map(([path]) => path);
  const runs = ["/runs", "/runs/batch", "/runs/stream", "/runs/wait"];
  const onThreads = ["commands", "runs", "runs/stream", "runs/wait", "signals/{name}"].map(
    (path) => `/threads/{thread_id}/${path}`,
  );
  expect(taking.toSorted()).toEqual([...runs, ...onThreads]);
});
