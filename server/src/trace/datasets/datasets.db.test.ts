import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { sql, call } = await testTracePlatform();

let createdCount = 0;
async function dataset(more: Record<string, unknown> = {}, headers = {}) {
  const { json, status } = await call("POST", "/datasets", { name: `dataset ${++createdCount}`, ...more }, headers);
  expect(status).toBe(200);
  return json as { id: string; name: string };
}

async function example(dataset_id: string, inputs: object, more: Record<string, unknown> = {}) {
  const { json, status } = await call("POST", "/examples", { dataset_id, inputs, ...more });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json as { id: string; modified_at: string };
}

const listInputs = (examples: { inputs: unknown }[]) => examples.map((example) => example.inputs);

test("a dataset is created, found by name, updated and deleted", async () => {
  const body = {
    name: "questions",
    description: "d",
    data_type: "chat",
    extra: { source: "sdk", metadata: { a: 1 } },
    inputs_schema_definition: { type: "object" },
  };
  const created = await call("POST", "/api/v1/datasets", body);
  expect(created.json).toMatchObject({
    name: "questions",
    description: "d",
    data_type: "chat",
    tenant_id: WORKSPACE,
    metadata: { a: 1 },
    inputs_schema_definition: { type: "object" },
    outputs_schema_definition: null,
    example_count: 0,
    session_count: 0,
    last_session_start_time: null,
  });
  const { id } = created.json;
  expect((await call("POST", "/datasets", body)).status).toBe(409);
  expect((await call("GET", "/datasets?limit=1&name=questions")).json).toEqual([created.json]);
  expect(
    (await call("GET", "/datasets?name_contains=QUEST&metadata=%7B%22a%22%3A1%7D&data_type=chat")).json,
  ).toHaveLength(1);
  expect((await call("GET", "/datasets?metadata=%7B%22a%22%3A2%7D")).json).toEqual([]);
  expect((await call("GET", `/datasets?id=${id}&exclude=example_count`)).json[0]).not.toHaveProperty("example_count");

  const patched = await call("PATCH", `/datasets/${id}`, { name: "answers", description: null });
  expect(patched.json).toMatchObject({ name: "answers", description: null, metadata: { a: 1 } });
  await dataset({ name: "taken" });
  expect((await call("PATCH", `/datasets/${id}`, { name: "taken" })).status).toBe(409);
  const missing = { __missing__: "__missing__" };
  expect((await call("PATCH", `/datasets/${id}`, { name: missing, metadata: null })).json).toMatchObject({
    name: "answers",
    metadata: null,
  });

  await example(id, { q: 1 });
  expect((await call("DELETE", `/datasets/${id}`)).status).toBe(200);
  expect((await call("GET", `/datasets/${id}`)).status).toBe(404);
  expect((await call("DELETE", `/datasets/${id}`)).status).toBe(404);
  expect(await sql`select 1 from dataset_examples where dataset_id = ${id}`).toEqual([]);
});

test("rejects an invalid dataset with the reason", async () => {
  for (const [body, word] of [
    [{}, "name"],
    [{ name: "x", data_type: "odd" }, "data_type"],
    [{ name: "x", transformations: [{ path: ["a"] }] }, "transformations"],
    [{ name: "x", inputs_schema_definition: { $ref: "#/nowhere" } }, "inputs_schema_definition"],
    [{ name: "x", id: "y" }, "UUID"],
  ] as const) {
    const { status, json } = await call("POST", "/datasets", body);
    expect({ body, status, detail: json.detail }).toEqual({ body, status: 422, detail: expect.stringContaining(word) });
  }
  expect((await call("GET", "/datasets?metadata=no")).status).toBe(422);
});

