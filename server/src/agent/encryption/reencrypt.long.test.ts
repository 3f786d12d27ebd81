/** `heddle encryption reencrypt` with a real server, database and graph host. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testDatabase, type TestDatabase } from "../../../test/db.ts";
import { findInDatabase } from "../../../test/find-in-database.ts";
import { expectSecret, KEY, NEXT_KEY, plantSecret, SECRET, servers } from "../../../test/sealed-state.ts";
import { encryptionStatus, reencrypt, rotateEncryption } from "../../admin/encryption.ts";

const FILE = "langgraph.json";
const BOTH = { LANGGRAPH_AES_KEY: NEXT_KEY, HEDDLE_OLD_AES_KEYS: KEY };
const MAIN = fileURLToPath(new URL("../../../../cli/src/main.ts", import.meta.url));

const quiet = { onProgress: () => {}, onWait: () => {} };
const at = (db: TestDatabase) => ({ dataDir: "/nowhere", databaseUri: db.uri });

/** Columns with a value of a data key, texts and bytes. */
async function usesOfKey(db: TestDatabase, keyId: string): Promise<string[]> {
  const texts = await findInDatabase(db.sql, [keyId]);
  const id = Buffer.from(keyId, "base64url");
  const bytes = await db.sql<{ table: string }[]>`
    select distinct t.table from (
      select 'checkpoint_blobs' as table from checkpoint_blobs where substring(blob from 1 for 16) = ${id}
      union all select 'checkpoint_writes' from checkpoint_writes where substring(blob from 1 for 16) = ${id}) t`;
  return [...texts, ...bytes.map(({ table }) => table)].filter((place) => place !== "state_keys.key_id");
}

const dataKeys = async (db: TestDatabase): Promise<string[]> =>
  (await db.sql<{ key_id: string }[]>`select key_id from state_keys order by created_at`).map((row) => row.key_id);

test("state from before encryption was turned on is encrypted while a server runs", { timeout: 180_000 }, async () => {
  const db = await testDatabase();
  const serve = servers(db, {});
  const id = await plantSecret(await serve({}, FILE));
  expect((await findInDatabase(db.sql, [SECRET])).length).toBeGreaterThan(10);
  await expect(reencrypt(at(db), { LANGGRAPH_AES_KEY: KEY }, quiet)).rejects.toThrow(
    /Stop all servers, start them with/,
  );

  const server = await serve({ LANGGRAPH_AES_KEY: KEY }, FILE);
  await expectSecret(server, id);
  const done = await reencrypt(at(db), { LANGGRAPH_AES_KEY: KEY }, quiet);
  expect(done).toMatchObject({ complete: true, broken: 0, held: 0 });
  expect(done.encrypted).toBeGreaterThan(100);
  expect(await findInDatabase(db.sql, [SECRET])).toEqual([]);
  await expectSecret(server, id);
  // the next run reads and writes the state
  const more = { assistant_id: "keeper", input: { secret: SECRET } };
  expect((await server.call("POST", `/threads/${id}/runs/wait`, more)).status).toBe(200);
  expect((await reencrypt(at(db), { LANGGRAPH_AES_KEY: KEY }, quiet)).encrypted).toBe(0);
});

test(
  "after a rotation nothing needs the earlier data keys, and the old key can be removed",
  { timeout: 180_000 },
  async () => {
    const db = await testDatabase();
    const serve = servers(db, {});
    const id = await plantSecret(await serve({ LANGGRAPH_AES_KEY: KEY }, FILE));
    const [old] = await dataKeys(db);
    expect((await usesOfKey(db, old!)).length).toBeGreaterThan(10);

    const server = await serve(BOTH, FILE);
    expect((await rotateEncryption(at(db), BOTH)).rewrapped).toBe(1);
    expect((await usesOfKey(db, old!)).length).toBeGreaterThan(10);
    // while it runs, a run asks and gets its answer
    const waiting = (await server.call("POST", "/threads", {})).json.thread_id as string;
    await server.call("POST", `/threads/${waiting}/runs/wait`, { assistant_id: "keeper", input: { secret: SECRET } });
    const done = await reencrypt(at(db), BOTH, quiet);
    expect(done).toMatchObject({ complete: true, broken: 0 });
    expect(await usesOfKey(db, old!)).toEqual([]);
    const { keys } = await encryptionStatus(at(db), BOTH);
    expect(keys.map(({ newest, dataKeys: count, replaced }) => [newest, count, replaced])).toEqual([
      [true, 2, 1],
      [false, 0, 0],
    ]);
    const { json: answered } = await server.call("POST", `/threads/${waiting}/runs/wait`, {
      assistant_id: "keeper",
      command: { resume: "yes" },
    });
    expect((answered.log as string[]).at(-1)).toBe("answer yes");

    const after = await serve({ LANGGRAPH_AES_KEY: NEXT_KEY }, FILE);
    await expectSecret(after, id);
    expect(await reencrypt(at(db), { LANGGRAPH_AES_KEY: NEXT_KEY }, quiet)).toMatchObject({
      encrypted: 0,
      complete: true,
    });
  },
);

test("the project's handlers replace the key of the settings", { timeout: 180_000 }, async () => {
  const db = await testDatabase();
  const serve = servers(db, {});
  const { call } = await serve({ LANGGRAPH_AES_KEY: KEY }, FILE);
  await call("PUT", "/store/items", { namespace: ["a"], key: "k", value: { secret: SECRET } });
  const [old] = await dataKeys(db);
  await serve({ LANGGRAPH_AES_KEY: KEY }, "custom.json");
  const config = fileURLToPath(new URL("../../../test/fixtures/sealed-project/custom.json", import.meta.url));
  expect(await reencrypt(at(db), { LANGGRAPH_AES_KEY: KEY }, { ...quiet, config })).toMatchObject({ encrypted: 1 });
  expect(await usesOfKey(db, old!)).toEqual([]);
  const after = await serve({}, "custom.json");
  expect((await after.call("GET", "/store/items?namespace=a&key=k")).json.value).toEqual({ secret: SECRET });
});

