import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const other = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { call, platform, sql } = await testTracePlatform();

const create = async (body: object) => (await call("POST", "/datasets", body)).json;

test("examples are copied into another dataset, and then change independently", async () => {
  const [source, target] = [await create({ name: "original" }), await create({ name: "copy" })];
  const created = (
    await call("POST", "/examples/bulk", [
      { dataset_id: source.id, inputs: { q: 1 }, outputs: { a: 1 }, split: "train", metadata: { m: 1 } },
      { dataset_id: source.id, inputs: { q: 2 } },
    ])
  ).json;
  const ends = { source_dataset_id: source.id, target_dataset_id: target.id };
  const clone = async (more: object = {}) => call("POST", "/datasets/clone", { ...ends, ...more });
  const before = created[0].modified_at;
  await call("PATCH", `/examples/${created[0].id}`, { inputs: { q: 3 } });
  const copied = await clone({ as_of: before });
  expect(copied.status).toBe(200);
  expect(copied.json.map((item: { source_example_id: string }) => item.source_example_id).toSorted()).toEqual(
    created.map((example: { id: string }) => example.id).toSorted(),
  );
  const { json: copies } = await call("GET", `/examples?dataset=${target.id}&order=id`);
  expect(copies).toMatchObject([
    { inputs: { q: 1 }, outputs: { a: 1 }, metadata: { m: 1, dataset_split: ["train"] }, dataset_id: target.id },
    { inputs: { q: 2 }, outputs: null },
  ]);
  expect((await clone({ split: "train" })).json).toHaveLength(1);
  expect((await clone({ examples: [created[1].id] })).json).toMatchObject([{ source_example_id: created[1].id }]);
  await call("POST", "/v1/platform/datasets/examples/delete", { example_ids: [created[0].id], hard_delete: true });
  expect((await call("GET", `/examples/count?dataset=${target.id}`)).json).toBe(4);
  expect((await clone({ examples: [uuid7()] })).status).toBe(404);
  expect((await clone({ as_of: "nothing" })).status).toBe(404);
  expect((await clone({ target_dataset_id: uuid7() })).status).toBe(404);
  expect((await clone({ target_dataset_id: source.id })).status).toBe(422);
  expect((await call("POST", "/datasets/clone", ends, other)).status).toBe(404);
});

test("files are copied with their example", async () => {
  const [source, target] = [await create({ name: "with files" }), await create({ name: "copies of files" })];
  const id = uuid7();
  const form = new FormData();
  form.append(id, new Blob(["{}"], { type: "application/json" }));
  form.append(`${id}.inputs`, new Blob(['{"q":1}'], { type: "application/json" }));
  form.append(`${id}.attachment.file`, new Blob(["content"], { type: "text/plain" }));
  const sent = new Request("http://x", { method: "POST", body: form });
  const headers = { "Content-Type": sent.headers.get("content-type")! };
  const uploaded = await call("POST", `/v1/platform/datasets/${source.id}/examples`, await sent.text(), headers);
  expect(uploaded.status).toBe(201);
  const ends = { source_dataset_id: source.id, target_dataset_id: target.id };
  expect((await call("POST", "/datasets/clone", ends)).status).toBe(200);
  // the copy's file is independent of the original
  await call("POST", "/v1/platform/datasets/examples/delete", { example_ids: [id], hard_delete: true });
  const [copy] = (await call("GET", `/examples?dataset=${target.id}&select=attachment_urls`)).json;
  const { presigned_url: url, mime_type } = copy.attachment_urls["attachment.file"];
  expect(mime_type).toBe("text/plain");
  expect((await call("GET", new URL(url).pathname)).text).toBe("content");
});

test("a clone with a missing file is rejected with the example and the file, and writes nothing", async () => {
  const [source, target] = [await create({ name: "with a lost file" }), await create({ name: "no copy" })];
  const id = uuid7();
  const form = new FormData();
  form.append(id, new Blob(["{}"], { type: "application/json" }));
  form.append(`${id}.inputs`, new Blob(['{"q":1}'], { type: "application/json" }));
  for (const name of ["kept", "lost"]) {
    form.append(`${id}.attachment.${name}`, new Blob([name], { type: "text/plain" }));
  }
  const sent = new Request("http://x", { method: "POST", body: form });
  const headers = { "Content-Type": sent.headers.get("content-type")! };
  await call("POST", `/v1/platform/datasets/${source.id}/examples`, await sent.text(), headers);
  await call("POST", "/examples", { dataset_id: source.id, inputs: { q: 2 } });
  const [row] = await sql<{ attachments: Record<string, { blob: string }> }[]>`
    select attachments from dataset_examples where example_id = ${id}`;
  const lost = Object.entries(row!.attachments).find(([name]) => name.includes("lost"))!;
  await platform.deps.blobs.delete([lost[1].blob]);
  const stored = platform.deps.blobs.put.bind(platform.deps.blobs);
  const written: string[] = [];
  platform.deps.blobs.put = (name, content) => (written.push(name), stored(name, content));
  const rejected = await call("POST", "/datasets/clone", {
    source_dataset_id: source.id,
    target_dataset_id: target.id,
  });
  platform.deps.blobs.put = stored;
  expect([rejected.status, rejected.json.detail]).toEqual([409, expect.stringContaining(id)]);
  expect(rejected.json.detail).toContain("lost");
  expect((await call("GET", `/examples/count?dataset=${target.id}`)).json).toBe(0);
  for (const name of written) expect(await platform.deps.blobs.read(name)).toBeUndefined();
});

test("an example can be validated without being written", async () => {
  const schema = { type: "object", properties: { q: { type: "number" } }, required: ["q"] };
  const { id } = await create({ name: "checked", inputs_schema_definition: schema });
  const good = { dataset_id: id, inputs: { q: 1 } };
  const checked = await call("POST", "/examples/validate", good);
  expect(checked).toMatchObject({ status: 200, json: { ...good, split: "base", overwrite: false } });
  expect((await call("POST", "/examples/validate", { ...good, inputs: { q: "x" } })).status).toBe(422);
  expect((await call("POST", "/examples/validate/bulk", [good, good])).json).toHaveLength(2);
  expect((await call("POST", "/examples/validate/bulk", [good, { dataset_id: id, inputs: {} }])).status).toBe(422);
  expect((await call("POST", "/examples/validate", good, other)).status).toBe(404);
  expect((await call("GET", `/examples/count?dataset=${id}`)).json).toBe(0);
});
