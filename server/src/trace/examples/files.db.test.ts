import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { openGuard } from "../../../test/principal.ts";
import { uuid7 } from "../../base/ids.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { platform, sql, call } = await testTracePlatform();
const app = createTraceApp(platform.deps, openGuard);

const send = async (method: string, path: string, form: FormData, headers: Record<string, string> = {}) => {
  const response = await app.request(path, { method, body: form, headers });
  const text = await response.text();
  return {
    status: response.status,
    text,
    json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined,
  };
};

const json = (value: unknown) => new Blob([JSON.stringify(value)], { type: "application/json" });
const file = (content: string | Uint8Array<ArrayBuffer>, type: string) => {
  const size = typeof content === "string" ? Buffer.byteLength(content) : content.length;
  return new Blob([content], { type: `${type}; length=${size}` });
};

let datasetCount = 0;
const dataset = async (more: Record<string, unknown> = {}) =>
  (await call("POST", "/datasets", { name: `files ${++datasetCount}`, ...more })).json.id as string;

/** Builds a form as the JavaScript SDK does. */
function exampleForm(id: string, parts: Record<string, unknown>, files: Record<string, Blob> = {}): FormData {
  const form = new FormData();
  const { inputs, outputs, operations, ...info } = parts;
  form.append(id, json(info));
  if (inputs) form.append(`${id}.inputs`, json(inputs));
  if (outputs) form.append(`${id}.outputs`, json(outputs));
  for (const [name, content] of Object.entries(files)) form.append(`${id}.attachment.${name}`, content);
  if (operations) form.append(`${id}.attachments_operations`, json(operations));
  return form;
}

const bytes = new Uint8Array([0, 255, 13, 10, 45, 45, 128]);
const urls = async (id: string) => (await call("GET", `/examples/${id}`)).json.attachment_urls;
const fetched = async (url: string) => {
  const response = await app.request(new URL(url).pathname);
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: new Uint8Array(await response.arrayBuffer()),
  };
};
const blobs = async () =>
  (
    await sql<{ blob: string }[]>`select distinct a.value ->> 'blob' as blob
    from dataset_examples x, jsonb_each(x.attachments) a where x.attachments is not null`
  ).map((row) => row.blob);

test("an example is created with files, which links serve without a key", async () => {
  const id = uuid7();
  const dataset_id = await dataset();
  const form = exampleForm(
    id,
    { created_at: "2024-01-01T00:00:00Z", metadata: { m: 1 }, split: ["a"], inputs: { q: "ü" }, outputs: { a: 1 } },
    { "image.png": file(bytes, "image/png"), text: file("hello", "text/plain") },
  );
  const created = await send("POST", `/v1/platform/datasets/${dataset_id}/examples`, form);
  expect(created.status).toBe(201);
  expect(created.json).toMatchObject({ count: 1, example_ids: [id] });
  expect((await call("GET", `/examples/${id}`)).json).toMatchObject({
    inputs: { q: "ü" },
    outputs: { a: 1 },
    metadata: { m: 1, dataset_split: ["a"] },
    created_at: "2024-01-01T00:00:00.000000+00:00",
    modified_at: created.json.as_of,
  });
  const links = await urls(id);
  expect(Object.keys(links).sort()).toEqual(["attachment.image.png", "attachment.text"]);
  expect(links["attachment.image.png"].mime_type).toBe("image/png");
  const image = await fetched(links["attachment.image.png"].presigned_url);
  expect(image).toEqual({ status: 200, type: "image/png", body: bytes });
  // lists include attachments only on request
  expect((await call("GET", `/examples?dataset=${dataset_id}`)).json[0]).not.toHaveProperty("attachment_urls");
  const listed = await call("GET", `/examples?dataset=${dataset_id}&select=attachment_urls`);
  expect(Object.keys(listed.json[0].attachment_urls)).toHaveLength(2);
});