test("checkpoints that LangGraph's serializer encrypted become readable", { timeout: 120_000 }, async () => {
  const db = await testDatabase();
  const serve = servers(db, {});
  const { call } = await serve({ LANGGRAPH_AES_KEY: KEY }, FILE);
  const { thread_id: id } = (await call("POST", "/threads", {})).json;
  await call("POST", `/threads/${id}/runs/wait`, { assistant_id: "keeper", input: { secret: SECRET } });
  // a text as MessagePack, encrypted by langgraph-checkpoint 4.3.2 with KEY
  const official = Buffer.from(
    "58c15cf3432da1835b17baef43770f229c334ee353c45b23e543cdff599f398377ce713638d53cca315102b73a99e697",
    "hex",
  );
  const { count } = await db.sql`
    update checkpoint_blobs set type = 'msgpack+aes', blob = ${official} where thread_id = ${id} and channel = 'secret'`;
  expect(count).toBe(1);
  expect((await call("GET", `/threads/${id}/state`)).status).toBe(500);
  expect(await reencrypt(at(db), { LANGGRAPH_AES_KEY: KEY }, quiet)).toMatchObject({ encrypted: 1, broken: 0 });
  const [row] = await db.sql`select type from checkpoint_blobs where thread_id = ${id} and channel = 'secret'`;
  expect(row!["type"]).toBe("msgpack+sealed");
});

test("a row that cannot be decrypted is left, and named", { timeout: 120_000 }, async () => {
  const db = await testDatabase();
  const serve = servers(db, {});
  const { call } = await serve({ LANGGRAPH_AES_KEY: KEY }, FILE);
  for (const key of ["altered", "whole"])
    await call("PUT", "/store/items", { namespace: ["a"], key, value: { secret: SECRET } });
  await db.sql`
    update store_items set value = to_jsonb(regexp_replace(value #>> '{}', '.~$', case when value #>> '{}' like '%A~' then 'Q~' else 'A~' end))
    where key = 'altered'`;
  await serve(BOTH, FILE);
  const done = await reencrypt(at(db), BOTH, quiet);
  expect(done).toMatchObject({ encrypted: 1, broken: 1, complete: true });
  expect(done.reason).toContain("it was altered or copied from another row");
});

test("a new data key is used only when servers have had a minute to read it", { timeout: 120_000 }, async () => {
  const db = await testDatabase();
  const serve = servers(db, {});
  const { call } = await serve({ LANGGRAPH_AES_KEY: KEY }, FILE);
  await call("PUT", "/store/items", { namespace: ["a"], key: "k", value: { secret: SECRET } });
  const [old] = await dataKeys(db);
  const age = () => db.sql`update state_keys set created_at = created_at - interval '2 minutes'`;
  await age();
  let waited = 0;
  const onWait = () => {
    waited += 1;
    void usesOfKey(db, old!).then(async (uses) => {
      expect(uses).toEqual(["store_items.value"]);
      await age();
    });
  };
  expect(await reencrypt(at(db), BOTH, { ...quiet, onWait })).toMatchObject({ encrypted: 1, complete: true });
  expect(waited).toBe(1);
  expect(await usesOfKey(db, old!)).toEqual([]);
});

test(
  "the command can be killed in the middle, and ends its work when it is repeated",
  { timeout: 240_000 },
  async () => {
    const db = await testDatabase();
    const serve = servers(db, {});
    const id = await plantSecret(await serve({ LANGGRAPH_AES_KEY: KEY }, FILE));
    const [old] = await dataKeys(db);
    // as many copies of an item as keep the command busy
    await db.sql`
    insert into store_items (namespace, key, value)
    select namespace, key || n, value from store_items, generate_series(1, 20000) n where key = 'k'`;
    const server = await serve(BOTH, FILE);
    const left = async () => {
      const [row] = await db.sql<{ n: number }[]>`
      select count(*)::int as n from store_items where position(${old!} in value::text) > 0`;
      return row!.n;
    };
    const all = await left();
    const env = { ...process.env, ...BOTH };
    const child = spawn(
      process.execPath,
      ["--import", "tsx", MAIN, "encryption", "reencrypt", "--postgres-uri", db.uri],
      {
        env,
        stdio: "ignore",
      },
    );
    await expect.poll(left, { timeout: 60_000, interval: 20 }).toBeLessThan(all - 100);
    child.kill("SIGKILL");
    await once(child, "exit");
    const remaining = await left();
    expect(remaining).toBeGreaterThan(0);
    await expectSecretOf(server, id);

    expect(await reencrypt(at(db), BOTH, quiet)).toMatchObject({ complete: true, broken: 0 });
    expect(await usesOfKey(db, old!)).toEqual([]);
    await expectSecretOf(server, id);
  },
);

/** As `expectSecret`, with the copies of the store's item. */
async function expectSecretOf(server: Parameters<typeof expectSecret>[0], id: string): Promise<void> {
  const { json: thread } = await server.call("GET", `/threads/${id}`);
  expect((thread.values.log as string[]).at(-1)).toBe(`updated ${SECRET}`);
  const { json: state } = await server.call("GET", `/threads/${id}/state`);
  expect(state.values).toEqual(thread.values);
  for (const key of ["k", "k1", "k20000"]) {
    const { json: item } = await server.call("GET", `/store/items?namespace=a&key=${key}`);
    expect(item.value).toEqual({ secret: SECRET });
  }
}