test("a dataset is read as of any of its versions, by time and by tag", async () => {
  const { id } = await dataset();
  const a = await example(id, { name: "a", v: 1 });
  const b = await example(id, { name: "b", v: 1 });
  const second = b.modified_at;
  await call("PATCH", `/examples/${a.id}`, { inputs: { name: "a", v: 2 } });
  await call("DELETE", `/examples/${b.id}`);
  const c = await example(id, { name: "c", v: 1 });

  const read = async (query: string) =>
    listInputs((await call("GET", `/examples?dataset=${id}&order=id&${query}`)).json);
  expect(await read("")).toEqual([
    { name: "a", v: 2 },
    { name: "c", v: 1 },
  ]);
  expect(await read(`as_of=${encodeURIComponent(second)}`)).toEqual([
    { name: "a", v: 1 },
    { name: "b", v: 1 },
  ]);
  // a JavaScript Date has millisecond precision, and no version is in between
  expect(await read(`as_of=${new Date(second).toISOString()}`)).toEqual([
    { name: "a", v: 1 },
    { name: "b", v: 1 },
  ]);
  expect(await read(`as_of=${new Date(Date.parse(second) - 1).toISOString()}`)).toEqual([{ name: "a", v: 1 }]);
  expect(await read("as_of=2000-01-01")).toEqual([]);
  const atSecond = `as_of=${encodeURIComponent(second)}`;
  expect((await call("GET", `/examples/${b.id}?${atSecond}`)).json).toMatchObject({ inputs: { name: "b" } });
  expect((await call("GET", `/examples/count?dataset=${id}&${atSecond}`)).json).toBe(2);

  const versions = (await call("GET", `/datasets/${id}/versions`)).json;
  expect(versions).toHaveLength(5);
  expect(versions[0]).toMatchObject({ as_of: c.modified_at, tags: ["latest"] });
  expect((await call("GET", `/datasets/${id}/versions?example=${b.id}`)).json).toHaveLength(2);
  expect((await call("PUT", `/datasets/${id}/tags`, { as_of: second, tag: "prod" })).json).toEqual({
    as_of: second,
    tags: ["prod"],
  });
  expect(await read("as_of=prod")).toHaveLength(2);
  expect((await call("GET", `/datasets/${id}/version?tag=prod`)).json.as_of).toBe(second);
  expect((await call("GET", `/datasets/${id}/version?tag=latest`)).json.as_of).toBe(c.modified_at);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect((await call("GET", `/datasets/${id}/version?as_of=${later}`)).json.as_of).toBe(c.modified_at);
  expect((await call("GET", `/datasets/${id}/version?as_of=2000-01-01`)).status).toBe(404);
  expect((await call("GET", `/datasets/${id}/version`)).status).toBe(422);
  expect((await call("GET", `/examples?dataset=${id}&as_of=unknown`)).status).toBe(404);

  const diff = await call("GET", `/datasets/${id}/versions/diff?from_version=prod&to_version=latest`);
  expect(diff.json).toEqual({ examples_added: [c.id], examples_removed: [b.id], examples_modified: [a.id] });
  // the tag moves
  await call("PUT", `/datasets/${id}/tags`, { as_of: "latest", tag: "prod" });
  expect((await call("GET", `/datasets/${id}/version?tag=prod`)).json).toEqual({
    as_of: c.modified_at,
    tags: ["prod", "latest"],
  });
  expect((await call("PUT", `/datasets/${id}/tags`, { as_of: "latest", tag: "latest" })).status).toBe(422);
  expect((await call("PUT", `/datasets/${id}/tags`, { as_of: "2000-01-01", tag: "x" })).status).toBe(404);
});

test("concurrent writers create successive versions", async () => {
  const { id } = await dataset();
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => example(id, { n })));
  const times = all.map((created) => created.modified_at);
  expect(new Set(times).size).toBe(20);
  expect(times.every((time) => time.endsWith("000+00:00"))).toBe(true);
  expect((await call("GET", `/datasets/${id}/versions`)).json).toHaveLength(20);
  expect((await call("GET", `/datasets/${id}`)).json.modified_at).toBe(times.sort().at(-1));
});

