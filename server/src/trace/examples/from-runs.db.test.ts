import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { sampleRun, type SampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { addExampleFromRun } from "./example-from-run.ts";
import { readSourceRuns } from "./source-runs.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };
const { call, sql, platform } = await testTracePlatform();

let made = 0;
async function dataset(body: object = {}): Promise<string> {
  const { status, json } = await call("POST", "/datasets", { name: `grown ${++made}`, ...body });
  expect({ status, json }).toMatchObject({ status: 200 });
  return json.id as string;
}

async function runs(...inputs: unknown[]): Promise<SampleRun[]> {
  const list = inputs.map((each) => sampleRun("source", { inputs: each, extra: { metadata: { user: "u" } } }));
  await sendRuns(call, list);
  return list;
}

const take = (id: string, list: SampleRun[], more: object = {}) =>
  call("POST", `/datasets/${id}/examples-from-runs`, { run_ids: list.map((run) => run.id), ...more });
const examplesOf = async (id: string) => (await call("GET", `/examples?dataset=${id}&order=id`)).json;

test("makes examples of runs once, by source run and by equal inputs", async () => {
  const id = await dataset();
  const list = await runs({ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 2 });
  const first = await take(id, list);
  expect(first.json).toMatchObject({
    added: 2,
    skipped: 1,
    results: [{}, { outcome: "skipped", duplicate_of: "inputs" }, {}],
  });
  expect((await take(id, list)).json).toMatchObject({
    added: 0,
    skipped: 3,
    results: [{ duplicate_of: "source_run" }, {}, {}],
  });
  const mapping = { inputs: { x: "inputs.a" }, outputs: { y: "outputs.answer" }, metadata: { user: "metadata.user" } };
  const replaced = await take(id, list.slice(2), { on_duplicate: "replace", mapping, split: "train" });
  expect(replaced.json).toMatchObject({ replaced: 1 });
  expect((await examplesOf(id))[1]).toMatchObject({
    inputs: { x: 2 },
    outputs: { y: 42 },
    source_run_id: list[2]!.id,
    metadata: { user: "u", dataset_split: ["train"] },
  });
  expect((await take(id, list.slice(0, 1), { on_duplicate: "add" })).json).toMatchObject({ added: 1 });
  expect(await examplesOf(id)).toHaveLength(3);
});

test("examples from before digests were kept are found as duplicates", async () => {
  const id = await dataset();
  await call("POST", "/examples", { dataset_id: id, inputs: { q: [1, { z: 1, a: 2 }] } });
  await sql`update dataset_examples set inputs_digest = null where dataset_id = ${id}`;
  const list = await runs({ q: [1, { a: 2, z: 1 }] });
  expect((await take(id, list)).json).toMatchObject({ skipped: 1 });
});

test("previews a mapping without storing anything, and remembers it when told to", async () => {
  const id = await dataset({ inputs_schema_definition: { type: "object", required: ["q"] } });
  const list = await runs({ question: "x" });
  const mapping = { inputs: { q: "inputs.question", no: "inputs.absent" } };
  const preview = await take(id, list, { mapping, dry_run: true, remember_mapping: true });
  expect(preview.json.results).toMatchObject([
    { outcome: "added", missing: ["inputs.absent"], example: { inputs: { q: "x" } }, error: null },
  ]);
  expect((await take(id, list, { dry_run: true })).json.results).toMatchObject([
    { outcome: "failed", error: expect.stringContaining("q") },
  ]);
  expect(await examplesOf(id)).toEqual([]);
  expect((await call("GET", `/datasets/${id}/run-mapping`)).json).toEqual({ mapping: null });
  expect((await take(id, list)).json).toMatchObject({ failed: 1 });
  expect((await take(id, list, { mapping, remember_mapping: true })).json).toMatchObject({ added: 1 });
  expect((await call("GET", `/datasets/${id}/run-mapping`)).json).toEqual({ mapping });
  // the remembered mapping applies where none is given
  expect((await take(id, await runs({ question: "y" }))).json).toMatchObject({ added: 1 });
  expect((await call("PUT", `/datasets/${id}/run-mapping`, { mapping: { inputs: "x" } })).status).toBe(422);
  expect((await call("PUT", `/datasets/${id}/run-mapping`, { mapping: null })).json).toEqual({ mapping: null });
});

test("transformations of a dataset apply to examples of runs, and to no others", async () => {
  const transformations = [
    { path: ["inputs", "messages"], transformation_type: "remove_system_messages" },
    { path: ["inputs", "messages"], transformation_type: "convert_to_openai_message" },
    { path: ["inputs", "tools"], transformation_type: "extract_tools_from_run" },
  ];
  const id = await dataset({ transformations });
  expect((await call("GET", `/datasets/${id}`)).json.transformations).toEqual(transformations);
  const messages = [
    { type: "system", content: "s" },
    { type: "human", content: "h" },
  ];
  const run = sampleRun("tools", {
    inputs: { messages },
    extra: { invocation_params: { tools: [{ name: "f", description: "d", input_schema: { type: "object" } }] } },
  });
  await sendRuns(call, [run]);
  const taken = await call("POST", "/examples", { dataset_id: id, source_run_id: run.id, use_source_run_io: true });
  expect(taken.json.inputs).toEqual({
    messages: [{ role: "user", content: "h" }],
    tools: [{ type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } }],
  });
  const own = await call("POST", "/examples", { dataset_id: id, inputs: { messages } });
  expect(own.json.inputs).toEqual({ messages });
  const run_mapping = { inputs: { q: "inputs.messages[1].content" } };
  const mapped = await call("POST", "/examples", { dataset_id: id, source_run_id: run.id, run_mapping });
  expect(mapped.json.inputs).toMatchObject({ q: "h" });
  expect((await call("PATCH", `/datasets/${id}`, { transformations: null })).json.transformations).toBeNull();
  const wrong = [{ path: ["metadata"], transformation_type: "remove_extra_fields" }];
  expect((await call("PATCH", `/datasets/${id}`, { transformations: wrong })).status).toBe(422);
});

