import { Hono } from "hono";
import { expect, test } from "vitest";

import type { StoreOperation } from "../../../../host-kit/src/host-protocol.ts";
import { testDatabase } from "../../../test/db.ts";
import { openGuard } from "../../../test/principal.ts";
import { errorHandler } from "../../base/http/errors.ts";
import { mountRoutes } from "../../base/http/route.ts";
import { createLog } from "../../base/log.ts";
import { storeRoutes } from "./routes.ts";
import { runStoreOperations as runOperations } from "./run-operations.ts";
import { StoreRules } from "./store-rules.ts";

const { sql } = await testDatabase();
const app = new Hono();
app.onError(errorHandler("text", createLog("silent")));
const store = new StoreRules();
const runStoreOperations = (operations: StoreOperation[]) => runOperations(sql, store, operations);
mountRoutes(app, storeRoutes({ sql, store }), openGuard);

async function call(method: string, path: string, body?: unknown) {
  const headers = { "Content-Type": "application/json" };
  const response = await app.request(path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: response.status === 200 ? JSON.parse(text) : undefined };
}
const put = (namespace: string[], key: string, value: object) => call("PUT", "/store/items", { namespace, key, value });
const keys = async (body: object) =>
  (await call("POST", "/store/items/search", body)).json.items.map((item: { key: string }) => item.key);
const namespaces = async (body: object) => (await call("POST", "/store/namespaces", body)).json.namespaces;

test("returns an item as it was put, and a second put keeps its creation time", async () => {
  const value = { a: { b: [1, null, "x"] }, ü: "☃", n: 1.5 };
  expect(await put(["round", "trip"], "k", value)).toMatchObject({ status: 204, text: "" });
  const { json: first } = await call("GET", "/store/items?namespace=round.trip&key=k");
  expect(first).toEqual({
    namespace: ["round", "trip"],
    key: "k",
    value,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+\+00:00$/),
    updated_at: first.created_at,
  });
  await put(["round", "trip"], "k", { b: 2 });
  const { json: second } = await call("GET", "/store/items?namespace=round.trip&key=k");
  expect(second).toMatchObject({ value: { b: 2 }, created_at: first.created_at });
  expect(second.updated_at > first.updated_at).toBe(true);
});

test("a missing item is null, and deleting it is not an error", async () => {
  expect(await call("GET", "/store/items?namespace=none&key=k")).toMatchObject({ status: 200, text: "null" });
  await put(["gone"], "k", {});
  for (const status of [204, 204]) {
    expect((await call("DELETE", "/store/items", { namespace: ["gone"], key: "k" })).status).toBe(status);
  }
  expect((await call("GET", "/store/items?namespace=gone&key=k")).text).toBe("null");
});

test("a prefix ends at the end of a label, and labels are not patterns", async () => {
  const items: [string[], string][] = [
    [["p", "a"], "1"],
    [["p", "a", "x"], "2"],
    [["p", "ab"], "3"],
    [["p", "a%"], "4"],
    [["p_", "a"], "5"],
    [["p", "a", "x", "deep"], "6"],
    [["p", "*"], "7"],
  ];
  for (const [namespace, key] of items) await put(namespace, key, {});
  expect(await keys({ namespace_prefix: ["p", "a"] })).toEqual(["6", "2", "1"]);
  expect(await keys({ namespace_prefix: ["p", "a", "x"] })).toEqual(["6", "2"]);
  expect(await keys({ namespace_prefix: ["p", "a%"] })).toEqual(["4"]);
  expect(await keys({ namespace_prefix: ["p", "*"] })).toEqual(["7"]);
  expect(await keys({ namespace_prefix: ["p_"] })).toEqual(["5"]);
  expect(await keys({ namespace_prefix: ["p"], limit: 2, offset: 1 })).toEqual(["6", "4"]);
  expect((await keys({ namespace_prefix: [], limit: 1000 })).length).toBeGreaterThanOrEqual(7);

  expect(await namespaces({ prefix: ["p"] })).toEqual([
    ["p", "*"],
    ["p", "a"],
    ["p", "a", "x"],
    ["p", "a", "x", "deep"],
    ["p", "a%"],
    ["p", "ab"],
  ]);
  expect(await namespaces({ prefix: ["p"], max_depth: 2, limit: 2, offset: 1 })).toEqual([
    ["p", "a"],
    ["p", "a%"],
  ]);
  expect(await namespaces({ suffix: ["x"] })).toEqual([["p", "a", "x"]]);
  expect(await namespaces({ prefix: ["p"], suffix: ["*", "deep"] })).toEqual([["p", "a", "x", "deep"]]);
  expect(await namespaces({ prefix: ["p", "*", "x"] })).toEqual([
    ["p", "a", "x"],
    ["p", "a", "x", "deep"],
  ]);
});

