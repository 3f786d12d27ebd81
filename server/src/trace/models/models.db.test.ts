import { expect, test } from "vitest";

import { modelServer, readEvents } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const provider = await modelServer();
const { call, sql, platform } = await testTracePlatform({
  HEDDLE_AUTH: "required",
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}`,
});

/** Headers of a new workspace with a key, and its connection. */
async function workspace(id = "openai") {
  const mine = { "x-test-workspace": uuid7() };
  await call("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }], mine);
  const settings = { base_url: `${provider.url}/v1` };
  const { json } = await call("POST", "/models/connections", { name: "fake", provider: id, settings }, mine);
  const connection = json.id as string;
  const run = (model = "gpt-4o-mini", parameters: object = { max_tokens: 100 }, body: object = {}) =>
    call(
      "POST",
      "/playground/stream",
      { messages: [{ role: "user", content: "hi" }], model: { connection_id: connection, model, parameters }, ...body },
      mine,
    );
  return { mine, connection, run };
}

test("lists the providers with their parameters and packages", async () => {
  const { json } = await call("GET", "/models/providers");
  expect(json.providers).toHaveLength(9);
  expect(json.providers[0]).toMatchObject({
    id: "openai",
    installed: true,
    install_command: "npm install @langchain/openai@1.5.8 @langchain/core",
    secrets: [{ name: "api_key", key: "OPENAI_API_KEY", required: true }],
    parameters: { type: "object", properties: { temperature: { type: "number", minimum: 0, maximum: 2 } } },
  });
});

test("keeps secrets of a workspace, whose values no route returns", async () => {
  const { mine } = await workspace();
  expect((await call("GET", "/workspaces/current/secrets", undefined, mine)).json).toEqual([{ key: "OPENAI_API_KEY" }]);
  expect((await call("GET", "/workspaces/current/secrets")).json).toEqual([]);
  const [row] = await sql`select ciphertext from secrets where workspace_id = ${mine["x-test-workspace"]}`;
  expect(String(row!["ciphertext"])).not.toContain("sk-test");
  const changes = [
    { key: "OPENAI_API_KEY", value: null },
    { key: "OTHER", value: "x" },
  ];
  expect((await call("POST", "/workspaces/current/secrets", changes, mine)).status).toBe(200);
  expect((await call("GET", "/workspaces/current/secrets", undefined, mine)).json).toEqual([{ key: "OTHER" }]);
  const left = await sql`select 1 from secrets where workspace_id = ${mine["x-test-workspace"]}`;
  expect(left).toHaveLength(1);
  for (const value of ["a\nb", ""]) {
    expect((await call("POST", "/workspaces/current/secrets", [{ key: "X", value }], mine)).status).toBe(422);
  }
  expect((await call("POST", "/workspaces/current/secrets", [{ key: "a b", value: "x" }], mine)).status).toBe(422);
  const many = Array.from({ length: 100 }, (_, i) => ({ key: `K${i}`, value: "x" }));
  expect((await call("POST", "/workspaces/current/secrets", many, mine)).status).toBe(422);
  expect((await call("GET", "/workspaces/current/secrets/encrypted?service=polly", undefined, mine)).text).toContain(
    "hands out no values",
  );
});

test("creates, changes, tests and deletes connections", async () => {
  const { mine, connection } = await workspace();
  const path = `/models/connections/${connection}`;
  expect((await call("GET", path, undefined, mine)).json).toMatchObject({ name: "fake", ready: true, problem: null });
  const secrets = { api_key: "ANOTHER" };
  const changed = await call("PATCH", path, { secrets, default_model: "gpt-4o-mini" }, mine);
  expect(changed.json).toMatchObject({ name: "fake", ready: false, problem: expect.stringContaining("ANOTHER") });
  await call("POST", "/workspaces/current/secrets", [{ key: "ANOTHER", value: "sk-another-0123" }], mine);
  const tested = await call("POST", `${path}/test`, {}, mine);
  expect(tested.json).toMatchObject({ ok: true, model: "gpt-4o-mini", error: null });
  expect(provider.calls.at(-1)!.headers["authorization"]).toBe("Bearer sk-another-0123");
  const failed = await call("POST", `${path}/test`, { model: "fail-401" }, mine);
  expect(failed.json).toMatchObject({ ok: false, error: { kind: "auth", status: 401 } });
  expect(failed.text).not.toContain("sk-another");
  expect((await call("GET", `${path}/models`, undefined, mine)).json).toEqual({
    models: [{ id: "model-a" }, { id: "model-b" }],
  });
  const body = { name: "fake", provider: "openai" };
  expect((await call("POST", "/models/connections", body, mine)).status).toBe(409);
  expect((await call("DELETE", path, undefined, mine)).status).toBe(204);
  expect((await call("DELETE", path, undefined, mine)).status).toBe(404);
});

test("hides the connections of other workspaces", async () => {
  const { connection } = await workspace();
  const { mine: other } = await workspace();
  const path = `/models/connections/${connection}`;
  for (const [method, url, body] of [
    ["GET", path],
    ["PATCH", path, {}],
    ["DELETE", path],
    ["GET", `${path}/models`],
    ["POST", `${path}/test`, { model: "x" }],
  ] as const) {
    expect([method, (await call(method, url, body, other)).status]).toEqual([method, 404]);
  }
});

test.each([
  ["openai", { base_url: "http://127.0.0.1:1/v1" }, /loopback/],
  ["openai", { base_url: "http://169.254.169.254/" }, /HEDDLE_OUTBOUND_ALLOW/],
  ["openai", { base_url: "http://metadata.google.internal/" }, /metadata/],
  ["openai", { base_url: "http://10.0.0.1/" }, /HEDDLE_OUTBOUND_ALLOW/],
  ["openai", { base_url: "file:///etc/passwd" }, /http/],
  ["openai", { base_url: "https://user:pass@x.example/" }, /password/],
  ["openai", { base_url: "https://x.example/?a=b" }, /query/],
  ["openai", { region: "x" }, /settings\.region: unknown/],
  ["bedrock", { region: "evil.example/#" }, /settings\.region: is invalid/],
  ["azure-openai", {}, /settings\.base_url: required/],
])("rejects a connection to %s with %o", async (id, settings, message) => {
  const body = { name: "x", provider: id, settings };
  const { status, text } = await call("POST", "/models/connections", body, { "x-test-workspace": uuid7() });
  expect([status, text]).toEqual([422, expect.stringMatching(message)]);
});

test("calls no private address that a connection's name leads to", async () => {
  const mine = { "x-test-workspace": uuid7() };
  const settings = { base_url: "http://localtest.localhost:9/v1" };
  const { status, text } = await call("POST", "/models/connections", { name: "x", provider: "ollama", settings }, mine);
  expect([status, text]).toEqual([422, expect.stringContaining("HEDDLE_OUTBOUND_ALLOW")]);
  // the default of Ollama is on loopback, which only the operator can allow
  const body = { messages: [{ role: "user", content: "hi" }], model: { provider: "ollama", model: "x" } };
  const [, end] = readEvents((await call("POST", "/playground/stream", body, mine)).text);
  expect(end).toMatchObject({
    event: "error",
    data: { kind: "blocked", message: expect.stringContaining("127.0.0.1") },
  });
});

test("refuses calls over the budget, and says what to do", async () => {
  const { mine, run } = await workspace();
  const budget = async () => (await call("GET", "/models/budget", undefined, mine)).json;
  expect(await budget()).toMatchObject({ limit_usd: null, spent_usd: "0", remaining_usd: null, calls: 0 });
  expect((await call("PUT", "/models/budget", { limit_usd: 0.0001 }, mine)).json.limit_usd).toBe("0.0001");
  expect((await run()).status).toBe(200);
  expect(await budget()).toMatchObject({ spent_usd: "0.00000585", reserved_usd: "0", calls: 1, tokens: 18 });
  const large = await run("gpt-4o-mini", { max_tokens: 10_000 });
  expect([large.status, large.json.detail]).toEqual([402, expect.stringMatching(/of 0\.0001 USD.*Raise the budget/)]);
  await call("PUT", "/models/budget", { limit_usd: "0.000005" }, mine);
  expect((await run("gpt-4o-mini", { max_tokens: 1 })).status).toBe(402);
  await call("PUT", "/models/budget", { limit_usd: null }, mine);
  expect((await run()).status).toBe(200);
  for (const limit of [-1, "x", "1e9"]) {
    expect((await call("PUT", "/models/budget", { limit_usd: limit }, mine)).status).toBe(422);
  }
});

test("refuses a model without a price under a budget", async () => {
  const { mine, run } = await workspace();
  await call("PUT", "/models/budget", { limit_usd: 10 }, mine);
  const { status, json } = await run("unheard-of-1");
  expect([status, json.detail]).toEqual([422, expect.stringContaining("has no price")]);
  const free = await workspace("openai-compatible");
  await call("PUT", "/models/budget", { limit_usd: 10 }, free.mine);
  expect((await free.run("unheard-of-1")).status).toBe(200);
});

test("concurrent calls do not exceed the budget", async () => {
  const { mine, run } = await workspace();
  // each call reserves about 0.0000617: input and 100 tokens of output
  await call("PUT", "/models/budget", { limit_usd: "0.0002" }, mine);
  const statuses = (await Promise.all(Array.from({ length: 30 }, () => run()))).map(({ status }) => status);
  const { json } = await call("GET", "/models/budget", undefined, mine);
  expect(statuses).toContain(200);
  expect(statuses).toContain(402);
  expect(Number(json.spent_usd)).toBeLessThanOrEqual(0.0002);
  expect(json.reserved_usd).toBe("0");
});

test("a call that fails releases what it reserved", async () => {
  const { mine, run } = await workspace();
  await call("PUT", "/models/budget", { limit_usd: 1 }, mine);
  await call(
    "POST",
    "/model-price-map",
    { name: "p", match_pattern: "^fail-500$", prompt_cost: 1, completion_cost: 1 },
    mine,
  );
  await call("PUT", "/models/budget", { limit_usd: 1000 }, mine);
  expect(readEvents((await run("fail-500")).text).at(-1)!.event).toBe("error");
  const { json } = await call("GET", "/models/budget", undefined, mine);
  expect(json).toMatchObject({ reserved_usd: "0", spent_usd: "0" });
});

test("a reservation of a server that died expires", async () => {
  const { mine, run } = await workspace();
  await call("PUT", "/models/budget", { limit_usd: "0.0001" }, mine);
  await run();
  const tenant = mine["x-test-workspace"];
  await sql`insert into model_reservations (id, tenant_id, month, amount_usd, expires_at)
    values (${uuid7()}, ${tenant}, date_trunc('month', now() at time zone 'UTC')::date, 1, now() + interval '1 hour')`;
  expect((await run()).status).toBe(402);
  await sql`update model_reservations set expires_at = now() - interval '1 second' where tenant_id = ${tenant}`;
  expect((await run()).status).toBe(200);
  expect(await sql`select 1 from model_reservations where tenant_id = ${tenant}`).toHaveLength(0);
});

test("slows the provider down to the pace of the reader, and stops at the limit of an answer", async () => {
  const { mine, connection } = await workspace();
  const { createTraceApp } = await import("../../trace-app.ts");
  const { openGuard } = await import("../../../test/principal.ts");
  provider.written = 0;
  const response = await createTraceApp(platform.deps, openGuard).request("/playground/stream", {
    method: "POST",
    headers: { "content-type": "application/json", ...mine },
    body: JSON.stringify({
      messages: [{ role: "user", content: "hi" }],
      model: { connection_id: connection, model: "endless" },
      timeout_seconds: 60,
    }),
  });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.read();
  // the provider fills the buffers of the connection, and then waits
  let before = -1;
  await expect
    .poll(
      () => {
        const stands = provider.written > 0 && provider.written === before;
        before = provider.written;
        return stands;
      },
      { interval: 300 },
    )
    .toBe(true);
  expect(provider.written).toBeLessThan(200_000);
  await reader.cancel();
  await provider.calls.at(-1)!.aborted;
});

test("ends an answer that is too long", async () => {
  const { run } = await workspace();
  const { text } = await run("endless-large");
  const end = readEvents(text.slice(text.lastIndexOf("event: end")))[0]!;
  expect(end.data).toMatchObject({ truncated: true, finish_reason: null });
  expect(end.data.message.content.length).toBeLessThan(2.1 * 1024 * 1024);
});

test("counts calls, errors and tokens in the metrics", async () => {
  const { run } = await workspace();
  await run();
  await run("fail-429");
  const metrics = await platform.deps.metrics.registry.metrics();
  expect(metrics).toMatch(/heddle_model_calls_total\{provider="openai",outcome="success"\} \d/);
  expect(metrics).toMatch(/heddle_model_calls_total\{provider="openai",outcome="rate_limit"\} \d/);
  expect(metrics).toMatch(/heddle_model_tokens_total\{provider="openai",direction="output"\} \d/);
  expect(metrics).toMatch(/heddle_model_call_duration_seconds_count\{provider="openai"\} \d/);
});

test("keeps saved configurations of models by workspace", async () => {
  const mine = { "x-test-workspace": uuid7() };
  const settings = { provider: "openai", model: "x", parameters: { temperature: 1 } };
  const created = await call("POST", "/playground-settings", { name: "mine", settings }, mine);
  expect(created.json).toMatchObject({
    ...{ name: "mine", settings, settings_type: "complex", options: null },
    ...{ available_in_playground: true, available_in_polly: false },
  });
  const path = `/playground-settings/${created.json.id}`;
  const changed = await call(
    "PATCH",
    path,
    { options: { requests_per_second: 3 }, available_in_evaluators: false },
    mine,
  );
  expect(changed.json).toMatchObject({
    ...{ name: "mine", settings, options: { requests_per_second: 3 } },
    available_in_evaluators: false,
  });
  expect((await call("GET", "/playground-settings", undefined, mine)).json).toHaveLength(1);
  expect((await call("GET", "/playground-settings")).json).toEqual([]);
  for (const method of ["GET", "DELETE"]) expect((await call(method, path)).status).toBe(404);
  expect((await call("PATCH", path, {})).status).toBe(404);
  const oauth = await call("POST", "/playground-settings", { settings, oauth_client_secret: "x" }, mine);
  expect([oauth.status, oauth.text]).toEqual([422, expect.stringContaining("oauth_client_secret")]);
  expect((await call("DELETE", path, undefined, mine)).status).toBe(200);
  expect((await call("GET", path, undefined, mine)).status).toBe(404);
});
