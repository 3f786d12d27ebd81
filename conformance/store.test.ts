import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sdks } from "./clients.ts";
import { request } from "./http.ts";

describe.each(sdks)("the store over SDK $sdk", ({ client }) => {
  test("an item can be put, read, replaced and deleted", async () => {
    const namespace = ["docs", randomUUID()];
    await client.store.putItem(namespace, "k", { a: 1, deep: { b: [1, null] } });
    const item = await client.store.getItem(namespace, "k");
    expect(item).toMatchObject({ namespace, key: "k", value: { a: 1, deep: { b: [1, null] } } });
    await client.store.putItem(namespace, "k", { a: 2 });
    const replaced = await client.store.getItem(namespace, "k");
    expect(replaced!.value).toEqual({ a: 2 });
    expect(new Date(replaced!.createdAt).getTime()).toBe(new Date(item!.createdAt).getTime());
    expect(new Date(replaced!.updatedAt).getTime()).toBeGreaterThanOrEqual(new Date(item!.updatedAt).getTime());
    await client.store.deleteItem(namespace, "k");
    expect(await client.store.getItem(namespace, "k")).toBeNull();
  });

  test("a missing item is null, and deleting it does nothing", async () => {
    expect(await client.store.getItem(["none", randomUUID()], "k")).toBeNull();
    await client.store.deleteItem(["none", randomUUID()], "k");
  });

  test("search filters below a namespace, in pages", async () => {
    const mark = randomUUID();
    for (const n of [1, 2, 3]) await client.store.putItem([mark, "a"], `k${n}`, { n, even: n % 2 === 0 });
    await client.store.putItem([mark, "b"], "other", { n: 9 });
    const keys = async (prefix: string[], options?: object) =>
      (await client.store.searchItems(prefix, options)).items.map((item) => item.key).sort();
    expect(await keys([mark])).toEqual(["k1", "k2", "k3", "other"]);
    expect(await keys([mark, "a"])).toEqual(["k1", "k2", "k3"]);
    expect(await keys([mark], { filter: { even: true } })).toEqual(["k2"]);
    const pages = [...(await keys([mark], { limit: 3 })), ...(await keys([mark], { limit: 3, offset: 3 }))];
    expect(pages.sort()).toEqual(["k1", "k2", "k3", "other"]);
  });

  // The JavaScript dev server compares namespaces as text.
  test("a namespace is matched by whole labels", async () => {
    const mark = randomUUID();
    await client.store.putItem([mark, "user"], "mine", { n: 1 });
    await client.store.putItem([mark, "user2"], "other", { n: 2 });
    await client.store.putItem([mark, "us%r"], "wild", { n: 3 });
    const { items } = await client.store.searchItems([mark, "user"]);
    expect(items.map((item) => item.key)).toEqual(["mine"]);
    const wild = await client.store.searchItems([mark, "us%r"]);
    expect(wild.items.map((item) => item.key)).toEqual(["wild"]);
  });

  test("namespaces are listed by prefix, suffix and depth", async () => {
    const mark = randomUUID();
    for (const rest of [
      ["a", "x"],
      ["a", "y"],
      ["b", "x"],
    ])
      await client.store.putItem([mark, ...rest], "k", { n: 1 });
    const list = async (options: object) =>
      (await client.store.listNamespaces({ prefix: [mark], ...options })).namespaces.map((labels) => labels.slice(1));
    expect(await list({})).toEqual([
      ["a", "x"],
      ["a", "y"],
      ["b", "x"],
    ]);
    expect(await list({ suffix: ["x"] })).toEqual([
      ["a", "x"],
      ["b", "x"],
    ]);
    expect(await list({ maxDepth: 2 })).toEqual([["a"], ["b"]]);
    expect(await list({ limit: 1, offset: 1 })).toEqual([["a", "y"]]);
  });

  test("an item that a graph stores is visible to other threads and to clients", async () => {
    const user = randomUUID();
    await client.runs.wait(null, "memory", { input: { user, fact: "likes tea" } });
    const { thread_id } = await client.threads.create();
    const values = await client.runs.wait(thread_id, "memory", { input: { user, fact: "likes rain" } });
    expect(values).toMatchObject({ known: ["likes rain", "likes tea"] });
    expect(await client.store.getItem(["facts", user], "likes tea")).toMatchObject({ value: { text: "likes tea" } });
    await client.store.putItem(["facts", user], "by hand", { text: "by hand" });
    const again = await client.runs.wait(thread_id, "memory", { input: { user, fact: "" } });
    expect(again).toMatchObject({ known: ["by hand", "likes rain", "likes tea"] });
    const alike = await client.runs.wait(thread_id, "memory", { input: { user, fact: "", like: "eats lik tea" } });
    expect(alike).toMatchObject({ known: ["likes tea"] });
  });

  test("semantic search ranks items and skips those with index: false", async () => {
    const mark = randomUUID();
    await client.store.putItem([mark], "tea", { text: "tea", n: 1 });
    await client.store.putItem([mark], "eaten", { text: "eaten", n: 2 });
    await client.store.putItem([mark], "hidden", { text: "tea", n: 3 }, { index: false });
    await client.store.putItem([mark], "own", { text: "zzz", title: "tea", n: 4 }, { index: ["title"] });
    const found = async (options: object) =>
      (await client.store.searchItems([mark], { query: "ate", ...options })).items.map((item) => item.key);
    expect(await found({})).toEqual(["own", "tea", "eaten"]);
    expect(await found({ filter: { n: { $lt: 3 } }, limit: 1 })).toEqual(["tea"]);
    const { items } = await client.store.searchItems([mark], { query: "tea", limit: 1, offset: 1 });
    expect(items[0]).toMatchObject({ key: "tea", score: expect.closeTo(1, 4) as number });
  });

  test("filters support comparison operators", async () => {
    const mark = randomUUID();
    for (const n of [1, 2, 3]) await client.store.putItem([mark], `k${n}`, { n });
    const keys = async (filter: object) =>
      (await client.store.searchItems([mark], { filter: filter as never })).items.map((item) => item.key).sort();
    expect(await keys({ n: { $eq: 2 } })).toEqual(["k2"]);
    expect(await keys({ n: { $ne: 2 } })).toEqual(["k1", "k3"]);
    expect(await keys({ n: { $gt: 2 } })).toEqual(["k3"]);
    expect(await keys({ n: { $gte: 2 } })).toEqual(["k2", "k3"]);
    expect(await keys({ n: { $lt: 2 } })).toEqual(["k1"]);
    expect(await keys({ n: { $lte: 2, $ne: 1 } })).toEqual(["k2"]);
  });

  test("an item expires after its TTL, and reading it renews the TTL", async () => {
    const mark = randomUUID();
    const seconds = (n: number) => n / 60;
    await client.store.putItem([mark], "short", { n: 1 }, { ttl: seconds(1) });
    await client.store.putItem([mark], "read", { n: 2 }, { ttl: seconds(3) });
    await client.store.putItem([mark], "stays", { n: 3 }, { ttl: null });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await client.store.getItem([mark], "short")).toBeNull();
    expect(await client.store.getItem([mark], "read")).not.toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await client.store.getItem([mark], "read", { refreshTtl: false })).not.toBeNull();
    const { items } = await client.store.searchItems([mark], { refreshTtl: false });
    expect(items.map((item) => item.key).sort()).toEqual(["read", "stays"]);
  });
});

describe("the store over HTTP", () => {
  test("put and delete return 204 without a body", async () => {
    const item = { namespace: ["http", randomUUID()], key: "k" };
    expect(await request("PUT", "/store/items", { ...item, value: { a: 1 } })).toMatchObject({ status: 204, text: "" });
    expect(await request("DELETE", "/store/items", item)).toMatchObject({ status: 204, text: "" });
  });

  test("a missing item is null with status 200", async () => {
    const answer = await request("GET", `/store/items?namespace=none.${randomUUID()}&key=k`);
    expect(answer).toMatchObject({ status: 200, text: "null" });
  });

  test.each([
    ["an empty namespace", { namespace: [], key: "k", value: {} }, [400, 422]],
    ["a label with a period", { namespace: ["a.b"], key: "k", value: {} }, [422]],
    ["an empty label", { namespace: ["a", ""], key: "k", value: {} }, [422]],
    ["no key", { namespace: ["a"], value: {} }, [422]],
    ["a value that is not an object", { namespace: ["a"], key: "k", value: 7 }, [422]],
  ])("rejects an item with %s", async (_, item, statuses) => {
    expect((await request("PUT", "/store/items", item)).status).toBeOneOf(statuses);
  });
});
