import { expect, test } from "vitest";

import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const { call, clickhouse } = await testTracePlatform();
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };

const body = { name: "mine", match_pattern: "^special-.*", prompt_cost: 0.000001, completion_cost: "0.000002" };

async function ingestedCost(model: string, usage: object, provider = "acme"): Promise<unknown> {
  const id = uuid7();
  const extra = { metadata: { ls_model_name: model, ls_provider: provider } };
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
