import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { sql, call } = await testTracePlatform();

let datasetCount = 0;
async function dataset(more: Record<string, unknown> = {}) {
  const { json, status } = await call("POST", "/datasets", { name: `dataset ${++datasetCount}`, ...more });
  expect(status).toBe(200);
  return json as { id: string; name: string };
}

async function example(dataset_id: string, inputs: object, more: Record<string, unknown> = {}) {
  const { json, status } = await call("POST", "/examples", { dataset_id, inputs, ...more });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json as { id: string; modified_at: string };
}

const listInputs = (examples: { inputs: unknown }[]) => examples.map((item) => item.inputs);

test("an example is created, updated and deleted, and its dataset counts it", async () => {
  const { id: dataset_id } = await dataset();
  const created_at = "2024-05-06T07:08:09.123456Z";
  const created = await example(dataset_id, { z: 1, a: 2 }, { outputs: { x: null }, metadata: { m: 1 }, created_at });
  expect(created).toMatchObject({
    dataset_id,
    inputs: { z: 1, a: 2 },
    outputs: { x: null },
    metadata: { m: 1, dataset_split: ["base"] },
    created_at: "2024-05-06T07:08:09.123456+00:00",
    source_run_id: null,
  });
  expect(Object.keys((created as never)["inputs"])).toEqual(["z", "a"]);
  expect((await call("GET", `/examples/${created.id}`)).json).toEqual(created);

  const patched = await call("PATCH", `/examples/${created.id}`, {
    outputs: { y: 1 },
    metadata: { n: 2 },
    split: "test",
  });
  expect(patched.json).toMatchObject({
    inputs: { z: 1, a: 2 },
    outputs: { y: 1 },
    metadata: { n: 2, dataset_split: ["test"] },
  });
  expect(patched.json.modified_at > created.modified_at).toBe(true);
  const bulk = await call("PATCH", "/examples/bulk", [{ id: created.id, inputs: { b: 1 } }]);
  expect(bulk.json).toMatchObject({ count: 1, example_ids: [created.id] });
  expect((await call("GET", `/examples/${created.id}`)).json).toMatchObject({ inputs: { b: 1 }, outputs: { y: 1 } });
  expect((await call("GET", `/datasets/${dataset_id}`)).json).toMatchObject({ example_count: 1 });

  expect((await call("DELETE", `/examples/${created.id}`)).status).toBe(200);
  expect((await call("GET", `/examples/${created.id}`)).status).toBe(404);
  expect((await call("DELETE", `/examples/${created.id}`)).status).toBe(404);
  expect((await call("GET", `/datasets/${dataset_id}`)).json).toMatchObject({ example_count: 0 });
});