test("of callers who add the same run at the same time one adds it", async () => {
  const id = await dataset();
  const [run] = await runs({ race: 1 });
  const deps = platform.deps;
  const tenantId = (await sql<{ tenant_id: string }[]>`select tenant_id from datasets where dataset_id = ${id}`)[0]!
    .tenant_id;
  const source = (await readSourceRuns(deps, tenantId, [run!.id])).get(run!.id)!;
  const exampleId = randomUUID();
  const results = await Promise.all(
    Array.from({ length: 5 }, () =>
      sql.begin((tx) => addExampleFromRun(tx, { tenantId, id }, source, null, { exampleId })),
    ),
  );
  expect(results.filter((result) => result.outcome === "added")).toHaveLength(1);
  expect(new Set(results.map((result) => result.example_id))).toEqual(new Set([exampleId]));
});

test("a workspace neither sees nor changes another's datasets and runs", async () => {
  const id = await dataset();
  const list = await runs({ a: 1 });
  expect((await call("POST", `/datasets/${id}/examples-from-runs`, { run_ids: [list[0]!.id] }, OTHER)).status).toBe(
    404,
  );
  expect((await call("GET", `/datasets/${id}/run-mapping`, undefined, OTHER)).status).toBe(404);
  expect((await call("PUT", `/datasets/${id}/run-mapping`, { mapping: null }, OTHER)).status).toBe(404);
  const { json: own } = await call("POST", "/datasets", { name: "foreign" }, OTHER);
  const foreign = await call("POST", `/datasets/${own.id}/examples-from-runs`, { run_ids: [list[0]!.id] }, OTHER);
  expect(foreign.json).toMatchObject({ failed: 1, results: [{ error: "Run not found" }] });
});