test("filters compare only values of one type", async () => {
  const items: [string, object][] = [
    ["a", { n: 1, s: "2026-01-01", on: true, o: { x: 1 } }],
    ["b", { n: 2, s: "2026-02-01", on: null }],
    ["c", { n: "2" }],
  ];
  for (const [key, value] of items) await put(["filters"], key, value);
  const found = async (filter: object) => (await keys({ namespace_prefix: ["filters"], filter })).sort();
  expect(await found({ n: 2 })).toEqual(["b"]);
  expect(await found({ n: { $eq: "2" } })).toEqual(["c"]);
  expect(await found({ n: { $ne: 2 } })).toEqual(["a", "c"]);
  expect(await found({ on: { $ne: true } })).toEqual(["b", "c"]);
  expect(await found({ n: { $gt: 1 } })).toEqual(["b"]);
  expect(await found({ n: { $gte: 1, $lt: 2 } })).toEqual(["a"]);
  expect(await found({ n: { $lte: 2 }, s: { $gt: "2026-01-15" } })).toEqual(["b"]);
  expect(await found({ on: null })).toEqual(["b"]);
  expect(await found({ o: { x: 1 } })).toEqual(["a"]);
  expect(await found({ n: { $in: [1, "2"] } })).toEqual(["a", "c"]);
  expect(await found({ n: { $nin: [1, "2"] } })).toEqual(["b"]);
  expect(await found({ o: { $in: [{ x: 1, y: 2 }] } })).toEqual([]);
  expect(await found({ o: { $in: [{ x: 1 }, { x: 2 }] } })).toEqual(["a"]);
  expect(await found({ o: { $nin: [{ x: 1, y: 2 }] } })).toEqual(["a", "b", "c"]);
  expect(await found({ "n' or true --": 1 })).toEqual([]);
  expect((await call("POST", "/store/items/search", { filter: { n: { $regex: "x" } } })).status).toBe(422);
});

test("rejects invalid requests, and searches without an index, with the reason", async () => {
  const rejection = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await call(method, path, body);
    return [status, text];
  };
  const item = { namespace: ["n"], key: "k", value: {} };
  expect(await rejection("PUT", "/store/items", { ...item, namespace: [] })).toEqual([400, "Namespace is required"]);
  expect(await rejection("PUT", "/store/items", { ...item, namespace: ["a.b"] })).toEqual([
    422,
    expect.stringContaining("Namespace labels cannot be empty or contain periods. Received: a.b"),
  ]);
  expect((await rejection("PUT", "/store/items", { ...item, namespace: [""] }))[0]).toBe(422);
  expect((await rejection("PUT", "/store/items", { ...item, value: 5 }))[0]).toBe(422);
  expect((await rejection("PUT", "/store/items", { ...item, key: "k".repeat(3000) }))[0]).toBe(422);
  expect(await rejection("PUT", "/store/items", { ...item, ttl: 0 })).toEqual([422, expect.stringContaining("ttl")]);
  expect(await rejection("PUT", "/store/items", { ...item, index: ["a["] })).toEqual([
    422,
    expect.stringContaining("must be a path"),
  ]);
  expect(await rejection("PUT", "/store/items", { ...item, index: ["a"] })).toEqual([
    422,
    expect.stringContaining("store.index"),
  ]);
  expect((await rejection("PUT", "/store/items", { ...item, index: false, ttl: null }))[0]).toBe(204);
  expect(await rejection("POST", "/store/items/search", { query: "cats" })).toEqual([
    422,
    expect.stringContaining("query"),
  ]);
  expect((await rejection("POST", "/store/items/search", { limit: 0 }))[0]).toBe(422);
  expect((await rejection("GET", "/store/items?namespace=n"))[0]).toBe(422);
  expect((await rejection("GET", "/store/items?namespace=a%00b&key=k"))[0]).toBe(422);
  expect((await rejection("GET", "/store/items?namespace=a&key=%00"))[0]).toBe(422);
});