test("several examples are created as one version, or none", async () => {
  const { id: dataset_id } = await dataset();
  const id = uuid7();
  const bulk = await call("POST", "/examples/bulk", [
    { dataset_id, id, inputs: { n: 1 }, split: ["a", "b"] },
    { dataset_id, inputs: { n: 2 } },
  ]);
  expect(listInputs(bulk.json)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(bulk.json[0]).toMatchObject({ id, metadata: { dataset_split: ["a", "b"] } });
  expect((await call("GET", `/datasets/${dataset_id}/versions`)).json).toHaveLength(1);
  const again = await call("POST", "/examples/bulk", [
    { dataset_id, inputs: { n: 3 } },
    { dataset_id, id, inputs: { n: 4 } },
  ]);
  expect(again.status).toBe(409);
  expect((await call("GET", `/examples/count?dataset=${dataset_id}`)).json).toBe(2);
  expect((await call("GET", `/datasets/${dataset_id}/versions`)).json).toHaveLength(1);

  const other = await dataset();
  const mixed = [
    { dataset_id, inputs: {} },
    { dataset_id: other.id, inputs: {} },
  ];
  expect((await call("POST", "/examples/bulk", mixed)).status).toBe(422);
  expect((await call("POST", "/examples", { dataset_id })).text).toContain("inputs");
  expect((await call("POST", "/examples", { dataset_id: uuid7(), inputs: {} })).status).toBe(404);
  expect((await call("PATCH", `/examples/${id}`, { dataset_id: other.id })).status).toBe(422);
});

test("splits are listed, and examples added to them and removed", async () => {
  const { id } = await dataset();
  const a = await example(id, { n: "a" });
  const b = await example(id, { n: "b" }, { split: "train" });
  const splits = async (query = "") => (await call("GET", `/datasets/${id}/splits${query}`)).json;
  expect(await splits()).toEqual(["base", "train"]);
  expect((await call("PUT", `/datasets/${id}/splits`, { split_name: "test", examples: [a.id, b.id] })).json).toEqual([
    a.id,
    b.id,
  ]);
  await call("PUT", `/datasets/${id}/splits`, { split_name: "train", examples: [b.id], remove: true });
  expect(await splits()).toEqual(["base", "test"]);
  expect(await splits(`?as_of=${encodeURIComponent(b.modified_at)}`)).toEqual(["base", "train"]);
  const listed = await call("GET", `/examples?dataset=${id}&splits=base&splits=train`);
  expect(listed.json.map((item: { id: string }) => item.id)).toEqual([a.id]);
  expect((await call("PUT", `/datasets/${id}/splits`, { split_name: "x", examples: [uuid7()] })).status).toBe(404);
});

test("a list of examples is filtered, sorted, paged and limited to selected fields", async () => {
  const { id } = await dataset();
  for (const n of [1, 2, 3]) {
    await example(id, { n, text: `Text "${n}"` }, { outputs: { o: n }, metadata: { n, even: n % 2 === 0, tag: "t" } });
  }
  const read = async (query: string) =>
    (await call("GET", `/examples?dataset=${id}&${query}`)).json.map(
      (item: { inputs: { n: number } }) => item.inputs.n,
    );
  expect(await read("")).toEqual([3, 2, 1]);
  expect(await read("order=recently_created&descending=false")).toEqual([1, 2, 3]);
  expect(await read("limit=1&offset=1")).toEqual([2]);
  expect((await read("order=random&random_seed=1")).sort()).toEqual([1, 2, 3]);
  expect(await read(`metadata=${encodeURIComponent('{"even":true}')}`)).toEqual([2]);
  expect(await read(`full_text_contains=${encodeURIComponent('text "3"')}`)).toEqual([3]);
  const filter = (text: string) => read(`filter=${encodeURIComponent(text)}`);
  expect(await filter('and(has(metadata, \'{"tag":"t"}\'), not(has(metadata, \'{"n":1}\')))')).toEqual([3, 2]);
  expect(await filter('and(has("metadata", \'{"tag":"t"}\'), not(has(\'metadata\', \'{"n":1}\')))')).toEqual([3, 2]);
  expect(await filter('or(exists(metadata, "nothing"), has(metadata, \'{"n":1}\'))')).toEqual([1]);
  const wrong = await call("GET", `/examples?dataset=${id}&filter=${encodeURIComponent('and(eq(name, "x"))')}`);
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain("character 4");

  const [selected] = (await call("GET", `/examples?dataset=${id}&select=attachment_urls&select=metadata`)).json;
  expect(Object.keys(selected)).toEqual(
    expect.arrayContaining(["id", "dataset_id", "name", "inputs", "metadata", "modified_at"]),
  );
  expect(selected).not.toHaveProperty("outputs");
});

test("hard-deleted examples are removed from every version", async () => {
  const { id } = await dataset();
  const created = await example(id, { secret: true });
  await call("PATCH", `/examples/${created.id}`, { inputs: { secret: 2 } });
  const path = "/v1/platform/datasets/examples/delete";
  expect((await call("POST", path, { example_ids: [created.id], hard_delete: true }, OTHER)).status).toBe(404);
  const deleted = await call("POST", path, { example_ids: [created.id], hard_delete: true });
  expect(deleted.json).toEqual({ count: 1, example_ids: [created.id] });
  expect(await sql`select 1 from dataset_examples where example_id = ${created.id}`).toEqual([]);
  const two = await example(id, {});
  expect((await call("POST", `/api${path}`, { example_ids: [two.id] })).json.count).toBe(1);
  expect(await sql`select 1 from dataset_examples where example_id = ${two.id}`).toHaveLength(1);
});

test("an example takes inputs and outputs from its source run", async () => {
  const { id: dataset_id } = await dataset();
  const source_run_id = uuid7();
  const times = { start_time: new Date().toISOString(), end_time: new Date().toISOString() };
  const io = { inputs: { from: "run" }, outputs: { to: "example" } };
  const run = { id: source_run_id, name: "source", run_type: "chain", session_name: "sources", ...times, ...io };
  expect((await call("POST", "/runs", run)).status).toBe(202);
  const created = await call("POST", "/examples", { dataset_id, source_run_id, use_source_run_io: true });
  expect(created.json).toMatchObject({ inputs: { from: "run" }, outputs: { to: "example" }, source_run_id });
  const own = { dataset_id, source_run_id, use_source_run_io: true, inputs: { own: true } };
  expect((await call("POST", "/examples", own)).json).toMatchObject({
    inputs: { own: true },
    outputs: { to: "example" },
  });
  expect((await call("GET", `/runs/${source_run_id}`)).json).toMatchObject({ in_dataset: true });
  const theirs = (await call("POST", "/datasets", { name: "theirs" }, OTHER)).json.id;
  const stolen = { dataset_id: theirs, source_run_id, use_source_run_io: true };
  expect((await call("POST", "/examples", stolen, OTHER)).status).toBe(404);
});

test("the tag latest is found as others are, and splits are named at any length wherever an example names one", async () => {
  const { id } = (await call("POST", "/datasets", { name: "searched versions" })).json;
  const long = "s".repeat(300);
  const { json: first } = await call("POST", "/examples", { dataset_id: id, inputs: { n: 1 }, split: long });
  const { json: second } = await call("POST", "/examples", { dataset_id: id, inputs: { n: 2 } });
  const found = async (search: string) =>
    (await call("GET", `/datasets/${id}/versions?search=${search}`)).json.map(({ tags }: { tags: string[] }) => tags);
  expect(await found("LATE")).toEqual([["latest"]]);
  expect(await found("none")).toEqual([]);
  const change = (body: object) => call("PUT", `/datasets/${id}/splits`, { split_name: long, ...body });
  expect((await change({ examples: [second.id] })).json).toEqual([second.id]);
  expect((await change({ examples: [first.id], remove: true })).status).toBe(200);
  expect((await call("GET", `/examples?dataset=${id}&splits=${long}`)).json).toMatchObject([{ id: second.id }]);
});