test("files are kept, renamed, dropped and replaced, and earlier versions keep theirs", async () => {
  const id = uuid7();
  const dataset_id = await dataset();
  const path = `/api/v1/platform/datasets/${dataset_id}/examples`;
  const files = { a: file("A", "text/plain"), b: file("B", "text/plain"), c: file("C", "text/plain") };
  const first = await send("POST", path, exampleForm(id, { inputs: {} }, files));
  const operations = { rename: { a: "z" }, retain: ["b"] };
  const changed = await send(
    "PATCH",
    path,
    exampleForm(id, { operations, metadata: { x: 1 } }, { d: file("D", "text/plain") }),
  );
  expect(changed.status).toBe(201);
  const content = async (links: Record<string, { presigned_url: string }>) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(links).map(async ([name, link]) => [
          name,
          Buffer.from((await fetched(link.presigned_url)).body).toString(),
        ]),
      ),
    );
  expect(await content(await urls(id))).toEqual({ "attachment.z": "A", "attachment.b": "B", "attachment.d": "D" });
  await send("PATCH", path, exampleForm(id, { outputs: { o: 1 } }));
  expect(await content(await urls(id))).toEqual({ "attachment.z": "A", "attachment.b": "B", "attachment.d": "D" });
  // without operations, new files replace all
  await send("PATCH", path, exampleForm(id, {}, { b: file("B2", "text/plain"), e: file("E", "text/plain") }));
  expect(await content(await urls(id))).toEqual({ "attachment.b": "B2", "attachment.e": "E" });
  const asOf = encodeURIComponent(first.json.as_of);
  expect(await content((await call("GET", `/examples/${id}?as_of=${asOf}`)).json.attachment_urls)).toEqual({
    "attachment.a": "A",
    "attachment.b": "B",
    "attachment.c": "C",
  });
  for (const wrong of [
    { retain: ["nothing"] },
    { rename: { b: "e" }, retain: ["e"] },
    { rename: { b: "x", e: "x" } },
    // a file has one name
    { rename: { b: "x" }, retain: ["b"] },
    { rename: { b: "b" }, retain: ["b"] },
  ]) {
    const answer = await send("PATCH", path, exampleForm(id, { operations: wrong }));
    expect([wrong, answer.status]).toEqual([wrong, 422]);
  }
  const swap = { rename: { b: "e", e: "b" } };
  expect((await send("PATCH", path, exampleForm(id, { operations: swap }))).status).toBe(201);
  expect(await content(await urls(id))).toEqual({ "attachment.b": "E", "attachment.e": "B2" });
  // a new file takes its name from one that is kept
  const operationsWithNew = { rename: { b: "new" }, retain: ["e"] };
  const added = { new: file("N", "text/plain"), e: file("E2", "text/plain") };
  expect((await send("PATCH", path, exampleForm(id, { operations: operationsWithNew }, added))).status).toBe(201);
  expect(await content(await urls(id))).toEqual({ "attachment.new": "N", "attachment.e": "E2" });
});

test("an update of an example of another dataset is a conflict and changes nothing", async () => {
  const [first, second] = [await dataset(), await dataset()];
  const [mine, other] = [uuid7(), uuid7()];
  const path = (id: string) => `/v1/platform/datasets/${id}/examples`;
  await send("POST", path(first), exampleForm(mine, { inputs: { q: 1 } }));
  await send("POST", path(second), exampleForm(other, { inputs: { q: 1 } }));
  const form = exampleForm(mine, { inputs: { q: 2 } });
  for (const [name, part] of exampleForm(other, { inputs: { q: 2 } })) form.append(name, part);
  expect((await send("PATCH", path(first), form)).status).toBe(409);
  expect((await call("GET", `/examples/${mine}`)).json.inputs).toEqual({ q: 1 });
  expect((await send("PATCH", path(first), exampleForm(uuid7(), { inputs: {} }))).status).toBe(404);
});

