/**
 * Attachments in a directory or in a bucket: acknowledged files are kept, and every process stores them in one place.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, expect, test } from "vitest";

import { NO_SUCH_BUCKET, SLOW_DOWN, startFaultProxy } from "../../../../test/s3/fault-proxy.ts";
import { testDatabase } from "../../../test/db.ts";
import { ingestClient, sampleRun } from "../../../test/ingest-client.ts";
import { testS3 } from "../../../test/s3.ts";
import { type TestTracePlatform, testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const s3 = await testS3();
s3.createBucket("files");
const proxy = await startFaultProxy(s3.endpoint);
const key = s3.createKey();
const BUCKET = {
  HEDDLE_BLOB_BUCKET: "files",
  HEDDLE_BLOB_PREFIX: "/platform/",
  HEDDLE_BLOB_ENDPOINT: proxy.endpoint,
  HEDDLE_BLOB_ACCESS_KEY_ID: key.access_key_id,
  HEDDLE_BLOB_SECRET_ACCESS_KEY: key.secret_access_key,
};
const db = await testDatabase();
const platform = await testTracePlatform({ ...BUCKET, HEDDLE_LOG_LEVEL: "silent" }, { db });
const { call } = platform;
afterEach(() => proxy.setRule(undefined));
afterAll(() => proxy.stop());

const directories: string[] = [];
function directory(): string {
  directories.push(mkdtempSync(join(tmpdir(), "heddle-place-")));
  return directories.at(-1)!;
}
afterAll(() => directories.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** Sends a run with a file. @returns the response status, and a function that reads the file's link */
async function attach(to: TestTracePlatform, content: string) {
  const id = uuid7();
  const response = await ingestClient(to).send([
    { name: `post.${id}`, content: JSON.stringify(sampleRun(id, { end_time: "2026-11-21T10:00:01" })) },
    { name: `attachment.${id}.note`, content, type: "text/plain" },
  ]);
  const [file] = await to.clickhouse.rows<{ blob: string; mime_type: string; name: string }>({
    name: "t",
    query: "select * from run_attachments where run_id = {id:UUID}",
    params: { id },
  });
  const read = (by: TestTracePlatform = to) => by.call("GET", `/attachments/${to.platform.deps.links.sign(file!)}`);
  return { id, status: response.status, text: response.text, headers: response.headers, file, read };
}

const objects = async () => (await s3.keys("files", "platform/")).filter((name) => !name.endsWith("/place.id"));

test("a run's file is an object of the bucket until its trace is deleted", async () => {
  const { id, status, read } = await attach(platform, "in the bucket");
  expect(status).toBe(202);
  expect(await objects()).toHaveLength(1);
  const response = await read();
  expect([response.status, response.text, response.headers.get("content-length")]).toEqual([
    200,
    "in the bucket",
    "13",
  ]);
  const { session_id } = (await call("GET", `/runs/${id}`)).json;
  expect((await call("POST", "/runs/delete", { session_id, trace_ids: [id] })).status).toBe(200);
  await expect.poll(objects).toEqual([]);
  expect((await read()).status).toBe(404);
});

test("files of examples are uploaded, cloned and deleted in the bucket", async () => {
  const [source, target] = [
    (await call("POST", "/datasets", { name: "source" })).json,
    (await call("POST", "/datasets", { name: "target" })).json,
  ];
  const id = uuid7();
  const form = new FormData();
  form.append(id, new Blob(["{}"], { type: "application/json" }));
  form.append(`${id}.inputs`, new Blob(['{"q":1}'], { type: "application/json" }));
  form.append(`${id}.attachment.file`, new Blob(["content"], { type: "text/plain" }));
  const sent = new Request("http://x", { method: "POST", body: form });
  const headers = { "Content-Type": sent.headers.get("content-type")! };
  await call("POST", `/v1/platform/datasets/${source.id}/examples`, await sent.text(), headers);
  const ends = { source_dataset_id: source.id, target_dataset_id: target.id };
  expect((await call("POST", "/datasets/clone", ends)).status).toBe(200);
  expect(await objects()).toHaveLength(2);
  expect((await call("DELETE", `/datasets/${source.id}`)).status).toBeLessThan(300);
  expect(await objects()).toHaveLength(1);
  const [copy] = (await call("GET", `/examples?dataset=${target.id}&select=attachment_urls`)).json;
  const { presigned_url: url } = copy.attachment_urls["attachment.file"];
  expect((await call("GET", new URL(url).pathname)).text).toBe("content");
  expect((await call("DELETE", `/datasets/${target.id}`)).status).toBeLessThan(300);
  expect(await objects()).toEqual([]);
});

