import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import { modelServer } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const provider = await modelServer();
const { call, sql } = await testTracePlatform({
  HEDDLE_AUTH: "required",
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}`,
});

async function workspace() {
  const mine = { "x-test-workspace": uuid7() };
  const ask = (method: string, path: string, body?: unknown) => call(method, path, body, mine);
  await ask("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
  const settings = { base_url: `${provider.url}/v1` };
  const { json } = await ask("POST", "/models/connections", { name: "fake", provider: "openai", settings });
  const model = (name: string) => ({ connection_id: json.id as string, model: name, parameters: { max_tokens: 500 } });
  return { mine, ask, model };
}

async function filled(ask: Awaited<ReturnType<typeof workspace>>["ask"], count: number, body: object = {}) {
  const { json } = await ask("POST", "/datasets", { name: `d ${uuid7()}`, ...body });
  const examples = Array.from({ length: count }, (_, i) => ({
    dataset_id: json.id,
    inputs: { question: `Question ${i}?`, tags: ["a"] },
    outputs: { answer: "yes" },
    split: i === 0 ? "train" : "test",
  }));
  const made = await ask("POST", "/examples/bulk", examples);
  return { id: json.id as string, examples: (made.json as { id: string }[]).map((example) => example.id) };
}

test("variants are proposals until they are accepted, and then examples that are marked synthetic", async () => {
  const { ask, model, mine } = await workspace();
  const { id, examples } = await filled(ask, 2);
  const generated = await ask("POST", `/datasets/${id}/generate`, {
    num_examples: 3,
    example_ids: [examples[0]],
    model: model("varied"),
    instructions: "Write in German.",
  });
  expect({ ...generated, text: "" }).toMatchObject({
    status: 200,
    json: { duplicates: 0, invalid: 0, failed: [], stopped: null },
  });
  const list = generated.json.proposals as { id: string; inputs: { question: string }; run_id: string }[];
  expect(list).toHaveLength(3);
  expect(list[0]).toMatchObject({
    status: "pending",
    source_example_id: examples[0],
    inputs: { question: expect.any(String), tags: [expect.any(String)] },
    outputs: { answer: expect.any(String) },
    metadata: { synthetic: true, source_example_id: examples[0], model: "varied", dataset_split: ["train"] },
  });
  // the call was traced, and saw the instructions and the example
  expect((await ask("GET", `/runs/${list[0]!.run_id}`)).json).toMatchObject({
    name: "generate examples",
    status: "success",
  });
  expect(JSON.stringify(provider.calls.at(-1)!.body)).toMatch(/Write in German.*Question 0/s);
  // they count nowhere
  const versions = (await ask("GET", `/datasets/${id}/versions`)).json.length as number;
  expect((await ask("GET", `/examples/count?dataset=${id}`)).json).toBe(2);
  expect((await ask("GET", `/datasets/${id}/jsonl`)).text.trim().split("\n")).toHaveLength(2);

  const path = (n: number, verb: string) => `/datasets/${id}/proposals/${list[n]!.id}/${verb}`;
  const edited = { outputs: { answer: "no" }, metadata: { synthetic: false, note: 1 } };
  const accepted = await Promise.all([ask("POST", path(0, "accept"), edited), ask("POST", path(0, "accept"), edited)]);
  expect(accepted).toMatchObject([
    { status: 200, json: { example_id: list[0]!.id } },
    { status: 200, json: { example_id: list[0]!.id } },
  ]);
  expect((await ask("GET", `/examples/${list[0]!.id}`)).json).toMatchObject({
    inputs: list[0]!.inputs,
    outputs: { answer: "no" },
    metadata: { synthetic: true, edited: true, note: 1, source_example_id: examples[0], dataset_split: ["train"] },
  });
  expect((await ask("GET", `/datasets/${id}/versions`)).json).toHaveLength(versions + 1);
  expect((await ask("POST", path(1, "reject"))).status).toBe(204);
  expect((await ask("POST", path(1, "reject"))).status).toBe(204);
  expect((await ask("POST", path(1, "accept"), {})).status).toBe(409);
  expect((await ask("POST", path(0, "reject"))).status).toBe(409);
  expect((await ask("GET", `/datasets/${id}/proposals`)).json).toMatchObject({
    total: 1,
    items: [{ id: list[2]!.id }],
  });
  expect((await ask("GET", `/datasets/${id}/proposals?status=rejected`)).json).toMatchObject({ total: 1 });
  expect((await ask("GET", `/examples/count?dataset=${id}`)).json).toBe(3);

  // another workspace sees and decides nothing
  const { ask: stranger } = await workspace();
  expect(mine).toBeDefined();
  for (const [method, each, body] of [
    ["GET", `/datasets/${id}/proposals`, undefined],
    ["GET", `/datasets/${id}/near-duplicates`, undefined],
    ["POST", `/datasets/${id}/similar-examples`, { inputs: {} }],
    ["POST", `/datasets/${id}/generate`, { num_examples: 1, model: model("varied") }],
    ["POST", path(2, "accept"), {}],
    ["POST", path(2, "reject"), undefined],
  ] as const) {
    expect({ each, status: (await stranger(method, each, body)).status }).toEqual({ each, status: 404 });
  }
  // deleting the dataset deletes its proposals
  await ask("DELETE", `/datasets/${id}`);
  expect(await sql`select 1 from example_proposals where dataset_id = ${id}`).toHaveLength(0);
  expect(await sql`select 1 from example_generations where dataset_id = ${id}`).toHaveLength(0);
});

test("a request that was killed and is sent again calls for the missing sources only, and doubles nothing", async () => {
  const { ask, model } = await workspace();
  const { id } = await filled(ask, 5);
  const body = { num_examples: 12, model: model("varied"), request_id: randomUUID() };
  const before = provider.calls.length;
  const first = await ask("POST", `/datasets/${id}/generate`, body);
  expect(first.json.proposals).toHaveLength(12);
  expect(provider.calls.length - before).toBe(5);
  // as if it had been killed after three of five sources
  const [kept] = await sql<{ n: number }[]>`
    with gone as (
      delete from example_generation_sources where request_id = ${body.request_id} and source_example_id in (
        select source_example_id from example_generation_sources where request_id = ${body.request_id} limit 2)
      returning source_example_id), proposals as (
      delete from example_proposals where request_id = ${body.request_id}
        and source_example_id in (select source_example_id from gone) returning 1)
    select 12 - count(*)::int as n from proposals`;
  expect(kept!.n).toBeLessThan(12);
  const again = await Promise.all(Array.from({ length: 3 }, () => ask("POST", `/datasets/${id}/generate`, body)));
  for (const each of again) expect(each.status).toBe(200);
  const { json } = await ask("GET", `/datasets/${id}/proposals`);
  expect(json.total).toBe(12);
  expect(new Set((json.items as { inputs: object }[]).map(({ inputs }) => JSON.stringify(inputs))).size).toBe(12);
  expect((first.json.proposals as { id: string }[]).map((each) => each.id).toSorted()).toEqual(
    (json.items as { id: string }[]).map((each) => each.id).toSorted(),
  );
  const calls = provider.calls.length;
  await ask("POST", `/datasets/${id}/generate`, body);
  expect(provider.calls.length).toBe(calls);
  expect((await ask("POST", `/datasets/${id}/generate`, { ...body, num_examples: 3 })).status).toBe(409);
});

test("variants that the dataset has, or that its schemas exclude, are not proposed", async () => {
  const { ask, model } = await workspace();
  const { id } = await filled(ask, 1);
  // the model always answers the same
  const one = await ask("POST", `/datasets/${id}/generate`, { num_examples: 1, model: model("gpt-4o-mini") });
  expect(one.json).toMatchObject({ duplicates: 0, proposals: { length: 1 } });
  const two = await ask("POST", `/datasets/${id}/generate`, { num_examples: 1, model: model("gpt-4o-mini") });
  expect(two.json).toMatchObject({ duplicates: 1, proposals: [] });
  const schema = { type: "object", properties: { question: { pattern: "^Question" } } };
  const strict = await filled(ask, 1, { inputs_schema_definition: schema });
  const none = await ask("POST", `/datasets/${strict.id}/generate`, { num_examples: 1, model: model("gpt-4o-mini") });
  expect(none.json).toMatchObject({ invalid: 1, proposals: [] });
});

test("failing models, a missing connection and the budget are reported", async () => {
  const { ask, model } = await workspace();
  const { id, examples } = await filled(ask, 2);
  const failed = await ask("POST", `/datasets/${id}/generate`, { num_examples: 2, model: model("fail-500") });
  expect(failed).toMatchObject({ status: 200, json: { proposals: [], failed: { length: 2 } } });
  expect(failed.text).not.toContain("sk-test");
  expect(await ask("POST", `/datasets/${id}/generate`, { num_examples: 1 })).toMatchObject({ status: 424 });
  await ask("PUT", "/models/budget", { limit_usd: 0 });
  const over = await ask("POST", `/datasets/${id}/generate`, { num_examples: 2, model: model("gpt-4o-mini") });
  expect(over.json).toMatchObject({ proposals: [], stopped: expect.stringContaining("budget") });
  for (const [body, status] of [
    [{ num_examples: 0 }, 422],
    [{ num_examples: 201 }, 422],
    [{}, 422],
    [{ num_examples: 1, example_ids: [randomUUID()], model: model("varied") }, 404],
    [{ num_examples: 1, splits: ["none"], model: model("varied") }, 422],
    [{ num_examples: 1, model: { ...model("varied"), connection_id: randomUUID() } }, 404],
  ] as const) {
    expect({ body, status: (await ask("POST", `/datasets/${id}/generate`, body)).status }).toEqual({ body, status });
  }
  const { json: empty } = await ask("POST", "/datasets", { name: "empty" });
  expect(
    (await ask("POST", `/datasets/${empty.id}/generate`, { num_examples: 1, model: model("varied") })).status,
  ).toBe(422);
  expect(examples).toHaveLength(2);
});

test("near-duplicates of 10,000 stored examples are grouped, and similar ones found for a new one", async () => {
  const { ask } = await workspace();
  const { id } = await filled(ask, 1);
  await sql`
    insert into dataset_examples (tenant_id, example_id, dataset_id, modified_at, name, created_at, inputs, metadata)
    select tenant_id, gen_random_uuid(), dataset_id, modified_at, name, created_at + n * interval '1 millisecond',
      json_build_object('question', md5(n::text) || ' ' || md5((n * 7)::text) || ' ' || md5((n * 13)::text)), metadata
    from dataset_examples, generate_series(1, 9997) n where dataset_id = ${id}`;
  for (const question of ["How can I get my money back for the order?", "HOW can I get my money back, for the order"]) {
    await ask("POST", "/examples", { dataset_id: id, inputs: { question } });
  }
  const started = performance.now();
  const { json } = await ask("GET", `/datasets/${id}/near-duplicates`);
  const ms = performance.now() - started;
  expect(json).toMatchObject({ examples: 10_000, is_truncated: false, groups_total: 1, threshold: 0.6 });
  expect(json.groups[0].members).toMatchObject([
    { similarity: 1, inputs_preview: expect.stringContaining("How can I") },
    { similarity: 1 },
  ]);
  // measured 0.6 s on an idle processor
  expect(ms).toBeLessThan(6000);
  const inputs = { question: "how can i get my money back for an order" };
  const { json: similar } = await ask("POST", `/datasets/${id}/similar-examples`, { inputs });
  expect(similar.matches).toHaveLength(2);
  for (const threshold of ["0", "0.1", "1.1", "x"]) {
    expect((await ask("GET", `/datasets/${id}/near-duplicates?threshold=${threshold}`)).status).toBe(422);
  }
});