test("files are deleted with their owner, and failed requests leave none", async () => {
  const id = uuid7();
  const dataset_id = await dataset();
  const path = `/v1/platform/datasets/${dataset_id}/examples`;
  const before = new Set(await blobs());
  await send("POST", path, exampleForm(id, { inputs: {} }, { a: file("A", "text/plain") }));
  const [blob] = (await blobs()).filter((blob) => !before.has(blob));
  expect(await platform.deps.blobs.read(blob!)).toBeDefined();
  const again = await send("POST", path, exampleForm(id, { inputs: {} }, { a: file("A", "text/plain") }));
  expect(again.status).toBe(409);
  await call("DELETE", `/datasets/${dataset_id}`);
  expect(await platform.deps.blobs.read(blob!)).toBeUndefined();

  const other = await dataset();
  const two = uuid7();
  await send(
    "POST",
    `/v1/platform/datasets/${other}/examples`,
    exampleForm(two, { inputs: {} }, { a: file("A", "text/plain") }),
  );
  const [second] = (await blobs()).filter((blob) => !before.has(blob));
  await call("POST", "/v1/platform/datasets/examples/delete", { example_ids: [two], hard_delete: true });
  expect(await platform.deps.blobs.read(second!)).toBeUndefined();
});

test("an example copies files from its source run, and keeps them", async () => {
  const run = { id: uuid7(), name: "r", run_type: "chain", start_time: new Date().toISOString(), inputs: { q: 1 } };
  const order = `${run.start_time.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${run.id}`;
  const sent = new FormData();
  const body = JSON.stringify({ ...run, trace_id: run.id, dotted_order: order, session_name: "files" });
  sent.append(`post.${run.id}`, file(body, "application/json"));
  sent.append(`attachment.${run.id}.pic`, file(bytes, "image/png"));
  expect((await send("POST", "/runs/multipart", sent)).status).toBe(202);

  const dataset_id = await dataset();
  const id = uuid7();
  const taking = { source_run_id: run.id, use_source_run_io: true, use_source_run_attachments: ["pic"] };
  const path = `/v1/platform/datasets/${dataset_id}/examples`;
  const created = await send("POST", path, exampleForm(id, taking));
  expect(created.status).toBe(201);
  expect((await call("GET", `/examples/${id}`)).json).toMatchObject({ inputs: { q: 1 }, source_run_id: run.id });
  expect((await fetched((await urls(id))["attachment.pic"].presigned_url)).body).toEqual(bytes);
  const missing = { ...taking, use_source_run_attachments: ["other"] };
  expect((await send("POST", path, exampleForm(uuid7(), missing))).status).toBe(404);
});

test("rejects an invalid multipart body with the reason", async () => {
  const id = uuid7();
  const dataset_id = await dataset();
  const path = `/v1/platform/datasets/${dataset_id}/examples`;
  const broken = new FormData();
  broken.append(id, new Blob(["{"], { type: "application/json" }));
  const stray = exampleForm("not-a-uuid", { inputs: {} });
  const odd = exampleForm(id, { inputs: {} });
  odd.append(`${id}.colour`, json("red"));
  for (const [form, status] of [
    [exampleForm(id, {}), 422],
    [exampleForm(id, { inputs: [1] }), 422],
    [exampleForm(id, { split: 5, inputs: {} }), 422],
    [exampleForm(id, { inputs: {}, use_source_run_io: true }), 422],
    [exampleForm(id, { inputs: {}, use_source_run_io: true, source_run_id: uuid7() }), 404],
    [broken, 400],
    [stray, 422],
    [odd, 422],
    [new FormData(), 422],
  ] as const) {
    expect((await send("POST", path, form)).status).toBe(status);
  }
  expect((await call("POST", path, { inputs: {} })).status).toBe(415);
  expect(
    (await send("POST", `/v1/platform/datasets/${uuid7()}/examples`, exampleForm(id, { inputs: {} }))).status,
  ).toBe(404);
  expect((await send("POST", path, exampleForm(id, { inputs: {} }), OTHER)).status).toBe(404);
  expect((await send("PATCH", path, exampleForm(id, { inputs: {} }))).status).toBe(404);
  expect(await sql`select 1 from dataset_examples where dataset_id = ${dataset_id}`).toEqual([]);
});
