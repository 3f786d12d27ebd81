import { fileURLToPath } from "node:url";

import { Hono } from "hono";
import { expect, test } from "vitest";

import type { StoreOperation } from "../../host-kit/src/host-protocol.ts";
import type { Project } from "../src/agent/project/read-project.ts";
import { storeRoutes } from "../src/agent/store/routes.ts";
import { runStoreOperations } from "../src/agent/store/run-operations.ts";
import { StoreRules } from "../src/agent/store/store-rules.ts";
import type { Sql } from "../src/base/db/connect.ts";
import { errorHandler } from "../src/base/http/errors.ts";
import { mountRoutes } from "../src/base/http/route.ts";
import { createLog } from "../src/base/log.ts";
import { createCaller } from "./call.ts";
import { openGuard } from "./principal.ts";

/** Project of the fixture `store-project`. */
export const storeProject = (store: object): Project =>
  ({
    dir: fileURLToPath(new URL("fixtures/store-project", import.meta.url)),
    env: {},
    imported: new Set(),
    config: { store },
  }) as unknown as Project;

export const LETTERS = { dims: 26, embed: "./embed.ts:embed" };

/** Opens the store's routes and the graphs' access to it, as a project's `store` configures them. */
export async function openStore(sql: Sql, config: object) {
  const log = createLog("silent");
  const store = new StoreRules();
  await store.configure(sql, storeProject(config), log);
  const app = new Hono();
  app.onError(errorHandler("text", log));
  mountRoutes(app, storeRoutes({ sql, store }), openGuard);
  const call = createCaller(app);
  return {
    store,
    call,
    put: (namespace: string[], key: string, value: object, more: object = {}) =>
      call("PUT", "/store/items", { namespace, key, value, ...more }),
    async search(namespace_prefix: string[], query: string, more: object = {}): Promise<[string, number][]> {
      const { json } = await call("POST", "/store/items/search", { namespace_prefix, query, ...more });
      return json.items.map(({ key, score }: { key: string; score: number }) => [key, Math.round(score * 1000) / 1000]);
    },
    run: (operations: StoreOperation[]) => runStoreOperations(sql, store, operations),
  };
}

/** Tests semantic search, independently of how the database compares vectors. */
export function testSemanticSearch(sql: Sql): void {
  const at = (mark: string) => ["memories", mark];

  test("the most alike comes first, with its score, and only what has vectors comes", async () => {
    const { put, search } = await openStore(sql, { index: { ...LETTERS, fields: ["text"] } });
    await put(at("a"), "tea", { text: "tea", other: "zzz" });
    await put(at("a"), "eat", { text: "eat it" });
    await put(at("a"), "dog", { text: "dog" });
    await put(at("a"), "plain", { note: "tea" });
    await put(at("a"), "hidden", { text: "tea" }, { index: false });
    expect(await search(at("a"), "tea")).toEqual([
      ["tea", 1],
      ["eat", 0.873],
      ["dog", 0],
    ]);
    expect(await search(at("a"), "tea", { limit: 1, offset: 1 })).toEqual([["eat", 0.873]]);
    expect(await search(at("b"), "tea")).toEqual([]);
    expect((await search(["memories"], "dog"))[0]).toEqual(["dog", 1]);
  });

  test("filters hold beside the meaning", async () => {
    const { put, search } = await openStore(sql, { index: { ...LETTERS, fields: ["text"] } });
    for (const n of [1, 2, 3]) await put(at("f"), `k${n}`, { text: "same", n });
    expect((await search(at("f"), "same", { filter: { n: { $gte: 2 } } })).map(([key]) => key)).toEqual(["k2", "k3"]);
  });

  test("an item may name its own paths, and counts by its most similar text", async () => {
    const { put, search } = await openStore(sql, { index: { ...LETTERS, fields: ["text"] } });
    await put(at("p"), "own", { text: "zzz", parts: [{ t: "dog" }, { t: "cat" }] }, { index: ["parts[*].t"] });
    expect(await search(at("p"), "cat")).toEqual([["own", 1]]);
    expect(await search(at("p"), "zzz")).toEqual([["own", 0]]);
  });

  test("a new value is found by its new text only, a deleted one not at all, and no vector stays behind", async () => {
    const { put, search, call } = await openStore(sql, { index: LETTERS });
    const vectors = async () => (await sql`select 1 from store_vectors`).length;
    const before = await vectors();
    await put(at("r"), "k", { text: "dog" });
    await put(at("r"), "k", { text: "tea" });
    expect(await vectors()).toBe(before + 1);
    const [[, score] = []] = await search(at("r"), '{"text":"tea"}');
    expect(score).toBe(1);
    await call("DELETE", "/store/items", { namespace: at("r"), key: "k" });
    expect(await search(at("r"), "tea")).toEqual([]);
    expect(await vectors()).toBe(before);
  });

  test("graphs search by meaning too, and their items bear scores", async () => {
    const { run } = await openStore(sql, { index: { ...LETTERS, fields: ["text"] } });
    const results = await run([
      { op: "put", namespace: at("g"), key: "a", value: { text: "tea" } },
      { op: "put", namespace: at("g"), key: "b", value: { text: "dog" } },
      { op: "put", namespace: at("g"), key: "c", value: { text: "tea" }, index: false },
      { op: "search", namespace_prefix: at("g"), query: "eat", limit: 5 },
      { op: "search", namespace_prefix: at("g"), limit: 5 },
    ]);
    expect(results[3]).toEqual([
      expect.objectContaining({ key: "a", score: expect.closeTo(1, 5) }),
      expect.objectContaining({ key: "b", score: expect.closeTo(0, 5) }),
    ]);
    expect(results[4]).toHaveLength(3);
  });

  test("vectors of another model are not compared", async () => {
    const store = await openStore(sql, { index: LETTERS });
    await store.put(at("m"), "k", { text: "tea" });
    const other = await openStore(sql, { index: { ...LETTERS, embed: "./embed.ts:embeddings" } });
    expect(await other.search(at("m"), "tea")).toEqual([]);
    await other.put(at("m"), "k", { text: "tea" });
    expect(await other.search(at("m"), "tea")).toHaveLength(1);
  });
}
