import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { testDatabase } from "../../../test/db.ts";
import { uuid7 } from "../../base/ids.ts";
import { importPrices } from "./import-prices.ts";
import { readPriceList } from "./read-price-list.ts";

const db = await testDatabase();
const { call, clickhouse, sql } = await testTracePlatform({}, { db });
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };

const body = { name: "mine", match_pattern: "^special-.*", prompt_cost: 0.000001, completion_cost: "0.000002" };

async function ingestedCost(
  model: string,
  usage: object,
  provider: string | undefined = "acme",
  more: object = {},
): Promise<unknown> {
  const id = uuid7();
  const extra = { metadata: { ls_model_name: model, ...(provider && { ls_provider: provider }) }, ...more };
  // the model comes with the create, the usage with the update, as from the Python SDK
  await call("POST", "/runs", { id, name: "m", run_type: "llm", start_time: "2026-11-21T10:00:00Z", extra }, mine);
  await call("PATCH", `/runs/${id}`, { outputs: { usage_metadata: usage }, extra: null }, mine);
  const [row] = await clickhouse.rows<{ total_cost: string | null }>({
    name: "t",
    query: "select total_cost from runs final where id = {id:UUID}",
    params: { id },
  });
  return row!.total_cost;
}

test("a custom price matches by pattern at once, until it is deleted", async () => {
  const usage = { input_tokens: 10, output_tokens: 5 };
  expect(await ingestedCost("special-1", usage)).toBeNull();
  const created = await call("POST", "/model-price-map", body, mine);
  expect([created.status, created.json]).toMatchObject([
    200,
    { tenant_id: tenant, prompt_cost: "0.000001", completion_cost: "0.000002", provider: null },
  ]);
  expect(await ingestedCost("special-1", usage)).toBe("0.00002");
  expect(await ingestedCost("other-1", usage)).toBeNull();

  const path = `/api/v1/model-price-map/${created.json.id}`;
  const changed = await call("PUT", path, { ...body, prompt_cost: "0.1", provider: "^acme$" }, mine);
  expect(changed.json).toMatchObject({ prompt_cost: "0.1", provider: "^acme$" });
  expect(await ingestedCost("special-1", usage)).toBe("1.00001");
  expect(await ingestedCost("special-1", usage, "other")).toBeNull();

  expect((await call("PUT", path, body)).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(404);
  expect((await call("DELETE", path, undefined, mine)).status).toBe(200);
  expect(await ingestedCost("special-1", usage)).toBeNull();
});

test("a price applies from its start, the latest first", async () => {
  for (const [start_time, prompt_cost] of [
    ["2026-01-01T00:00:00Z", "1"],
    ["2026-06-01T00:00:00Z", "2"],
    ["2027-01-01T00:00:00Z", "4"],
  ]) {
    await call("POST", "/model-price-map", { ...body, match_pattern: "^dated$", start_time, prompt_cost }, mine);
  }
  expect(await ingestedCost("dated", { input_tokens: 1 })).toBe("2");
});

test("known models have built-in prices", async () => {
  const { json } = await call("GET", "/model-price-map");
  expect((json as { tenant_id: string | null }[]).filter(({ tenant_id }) => tenant_id === null).length).toBeGreaterThan(
    5,
  );
  expect(await ingestedCost("gpt-4o-mini-2024-07-18", { input_tokens: 1_000_000, output_tokens: 0 }, "openai")).toBe(
    "0.15",
  );
});

test("has current prices of seven providers, in the spellings that clients send", async () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0 };
  const cases = [
    ["gpt-5", "openai", "1.25"],
    ["GPT-5-2025-08-07", "OpenAI", "1.25"],
    ["gpt-4o-2024-11-20", "azure.ai.openai", "2.5"],
    ["gpt-4o-2024-05-13", "openai", "5"],
    ["openai/gpt-4.1-mini", "openai.responses", "0.4"],
    ["claude-opus-4-1", "anthropic", "15"],
    ["claude-opus-4-1-20250805", "Anthropic", "15"],
    ["claude-sonnet-4-5@20250929", "vertex_ai", "3"],
    ["us.anthropic.claude-3-5-sonnet-20241022-v2:0", "amazon_bedrock", "3"],
    ["claude-opus-5", "anthropic", "5"],
    ["models/gemini-2.5-pro", "google_genai", "1.25"],
    ["gemini-2.5-flash-lite", "gcp.gemini", "0.1"],
    ["mistral-large-latest", "mistralai", "0.5"],
    ["grok-4.5", "xai", "2"],
    ["deepseek-chat", "deepseek", "0.28"],
    ["command-a-03-2025", "cohere", "2.5"],
    ["gpt-5", "", "1.25"],
    ["gpt-5", "openrouter", null],
    ["gpt-50", "openai", null],
  ] as const;
  const costs = await Promise.all(
    cases.map(async ([model, provider]) => [model, provider, await ingestedCost(model, usage, provider)]),
  );
  expect(costs).toEqual(cases);
});