test("a failed put is retried, and one that cannot succeed is never acknowledged", async () => {
  const before = proxy.faults();
  proxy.setRule(({ number, method }) => (method === "PUT" && number % 2 === 1 ? SLOW_DOWN : undefined));
  const healed = await attach(platform, "healed");
  if (proxy.faults() === before) await attach(platform, "healed too");
  expect(healed.status).toBe(202);
  expect(proxy.faults()).toBeGreaterThan(before);
  expect((await healed.read()).text).toBe("healed");

  proxy.setRule(() => NO_SUCH_BUCKET);
  const rejected = await attach(platform, "lost");
  expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(rejected.text).toMatch(/The attachment bucket .*files.* is unavailable \(NoSuchBucket\)/);
  // no row refers to a missing file
  expect(rejected.file).toBeUndefined();
  const reading = await healed.read();
  expect([reading.status, reading.text]).toEqual([503, expect.stringMatching(/The attachment bucket .*files/)]);
  // requests that need no bucket are accepted
  const id = uuid7();
  const plain = await ingestClient(platform).send([{ name: `post.${id}`, content: JSON.stringify(sampleRun(id)) }]);
  expect(plain.status).toBe(202);
});

test("an unavailable bucket makes the platform not ready, but alive", async () => {
  const unreachable = await testTracePlatform({ ...BUCKET, HEDDLE_LOG_LEVEL: "silent" }, { db });
  expect((await unreachable.call("GET", "/ready")).status).toBe(200);
  proxy.setRule(() => NO_SUCH_BUCKET);
  expect((await attach(unreachable, "lost")).status).toBe(503);
  await expect
    .poll(async () => (await unreachable.call("GET", "/ready")).json, { interval: 500 })
    .toMatchObject({ ok: false, detail: expect.stringContaining('blobs: The attachment bucket "files"') });
  expect((await unreachable.call("GET", "/ok")).status).toBe(200);
  proxy.setRule(undefined);
  await expect.poll(async () => (await unreachable.call("GET", "/ready")).status, { interval: 500 }).toBe(200);
  await unreachable.stop();
});

test("an empty and unused location can be replaced by another, and one with files cannot", async () => {
  const other = await testDatabase();
  const start = (dataDir: string, env: Record<string, string> = {}) =>
    testTracePlatform(env, { db: other, ownBlobs: true, dataDir });
  const [first, second, moved] = [directory(), directory(), directory()];
  const platform = await start(first);
  await expect(start(second)).rejects.toThrow(/Another trace process is using it.*HEDDLE_BLOB_BUCKET/);
  await expect(start(second, BUCKET)).rejects.toThrow(`are stored in ${join(first, "blobs")}`);
  await platform.stop();
  const two = await start(second);
  const { status, read } = await attach(two, "kept");
  expect(status).toBe(202);
  await two.stop();
  await expect(start(first)).rejects.toThrow(/heddle blobs adopt/);
  await expect(start(first, BUCKET)).rejects.toThrow(/heddle blobs move/);
  // a moved or restored directory keeps its id
  cpSync(second, moved, { recursive: true });
  rmSync(second, { recursive: true });
  const three = await start(moved);
  expect((await read(three)).text).toBe("kept");
  // a second process with the same files
  const four = await start(first, { HEDDLE_BLOB_DIRECTORY: join(moved, "blobs") });
  expect((await read(four)).text).toBe("kept");
  await three.stop();
  await four.stop();
});

test("rejects a bucket when the directory of an older version holds files", async () => {
  const dataDir = directory();
  mkdirSync(join(dataDir, "blobs", "00000000-0000-7000-8000-000000000001"), { recursive: true });
  const starting = testTracePlatform(BUCKET, { db: await testDatabase(), dataDir });
  await expect(starting).rejects.toThrow(`attachments in ${join(dataDir, "blobs")}`);
});

test.each<[string, Record<string, string>]>([
  ["an endpoint without a bucket", { HEDDLE_BLOB_ENDPOINT: "https://s3.example" }],
  ["half of a key", { HEDDLE_BLOB_BUCKET: "b", HEDDLE_BLOB_ACCESS_KEY_ID: "id" }],
  ["a bucket and a directory", { HEDDLE_BLOB_BUCKET: "b", HEDDLE_BLOB_DIRECTORY: "/tmp/b" }],
  ["an endpoint without a scheme", { HEDDLE_BLOB_BUCKET: "b", HEDDLE_BLOB_ENDPOINT: "s3.example" }],
])("rejects settings with %s", async (_, env) => {
  await expect(testTracePlatform(env, { db, ownBlobs: true })).rejects.toThrow(/HEDDLE_BLOB/);
});
