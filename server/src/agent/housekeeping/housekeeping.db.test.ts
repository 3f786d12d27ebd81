import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { createLog } from "../../base/log.ts";
import { readProject } from "../project/read-project.ts";
import { StoreRules } from "../store/store-rules.ts";
import { expireThreads } from "./expire-threads.ts";
import { setThreadTtlDefault, takeSweep } from "./sql.ts";
import { stampThreads } from "./stamp-threads.ts";
import { Sweeper } from "./sweeper.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/agent-project/short-lived.json", import.meta.url));
const { call, sql, agent } = await testAgentServer({}, PROJECT);

const create = async (body: object = {}): Promise<string> => (await call("POST", "/threads", body)).json.thread_id;
const readTtl = async (id: string) => (await call("GET", `/threads/${id}?include=ttl`)).json.ttl;
const run = (id: string, more: object = {}) =>
  call("POST", `/threads/${id}/runs/wait`, { assistant_id: "trail", input: { topic: "x" }, ...more });
const checkpoints = async (id: string) => (await sql`select 1 from checkpoints where thread_id = ${id}`).length;
/** Makes the threads' last activity two hours old. */
const age = (...ids: string[]) => sql`
  update threads set updated_at = now() - interval '2 hours' where thread_id = any(${ids}::uuid[])`;
const isDeleted = async (id: string) => (await call("GET", `/threads/${id}`)).status === 404;