test("examples are validated against the dataset's schemas, also when those change", async () => {
  const person = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const { id: dataset_id } = await dataset({ inputs_schema_definition: person });
  const entry = await example(dataset_id, { name: "A" });
  expect((await call("POST", "/examples", { dataset_id, inputs: { name: 1 } })).status).toBe(422);
  expect((await call("PATCH", `/examples/${entry.id}`, { inputs: {} })).status).toBe(422);
  const stricter = { ...person, required: ["name", "age"] };
  const rejected = await call("PATCH", `/datasets/${dataset_id}`, { inputs_schema_definition: stricter });
  expect(rejected.status).toBe(422);
  expect(rejected.text).toContain(entry.id);
  expect((await call("GET", `/datasets/${dataset_id}`)).json.inputs_schema_definition).toEqual(person);
  expect((await call("PATCH", `/datasets/${dataset_id}`, { inputs_schema_definition: null })).status).toBe(200);
  await example(dataset_id, {});
});

test("datasets and examples are invisible to other workspaces", async () => {
  const { id } = await dataset({ name: "mine" });
  const item = await example(id, { mine: true });
  const foreign = await dataset({ name: "mine", id }, OTHER);
  expect(foreign.id).toBe(id);
  await call("DELETE", `/datasets/${id}`, undefined, OTHER);
  expect((await call("GET", `/examples/${item.id}`)).status).toBe(200);

  for (const [method, path, body] of [
    ["GET", `/datasets/${id}`],
    ["PATCH", `/datasets/${id}`, { name: "stolen" }],
    ["DELETE", `/datasets/${id}`],
    ["DELETE", `/datasets?dataset_ids=${id}`],
    ["GET", `/datasets/${id}/versions`],
    ["GET", `/datasets/${id}/version?tag=latest`],
    ["GET", `/datasets/${id}/versions/diff?from_version=latest&to_version=latest`],
    ["PUT", `/datasets/${id}/tags`, { as_of: "latest", tag: "t" }],
    ["GET", `/datasets/${id}/splits`],
    ["PUT", `/datasets/${id}/splits`, { split_name: "s", examples: [item.id] }],
    ["GET", `/datasets/${id}/csv`],
    ["GET", `/datasets/${id}/jsonl`],
    ["GET", `/datasets/${id}/openai`],
    ["GET", `/datasets/${id}/openai_ft`],
    ["GET", `/datasets/${id}/share`],
    ["PUT", `/datasets/${id}/share`, {}],
    ["DELETE", `/datasets/${id}/share`],
    ["GET", `/datasets/${id}/comparative`],
    ["GET", `/examples?dataset=${id}`],
    ["GET", `/examples/count?dataset=${id}`],
    ["GET", `/examples/${item.id}`],
    ["PATCH", `/examples/${item.id}`, { inputs: {} }],
    ["PATCH", "/examples/bulk", [{ id: item.id, inputs: {} }]],
    ["DELETE", `/examples/${item.id}`],
    ["DELETE", `/examples?example_ids=${item.id}`],
    ["POST", "/examples", { dataset_id: id, inputs: {} }],
    ["POST", "/examples/bulk", [{ dataset_id: id, inputs: {} }]],
  ] as const) {
    const { status } = await call(method, path, body, OTHER);
    expect({ method, path, status }).toEqual({ method, path, status: 404 });
  }
  expect((await call("GET", `/examples?id=${item.id}`, undefined, OTHER)).json).toEqual([]);
  expect((await call("GET", `/examples/${item.id}`)).json).toMatchObject({ inputs: { mine: true } });
});

test("rejects documented but unsupported parameters by name", async () => {
  const { id } = await dataset();
  for (const [method, path, name] of [
    ["POST", `/datasets/${id}/runs`, "format"],
    ["GET", "/runs/threads/t", "variables"],
  ] as const) {
    const { status, text } = await call(
      method,
      `${path}?${name}=true&session_id=${id}`,
      method === "POST" ? {} : undefined,
    );
    expect([status, text]).toEqual([422, expect.stringContaining(`\\"${name}\\" is not supported yet; leave it out`)]);
  }
});