test("prices cached, audio, reasoning and batch tokens with exact decimals", async () => {
  const cases: [string, string, object, string][] = [
    ["gpt-5", "openai", { input_tokens: 3, output_tokens: 1, input_token_details: { cache_read: 2 } }, "0.0000115"],
    ["gpt-4.1", "openai", { input_tokens: 4, output_tokens: 2, input_token_details: { batch: 4 } }, "0.00002"],
    ["gpt-4o-audio-preview-2025-06-03", "openai", { input_tokens: 2, input_token_details: { audio: 1 } }, "0.0000425"],
    [
      "claude-sonnet-4-5",
      "anthropic",
      { input_tokens: 10, input_token_details: { cache_read: 4, ephemeral_1h_input_tokens: 5 } },
      "0.0000342",
    ],
    ["gemini-2.5-flash", "google", { output_tokens: 4, output_token_details: { reasoning: 3 } }, "0.00001"],
  ];
  const costs = await Promise.all(cases.map(([model, provider, usage]) => ingestedCost(model, usage, provider)));
  expect(costs).toEqual(cases.map(([, , , cost]) => cost));
});

const readRun = async (id: string) => (await call("GET", `/runs/${id}`, undefined, mine)).json;

test("a run has what its cost is based on, and says which model has no price", async () => {
  const send = async (model: string, usage_metadata: object) => {
    const id = uuid7();
    const extra = { metadata: { ls_model_name: model, ls_provider: "anthropic" } };
    const run = { id, name: "m", run_type: "llm", start_time: "2026-11-21T10:00:00Z", session_name: "basis", extra };
    await call("POST", "/runs", { ...run, outputs: { usage_metadata } }, mine);
    return readRun(id);
  };
  const details = { cache_read: 38_000, cache_creation: 1000 };
  expect(await send("claude-sonnet-4-5", { input_tokens: 19, input_token_details: details })).toMatchObject({
    prompt_tokens: 39_019,
    total_cost: "0.015207",
    cost_basis: { cached_tokens: "beside", cached_tokens_by: "numbers", cost: "price" },
  });
  const split = { cache_creation: 1000, ephemeral_5m_input_tokens: 1000 };
  expect(await send("claude-sonnet-4-5", { input_tokens: 2000, input_token_details: split })).toMatchObject({
    total_cost: "0.00675",
    prompt_cost_details: { ephemeral_5m_input_tokens: "0.00375" },
  });
  const unpriced = await send("claude-of-tomorrow", { input_tokens: 3, output_tokens: 4 });
  expect(unpriced).toMatchObject({
    total_cost: null,
    cost_basis: { notes: ["no price for model claude-of-tomorrow of anthropic"] },
  });
  expect((await send("claude-of-tomorrow", { input_tokens: 3, total_cost: 2 })).cost_basis).toEqual({ cost: "client" });
  const { json } = await call(
    "POST",
    "/api/v2/runs/query",
    {
      project_ids: [unpriced.session_id],
      ids: [unpriced.id],
      min_start_time: "2026-11-21T00:00:00Z",
      selects: ["COST_BASIS"],
    },
    mine,
  );
  expect(json.items).toEqual([{ cost_basis: unpriced.cost_basis }]);
});

test("a model call directly within one with the same usage counts once", async () => {
  const metadata = { ls_model_name: "gpt-5", ls_provider: "openai" };
  const usage = (n: number) => ({ usage_metadata: { input_tokens: n, output_tokens: n } });
  let at = Date.UTC(2026, 10, 21);
  const run = (parent: Sent | undefined, more: object): Sent => {
    const id = uuid7();
    const start_time = new Date((at += 1000)).toISOString();
    const own = `${start_time.replace(/[-:.Z]/g, "")}000Z${id}`;
    return {
      id,
      start_time,
      name: "r",
      session_name: "nested",
      trace_id: parent?.trace_id ?? id,
      dotted_order: parent ? `${parent.dotted_order}.${own}` : own,
      ...(parent && { parent_run_id: parent.id }),
      ...more,
    };
  };
  type Sent = { id: string; trace_id: string; dotted_order: string } & Record<string, unknown>;
  const model = (n: number) => ({ run_type: "llm", extra: { metadata }, outputs: usage(n) });
  const send = (...post: Sent[]) => call("POST", "/runs/batch", { post }, mine);
  const tokens = async ({ trace_id }: Sent) => (await readRun(trace_id)).total_tokens;
  // starts and ends in separate requests, the outer call ending last
  const root = run(undefined, { run_type: "chain" });
  const outer = run(root, { run_type: "llm", extra: { metadata } });
  const inner = run(outer, { run_type: "llm", extra: { metadata } });
  await send(root, outer);
  await send(inner);
  const end = ({ id, trace_id, dotted_order }: Sent) => ({ id, trace_id, dotted_order, outputs: usage(400) });
  await call("POST", "/runs/batch", { patch: [end(inner)] }, mine);
  expect(await tokens(root)).toBe(800);
  await call("POST", "/runs/batch", { patch: [end(outer)] }, mine);
  expect(await tokens(root)).toBe(800);
  expect((await readRun(root.id)).total_cost).toBe((await readRun(inner.id)).total_cost);
  // in one request, and the outer one is the sum of two
  const second = run(undefined, { run_type: "chain" });
  const sum = run(second, model(300));
  await send(second, sum, run(sum, model(100)), run(sum, model(200)));
  expect(await tokens(second)).toBe(600);
  // another call, and one with a tool in between
  const third = run(undefined, { run_type: "chain" });
  const caller = run(third, model(50));
  const tool = run(caller, { run_type: "tool" });
  await send(third, caller, tool, run(tool, model(50)), run(caller, model(10)));
  expect(await tokens(third)).toBe(220);
  // the inner call names no model, so the outer one has the cost; children first, as with OpenTelemetry
  const fourth = run(undefined, { run_type: "chain" });
  const priced = run(fourth, model(70));
  await send(run(priced, { run_type: "llm", outputs: usage(70) }));
  await send(priced, fourth);
  expect(await readRun(fourth.id)).toMatchObject({ total_tokens: 140, total_cost: "0.0007875" });
  // everywhere the same
  const { session_id } = await readRun(root.id);
  const stats = await call("GET", `/sessions/${session_id}?include_stats=true`, undefined, mine);
  expect(stats.json.total_tokens).toBe(800 + 600 + 220 + 140);
  const all = await call("POST", "/runs/stats", { session: [session_id] }, mine);
  expect(all.json.total_tokens).toBe(800 + 600 + 220 + 140);
});