test("stores a thread's time to live, returns it on request, and changes it", async () => {
  const id = await create({ ttl: 5 });
  const ttl = await readTtl(id);
  expect(ttl).toEqual({ strategy: "delete", ttl: 5, expires_at: expect.any(String) });
  const minutes = (Date.parse(ttl.expires_at) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(4.9);
  expect(minutes).toBeLessThanOrEqual(5.01);
  expect((await call("GET", `/threads/${id}`)).json).not.toHaveProperty("ttl");
  await call("PATCH", `/threads/${id}`, { ttl: { strategy: "keep_latest", ttl: 0.5 } });
  expect(await readTtl(id)).toMatchObject({ strategy: "keep_latest", ttl: 0.5 });
  await call("PATCH", `/threads/${id}`, { metadata: { a: 1 } });
  expect(await readTtl(id)).toMatchObject({ strategy: "keep_latest", ttl: 0.5 });
  for (const wrong of [0, -1, "5", { ttl: 5, strategy: "archive" }, { strategy: "delete" }]) {
    expect((await call("POST", "/threads", { ttl: wrong })).status).toBe(422);
    expect((await call("PATCH", `/threads/${id}`, { ttl: wrong })).status).toBe(422);
  }
});

test("threads created without one get the project's time to live, also those that runs create", async () => {
  expect(await readTtl(await create())).toMatchObject({ strategy: "keep_latest", ttl: 60 });
  const createdByRun = crypto.randomUUID();
  await run(createdByRun, { if_not_exists: "create" });
  await expect.poll(() => readTtl(createdByRun)).toMatchObject({ strategy: "keep_latest", ttl: 60 });
});

test("ttl null keeps the thread, regardless of the project's default, until it is given one", async () => {
  const withoutTtl = await create({ ttl: null });
  const changed = await create({ ttl: { ttl: 60, strategy: "delete" } });
  await call("PATCH", `/threads/${changed}`, { ttl: null });
  const untouched = await create({ ttl: { ttl: 60, strategy: "delete" } });
  await run(withoutTtl);
  for (const id of [withoutTtl, changed]) expect(await readTtl(id)).toBeNull();
  await age(withoutTtl, changed, untouched);
  // the sweep that deletes this thread has examined all of them, after applying the default
  await expect.poll(() => isDeleted(untouched)).toBe(true);
  for (const id of [withoutTtl, changed]) {
    expect(await isDeleted(id)).toBe(false);
    expect(await readTtl(id)).toBeNull();
  }
  expect(await checkpoints(withoutTtl)).toBeGreaterThan(1);
  await call("PATCH", `/threads/${withoutTtl}`, { ttl: 60 });
  await age(withoutTtl);
  await expect.poll(() => isDeleted(withoutTtl)).toBe(true);
});

test("strategy delete removes a thread with all its data, but not a busy thread", async () => {
  const [old, busy, young] = [await create({ ttl: 60 }), await create({ ttl: 60 }), await create({ ttl: 60 })];
  for (const id of [old, young]) await run(id);
  await call("POST", `/threads/${busy}/runs`, { assistant_id: "slow", input: {} });
  await age(old, busy);
  await expect.poll(() => isDeleted(old)).toBe(true);
  expect(await checkpoints(old)).toBe(0);
  expect(await sql`select 1 from checkpoint_blobs where thread_id = ${old}`).toHaveLength(0);
  expect(await isDeleted(busy)).toBe(false);
  expect(await isDeleted(young)).toBe(false);
  await call("DELETE", `/threads/${busy}`);
});

test("strategy keep_latest keeps the newest checkpoint, and activity restarts the time", async () => {
  const id = await create();
  await run(id);
  expect(await checkpoints(id)).toBeGreaterThan(1);
  const { json: before } = await call("GET", `/threads/${id}/state`);
  await age(id);
  await expect.poll(() => checkpoints(id)).toBe(1);
  expect((await call("GET", `/threads/${id}/state`)).json.values).toEqual(before.values);
  expect(await readTtl(id)).toEqual({ strategy: "keep_latest", ttl: 60, expires_at: null });
  const { json } = await run(id);
  expect(json.log).toHaveLength(4);
  expect(Date.parse((await readTtl(id)).expires_at)).toBeGreaterThan(Date.now());
});

test("sweeps expired items", async () => {
  await call("PUT", "/store/items", { namespace: ["swept"], key: "k", value: {} });
  const left = () => sql`select ttl_minutes from store_items where namespace = '{swept}'`;
  expect(await left()).toEqual([{ ttl_minutes: 60 }]);
  await sql`update store_items set expires_at = now() - interval '1 s' where namespace = '{swept}'`;
  await expect.poll(async () => (await left()).length).toBe(0);
});

test("one server per interval does a sweep, and a shorter interval applies at once", async () => {
  const claims = await Promise.all(Array.from({ length: 10 }, () => takeSweep(sql, "test", 3600)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await takeSweep(sql, "test", 3600)).toBe(false);
  expect(await takeSweep(sql, "test", 60)).toBe(true);
  expect(await takeSweep(sql, "test", 60)).toBe(false);
  await sql`update sweeps set due_at = now() where sweep = 'test'`;
  expect(await takeSweep(sql, "test", 60)).toBe(true);
});

test("several servers sweep one database without errors", async () => {
  const ids = await Promise.all(Array.from({ length: 60 }, () => create({ ttl: 60 })));
  const complaints: string[] = [];
  const log = Object.assign(createLog("silent"), { error: (_: unknown, text: string) => complaints.push(text) });
  const store = new StoreRules();
  const project = await readProject(PROJECT);
  const sweepers = Array.from({ length: 3 }, () => new Sweeper({ sql, log, settings: agent.deps.settings, store }));
  await age(...ids);
  await Promise.all(sweepers.map((sweeper) => sweeper.configure(project)));
  const left = async () => (await sql`select 1 from threads where thread_id = any(${ids}::uuid[])`).length;
  // 20 per sweep
  await expect.poll(left, { timeout: 30_000 }).toBe(0);
  await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
  expect(complaints).toEqual([]);
});

test("threads from before the first default stay, and a locked thread gets the default later", async () => {
  const { sql: other } = await testDatabase();
  const insert = (id: string) => other`insert into threads (thread_id) values (${id})`;
  const [before, after, locked] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  await insert(before);
  await setThreadTtlDefault(other, { strategy: "delete", minutes: 10 });
  await insert(after);
  await insert(locked);
  await other.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${locked} for update`;
    expect(await stampThreads(other, 1000)).toBe(1);
  });
  const stamped = () => other`select thread_id from threads where ttl_minutes = 10 order by thread_id`;
  expect(await stamped()).toEqual([{ thread_id: after }]);
  expect(await stampThreads(other, 1000)).toBe(1);
  expect(await stampThreads(other, 1000)).toBe(0);
  expect((await stamped()).map((row) => row["thread_id"])).toEqual([after, locked].sort());
  await setThreadTtlDefault(other, null);
  await insert(crypto.randomUUID());
  expect(await stampThreads(other, 1000)).toBe(0);
});

test("locked threads do not keep those after them from the default, batch by batch", async () => {
  const { sql: other } = await testDatabase();
  await setThreadTtlDefault(other, { strategy: "delete", minutes: 10 });
  const ids = Array.from({ length: 7 }, () => crypto.randomUUID());
  for (const id of ids) await other`insert into threads (thread_id) values (${id})`;
  const locked = ids.slice(1, 4);
  await other.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = any(${locked}::uuid[]) for update`;
    expect(await stampThreads(other, 2)).toBe(4);
  });
  const without = await other`select thread_id from threads where ttl_minutes is null`;
  expect(without.map((row) => row["thread_id"]).sort()).toEqual(locked.toSorted());
  expect(await stampThreads(other, 2)).toBe(3);
  expect(await stampThreads(other, 2)).toBe(0);
});

test("threads that expire are announced to the readers of their events, a batch by one notice", async () => {
  const { sql: other } = await testDatabase();
  const notices: string[] = [];
  await other.listen("heddle_frames", (ids) => notices.push(ids));
  await other`
    insert into threads (thread_id, ttl_strategy, ttl_minutes, updated_at)
    select gen_random_uuid(), 'delete', 1, now() - interval '1 hour' from generate_series(1, 300)`;
  const ids = (await other`select thread_id from threads`).map((row) => row["thread_id"] as string);
  await expireThreads(other, 1000);
  await expect.poll(() => notices.length).toBe(2);
  expect(notices.flatMap((notice) => notice.split(",")).sort()).toEqual(ids.sort());
});

test("the readers of a thread's events leave as soon as it expires", async () => {
  const id = await create({ ttl: { strategy: "delete", ttl: 60 } });
  const { json: assistants } = await call("POST", "/assistants/search", { graph_id: "trail" });
  await sql`
    insert into protocol_threads (thread_id, assistant_id, last_seq) values (${id}, ${assistants[0].assistant_id}, 1)`;
  const feed = await agent.deps.protocol.open(id);
  await age(id);
  // the poll for what was not announced comes after ten seconds
  await expect.poll(() => feed.closed, { timeout: 5000 }).toBe(true);
  agent.deps.protocol.release(feed);
});
