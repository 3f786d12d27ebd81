import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

import { expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { LETTERS, openStore, storeProject, testSemanticSearch } from "../../../test/semantic-store.ts";
import { createLog } from "../../base/log.ts";
import { findVectorSchema } from "./sql.ts";
import { StoreRules } from "./store-rules.ts";

const { sql } = await testDatabase();

test("compares vectors without pgvector in the embedded Postgres", async () => {
  await openStore(sql, { index: LETTERS });
  expect(await findVectorSchema(sql)).toBeNull();
});

testSemanticSearch(sql);

test("reports a failing embedding function and invalid vectors to the caller, and stores nothing", async () => {
  for (const [embed, why] of [
    ["./embed.ts:failing", "the model is unavailable"],
    ["./embed.ts:short", "a vector has 3 dimensions, but store.index.dims is 26"],
  ] as const) {
    const { put, call } = await openStore(sql, { index: { ...LETTERS, embed } });
    expect(await put(["fails"], "k", { text: "x" })).toMatchObject({ status: 502, text: expect.stringContaining(why) });
    expect((await call("GET", "/store/items?namespace=fails&key=k")).text).toBe("null");
    expect((await call("POST", "/store/items/search", { query: "x" })).status).toBe(502);
    // needs no vectors
    expect((await put(["fails"], "plain", { text: "x" }, { index: false })).status).toBe(204);
  }
});

test.each([
  ["./missing.ts:embed", /store\.index\.embed: there is no file/],
  ["./embed.ts:nothing", /no export "nothing"/],
  ["./embed.ts:notAFunction", /must be a function from texts to vectors/],
  ["nobody:model", /unknown provider "nobody"/],
  ["cohere:embed-v4", /needs @langchain\/cohere: install it in the project/],
])("rejects %s at start", async (embed, message) => {
  const configured = new StoreRules().configure(sql, storeProject({ index: { dims: 3, embed } }), createLog("silent"));
  await expect(configured).rejects.toThrow(message);
});

test("rejects an invalid field path at start", async () => {
  await expect(openStore(sql, { index: { ...LETTERS, fields: ["a["] } })).rejects.toThrow(/store\.index\.fields/);
});

test("loads a provider's model with the project's LangChain package", async () => {
  const requests: { model: string; input: string[] }[] = [];
  // replaces the external provider: implements OpenAI's embeddings endpoint
  const provider = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { model, input } = JSON.parse(body) as { model: string; input: string | string[] };
      requests.push({ model, input: [input].flat() });
      const data = [input].flat().map((text, index) => {
        const floats = Float32Array.from([text.length, 1, 0]);
        return { object: "embedding", index, embedding: Buffer.from(floats.buffer).toString("base64") };
      });
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
    });
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const before = { ...process.env };
  Object.assign(process.env, { OPENAI_API_KEY: "none", OPENAI_BASE_URL: url });
  try {
    const { put, search } = await openStore(sql, {
      index: { dims: 3, embed: "openai:text-embedding-3-small", fields: ["t"] },
    });
    expect((await put(["openai"], "k", { t: "four" })).status).toBe(204);
    expect(await search(["openai"], "four")).toEqual([["k", 1]]);
    expect(requests.map(({ model }) => model)).toEqual(["text-embedding-3-small", "text-embedding-3-small"]);
  } finally {
    process.env = before;
    provider.closeAllConnections();
    provider.close();
  }
});
