import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { checkSchema } from "../../base/db/schema-check.ts";
import { testDatabase } from "../../../test/db.ts";

const lines: { level: number; msg: string; failures?: number }[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const logged = (msg: string) => lines.filter((line) => line.msg === msg).map(({ level }) => level);

const db = await testDatabase();
/** An additional connection. */
const beside = await testDatabase();
const early = await testAgentServer({ HEDDLE_HEALTH_GRACE_SECS: "4" }, undefined, { db, log });
const { call } = early;

const ready = async (server: Pick<TestAgentServer, "call"> = early) => {
  const { status, json } = await server.call("GET", "/readyz");
  return { status, ...json };
};

test("a server whose graphs are loading is alive and not ready", async () => {
  expect(await ready()).toMatchObject({ status: 503, detail: "hosts: the graphs are loading" });
  expect((await call("GET", "/ok")).status).toBe(200);
  await expect.poll(async () => (await ready()).status).toBe(200);
  expect((await ready()).checks).toMatchObject({
    database: { ok: true, ms: expect.any(Number) },
    hosts: { ok: true, ready: expect.any(Number) },
    claims: { ok: true },
    lease: { ok: true },
    disk: { ok: true, free_mb: expect.any(Number) },
  });
});

test("without its database a server is not ready, and after the grace period not alive", async () => {
  const name = new URL(db.uri).pathname.slice(1);
  const permit = (allow: boolean) => beside.sql.unsafe(`alter database ${name} allow_connections ${allow}`);
  try {
    await permit(false);
    await beside.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    await expect.poll(async () => (await ready()).detail).toMatch(/^database: no answer \(\w+\)/);
    expect((await call("GET", "/ok")).json).toEqual({ ok: true });
    expect((await ready()).checks.schema).toMatchObject({ ok: true });
    const deep = await call("GET", "/ok?check_db=1");
    expect([deep.status, deep.json.ok, deep.json.detail]).toEqual([
      500,
      false,
      expect.stringContaining("The database does not answer"),
    ]);
    // the checks that its control plane reads are still present
    expect(deep.json.checks).toMatchObject({ graphs: { trail: true }, graph_hosts: { ok: true } });

    await expect.poll(async () => (await call("GET", "/ok")).status).toBe(503);
    const dead = await call("GET", "/ok");
    expect(dead.headers.get("retry-after")).toBe("2");
    expect((await call("GET", "/livez")).status).toBe(200);
    expect(dead.json).toMatchObject({ ok: false, detail: expect.stringMatching(/database: .*/) });
    await expect.poll(async () => (await ready()).detail).toMatch(/claims: could not claim runs, for \d+ s/);
  } finally {
    await permit(true);
  }
  await expect.poll(async () => (await ready()).status).toBe(200);
  expect((await call("GET", "/ok")).status).toBe(200);
  // one line at the start, none for the polls in between, and one at the end
  for (const work of ["could not claim runs", "the heartbeat failed", "could not claim webhooks"]) {
    await expect.poll(() => logged(`recovered: ${work}`)).toEqual([40]);
    expect([work, logged(work)]).toEqual([work, [50]]);
  }
});

test("a database whose schema is older than the code makes a server not ready, a newer one does not", async () => {
  let now = 0;
  const check = checkSchema(db.sql, () => now);
  const { needed } = (await check()) as unknown as { needed: number };
  await db.sql`insert into heddle_migrations (version, name) values (${needed + 1}, 'of the next version')`;
  now = 60_000;
  expect(await check()).toEqual({ ok: true, version: needed + 1, needed });
  await db.sql`delete from heddle_migrations where version > ${needed}`;
  const [newest] = await db.sql`delete from heddle_migrations where version = ${needed} returning *`;
  now = 120_000;
  expect(await check()).toMatchObject({ ok: false, reason: expect.stringContaining(`of ${needed}; restart`) });
  await db.sql`insert into heddle_migrations ${db.sql(newest as Record<string, string>)}`;
  expect(await check()).toMatchObject({ ok: true });
});

test("a full disk of the database is a 503 with its reason, until a write succeeds again", async () => {
  await db.sql`create function no_room() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end $$`;
  await db.sql`create trigger no_room before insert on threads execute function no_room()`;
  const rejected = await call("POST", "/threads", {});
  expect([rejected.status, rejected.text]).toEqual([503, "The database's disk is full."]);
  expect(rejected.headers.get("retry-after")).toBe("5");
  const body = { jsonrpc: "2.0", id: 1, method: "message/send", params: message };
  const { json: assistants } = await call("POST", "/assistants/search", { graph_id: "trail" });
  const rpc = await call("POST", `/a2a/${assistants[0].assistant_id}`, body);
  expect(rpc.json.error.message).toBe("The database's disk is full.");
  await db.sql`drop trigger no_room on threads`;
  expect((await call("POST", "/threads", {})).status).toBe(200);
  await expect.poll(async () => (await ready()).status).toBe(200);
  expect(await db.sql`select to_regclass('heddle_space_probe') as left`).toEqual([{ left: null }]);
});

const message = {
  message: { role: "user", messageId: "m", kind: "message", parts: [{ kind: "data", data: { topic: "x" } }] },
};

test("a project without a loading graph, and a full data directory, make a server not ready", async () => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-broken-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "graph.ts"), "throw new Error('broken');");
  writeFileSync(join(directory, "langgraph.json"), JSON.stringify({ graphs: { only: "./graph.ts:graph" } }));
  const env = { HEDDLE_MIN_FREE_DISK_MB: "1000000000" };
  const errors: string[] = [];
  const own = pino({ level: "error" }, { write: (line: string) => void errors.push(JSON.parse(line).msg) });
  const server = await testAgentServer(env, join(directory, "langgraph.json"), { log: own, reload: true });
  await expect.poll(async () => (await ready(server)).detail).toContain("hosts: no graph could be loaded");
  expect((await ready(server)).detail).toMatch(
    /disk: disk full: the data directory has \d+ MiB free, less than 1000000000 MiB/,
  );
  // a developer has been told why the graph does not load
  await expect.poll(() => errors).toContain("not ready: disk");
  expect(errors).not.toContain("not ready: hosts");
});
