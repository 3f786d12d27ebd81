import { describe, expect, test } from "vitest";

import { embedWords } from "../../../test/embed-words.ts";
import { modelServer } from "../../../test/model-server.ts";
import { testPrincipal } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import { embedTexts, resolveEmbedding } from "./embed-texts.ts";
import { PROVIDER_IDS, type ProviderId } from "./providers.ts";

const KEY = "key-of-the-workspace-0123456789";
const provider = await modelServer();
const { call, platform, clickhouse } = await testTracePlatform({
  HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}`,
});
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };
const principal = testPrincipal(tenant);
const PATHS: Partial<Record<ProviderId, string>> = {
  openai: "/v1",
  "openai-responses": "/v1",
  "azure-openai": "/azure",
  bedrock: "/bedrock",
  mistral: "/mistral",
  "openai-compatible": "/v1",
};
const secretKeys = [
  ...["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "OLLAMA_API_KEY"],
];
await call(
  "POST",
  "/workspaces/current/secrets",
  secretKeys.map((key) => ({ key, value: KEY })),
  mine,
);

async function connect(id: ProviderId, more: object = {}): Promise<string> {
  const settings = { base_url: `${provider.url}${PATHS[id] ?? ""}` };
  const body = { name: `${id} ${uuid7()}`, provider: id, settings, ...more };
  return (await call("POST", "/models/connections", body, mine)).json.id as string;
}

async function embed(id: ProviderId, texts: string[], model?: string, timeoutSeconds = 30) {
  const connection = await resolveEmbedding(platform.deps, tenant, { connection_id: await connect(id), model });
  const order = { connection, texts, project: { name: "insights" }, runName: "embed", timeoutSeconds };
  return embedTexts(platform.deps, principal, order, AbortSignal.timeout(60_000));
}

const embedding = PROVIDER_IDS.filter((id) => id !== "anthropic");

describe.each(embedding)("%s", (id) => {
  test("embeds texts in their order and traces the call without them", async () => {
    const texts = ["pay the invoice", "reset my password\nplease"];
    const result = await embed(id, texts, id === "openai-compatible" ? "anything" : undefined);
    if (!result.ok) throw new Error(result.failure.message);
    expect(result.vectors.map((vector) => [...vector])).toEqual(texts.map(embedWords));
    const [run] = await clickhouse.rows<Record<string, string>>({
      name: "t",
      query: "select run_type, status, inputs, outputs, total_tokens from runs final where id = {id:UUID}",
      params: { id: result.run_id },
    });
    expect(run).toMatchObject({ run_type: "embedding", status: "success" });
    expect(JSON.parse(run!["inputs"]!)).toEqual({ texts: 2, characters: 39 });
    expect(run!["total_tokens"]).toBe(id === "google-genai" ? null : 20);
  });

  test("describes a failure of the provider without the key", async () => {
    const result = await embed(id, ["text"], "fail-429");
    expect(result).toMatchObject({ ok: false, failure: { kind: "rate_limit", status: 429 } });
    expect(JSON.stringify(result)).not.toContain(KEY);
  });
});

test("uses the connection's own embedding model, and rejects providers without embeddings", async () => {
  const id = await connect("openai", { embedding_model: "text-embedding-3-large" });
  const connection = await resolveEmbedding(platform.deps, tenant, { connection_id: id });
  expect(connection.model).toBe("text-embedding-3-large");
  const changed = await call("PATCH", `/models/connections/${id}`, { embedding_model: null }, mine);
  expect(changed.json).toMatchObject({ embedding_model: null });
  const other = await connect("anthropic");
  await expect(resolveEmbedding(platform.deps, tenant, { connection_id: other })).rejects.toMatchObject({
    status: 422,
  });
});

test("counts the cost against the workspace's budget", async () => {
  const before = (await call("GET", "/models/budget", undefined, mine)).json;
  const result = await embed("openai", ["text"]);
  // 10 tokens of text-embedding-3-small
  expect(result.cost).toMatchObject({ total: "0.0000002" });
  const after = (await call("GET", "/models/budget", undefined, mine)).json;
  expect(after.tokens - before.tokens).toBe(10);
  await call("PUT", "/models/budget", { limit_usd: "0" }, mine);
  await expect(embed("openai", ["text"])).rejects.toMatchObject({ status: 402 });
  await call("PUT", "/models/budget", { limit_usd: null }, mine);
});

test("gives up a provider that does not answer", async () => {
  expect(await embed("openai", ["text"], "silent", 2)).toMatchObject({ ok: false, failure: { kind: "timeout" } });
});