test("matches the names that a price's match_path selects", async () => {
  const price = { ...body, match_pattern: "^my-endpoint$", match_path: ["endpoint_name"], prompt_cost: "3" };
  await call("POST", "/model-price-map", price, mine);
  const usage = { input_tokens: 1 };
  expect(await ingestedCost("base", usage, "acme", { invocation_params: { endpoint_name: "My-Endpoint" } })).toBe("3");
  expect(await ingestedCost("my-endpoint", usage)).toBeNull();
  await call("POST", "/model-price-map", { ...body, match_pattern: "^named$", prompt_cost: "4" }, mine);
  expect(await ingestedCost("named", usage)).toBe("4");
  expect(await ingestedCost("", usage, undefined, { invocation_params: { model: "named" } })).toBe("4");
});

test("an imported list goes before the built-in prices, and a changed price applies from its date", async () => {
  const list = (prompt: number, batch = prompt / 2) =>
    readPriceList(
      JSON.stringify({
        sample_spec: { input_cost_per_token: 0 },
        "acme/listed-1.0": {
          litellm_provider: "acme",
          input_cost_per_token: prompt,
          output_cost_per_token: 0.5,
          input_cost_per_token_batches: batch,
        },
        "image-model": { litellm_provider: "acme", output_cost_per_image: 1 },
      }),
    );
  expect(list(2).map((price) => price.name)).toEqual(["acme/listed-1.0", "listed-1.0"]);
  const from = new Date("2026-11-21T10:00:00Z");
  expect(await importPrices(sql, list(2), from, { dryRun: true })).toMatchObject({ added: 2 });
  expect(await importPrices(sql, list(2), from)).toMatchObject({ added: 2, changed: 0, unchanged: 0 });
  expect(await importPrices(sql, list(2), from)).toMatchObject({ added: 0, changed: 0, unchanged: 2 });
  expect(await importPrices(sql, list(4), new Date("2026-11-22T00:00:00Z"))).toMatchObject({ changed: 2 });
  expect(await importPrices(sql, list(8), from)).toMatchObject({ changed: 2 });
  const other = await testTracePlatform({}, { db });
  const costs = async (start_time: string) => {
    const id = uuid7();
    const extra = { metadata: { ls_model_name: "Listed-1.0", ls_provider: "ACME" } };
    const outputs = { usage_metadata: { input_tokens: 1 } };
    await other.call("POST", "/runs", { id, name: "m", run_type: "llm", start_time, extra, outputs }, mine);
    return (await other.call("GET", `/runs/${id}`, undefined, mine)).json.prompt_cost;
  };
  expect(await costs("2026-11-21T09:59:59Z")).toBe("2");
  expect(await costs("2026-11-21T10:00:00Z")).toBe("8");
  expect(await costs("2026-11-22T00:00:00Z")).toBe("4");
  const misprinted = '{"m":{"input_cost_per_token":"1 dollar"}}';
  expect(() => readPriceList(misprinted)).toThrow('input_cost_per_token of "m" is not a price: "1 dollar"');
  for (const wrong of ["[]", "{}", '{"m":{"mode":"chat"}}']) expect(() => readPriceList(wrong)).toThrow(TypeError);
});

test("rejects an invalid price", async () => {
  for (const change of [
    { match_pattern: "(" },
    { match_pattern: "(?=x)" },
    { prompt_cost: "-1" },
    { prompt_cost: "x" },
    { name: "" },
  ]) {
    expect((await call("POST", "/model-price-map", { ...body, ...change }, mine)).status).toBe(422);
  }
});