test("a graph's batch returns the results of its operations in order", async () => {
  const at = ["batch"];
  const results = await runStoreOperations([
    { op: "put", namespace: at, key: "a", value: { v: 1 } },
    { op: "put", namespace: at, key: "b", value: { v: 2, text: "nul\u0000" } },
    { op: "put", namespace: at, key: "a", value: { v: 3 } },
    { op: "get", namespace: at, key: "a" },
    { op: "get", namespace: at, key: "none" },
    { op: "get", namespace: at, key: "b" },
    { op: "put", namespace: at, key: "a", value: null },
    { op: "get", namespace: at, key: "a" },
    { op: "search", namespace_prefix: at, filter: { v: { $gte: 1 } } },
    { op: "list", match_conditions: [{ match_type: "prefix", path: at }], limit: 10, offset: 0 },
  ]);
  const b = {
    namespace: at,
    key: "b",
    value: { v: 2, text: "nul\uFFFD" },
    created_at: expect.any(String),
    updated_at: expect.any(String),
  };
  expect(results).toEqual([
    null,
    null,
    null,
    { ...b, key: "a", value: { v: 3 } },
    null,
    b,
    null,
    null,
    [b],
    [["batch"]],
  ]);
  expect(await runStoreOperations([])).toEqual([]);
});

test("a batch that fails halfway changes nothing", async () => {
  const operations: StoreOperation[] = [
    { op: "put", namespace: ["half"], key: "a", value: {} },
    { op: "get", namespace: ["half"], key: "a" },
    { op: "put", namespace: ["half"], key: "k".repeat(3000), value: {} },
  ];
  await expect(runStoreOperations(operations)).rejects.toMatchObject({ status: 422 });
  expect(await runStoreOperations([{ op: "get", namespace: ["half"], key: "a" }])).toEqual([null]);
});

test("batches that write the same keys in different orders do not deadlock", async () => {
  const put = (i: number): StoreOperation => ({ op: "put", namespace: ["race"], key: `k${i}`, value: { i } });
  const forwards = Array.from({ length: 50 }, (_, i) => put(i));
  const batches = Array.from({ length: 20 }, (_, n) => runStoreOperations(n % 2 ? forwards : [...forwards].reverse()));
  await Promise.all(batches);
  expect(await keys({ namespace_prefix: ["race"], limit: 100 })).toHaveLength(50);
});

test("an expired item is not found, swept or not", async () => {
  const at = ["ttl"];
  const minutesLeft = async (key: string) => {
    const [row] = await sql`
      select extract(epoch from expires_at - now())::float8 / 60 as left from store_items where namespace = ${at} and key = ${key}`;
    return row!["left"] === null ? null : Math.round(row!["left"] as number);
  };
  const over = (key: string) =>
    sql`update store_items set expires_at = now() - interval '1 s' where namespace = ${at} and key = ${key}`;
  const soon = (key: string) =>
    sql`update store_items set expires_at = now() + interval '1 minute' where namespace = ${at} and key = ${key}`;
  const put = (key: string, ttl?: number | null) =>
    call("PUT", "/store/items", { namespace: at, key, value: { key }, ttl });
  const get = (key: string, more = "") => call("GET", `/store/items?namespace=ttl&key=${key}${more}`);

  await put("a", 10);
  expect(await minutesLeft("a")).toBe(10);
  await put("stays", null);
  await put("default");
  expect([await minutesLeft("stays"), await minutesLeft("default")]).toEqual([null, null]);

  // a read renews the time to live unless the caller opts out
  await soon("a");
  await get("a", "&refresh_ttl=false");
  await keys({ namespace_prefix: at, refresh_ttl: false });
  expect(await minutesLeft("a")).toBe(1);
  await get("a");
  expect(await minutesLeft("a")).toBe(10);
  await soon("a");
  await keys({ namespace_prefix: at });
  expect(await minutesLeft("a")).toBe(10);
  await soon("a");
  await runStoreOperations([{ op: "get", namespace: at, key: "a", refresh_ttl: false }]);
  await runStoreOperations([{ op: "search", namespace_prefix: at, refresh_ttl: false }]);
  expect(await minutesLeft("a")).toBe(1);
  await runStoreOperations([{ op: "get", namespace: at, key: "a" }]);
  expect(await minutesLeft("a")).toBe(10);

  const { json: first } = await get("a");
  await over("a");
  expect((await get("a")).text).toBe("null");
  expect(await keys({ namespace_prefix: at })).toEqual(["default", "stays"]);
  expect(await runStoreOperations([{ op: "get", namespace: at, key: "a" }])).toEqual([null]);
  await over("stays");
  await over("default");
  expect(await namespaces({ prefix: at })).toEqual([]);
  // an item put after that is a new one
  await put("a", 10);
  expect((await get("a")).json.created_at > first.created_at).toBe(true);
  await put("a", null);
  expect(await minutesLeft("a")).toBeNull();
});
