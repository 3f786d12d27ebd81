import { fileURLToPath } from "node:url";

import pino from "pino";
import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { refreshThreadHead } from "../runs/refresh-thread.ts";
import { StaleThreads } from "./stale-threads.ts";

const config = fileURLToPath(new URL("../../../test/fixtures/agent-project/langgraph.json", import.meta.url));
const server = await testAgentServer({}, config);
const { sql, call } = server;

/** Creates a thread with a finished run and a state update that its host committed while the server was stopping. */
async function updatedThread(): Promise<string> {
  const { thread_id: id } = (await call("POST", "/threads", {})).json as { thread_id: string };
  await call("POST", `/threads/${id}/runs/wait`, { assistant_id: "trail", input: { topic: "a" } });
  const before = await sql`select values, interrupts, state_updated_at from threads where thread_id = ${id}`;
  await call("POST", `/threads/${id}/state`, { values: { log: ["by hand"] } });
  expect(await sql`select 1 from stale_threads where thread_id = ${id}`).toHaveLength(0);
  await sql`update threads set ${sql(before[0]!)} where thread_id = ${id}`;
  await sql`insert into stale_threads (thread_id) values (${id})`;
  return id;
}

const readLog = async (id: string) => (await call("GET", `/threads/${id}`)).json.values.log as string[];

test("refreshes a thread's row when the server died after a state update and before writing the row", async () => {
  const id = await updatedThread();
  expect(await readLog(id)).not.toContain("by hand");
  const refreshed: string[] = [];
  const refresh = async (threadId: string) => {
    await refreshThreadHead(sql, server.agent.deps.hosts, threadId);
    refreshed.push(threadId);
  };
  const log = pino({ level: "silent" });
  const young = new StaleThreads({ sql, log, refresh });
  await young.sweep();
  expect(refreshed).toEqual([]);
  const due = new StaleThreads({ sql, log, refresh, ageMs: 0 });
  await due.sweep();
  expect(refreshed).toEqual([id]);
  expect(await readLog(id)).toContain("by hand");
  expect(await sql`select 1 from stale_threads`).toHaveLength(0);
});

/** Creates a thread with a finished run, and wraps the hosts so that each read of its state calls `onRead`. */
async function watchedThread(onRead: (id: string, reads: number) => Promise<unknown> | void) {
  const { thread_id: id } = (await call("POST", "/threads", {})).json as { thread_id: string };
  await call("POST", `/threads/${id}/runs/wait`, { assistant_id: "trail", input: { topic: "a" } });
  const hosts = Object.create(server.agent.deps.hosts) as typeof server.agent.deps.hosts;
  const counts = { reads: 0 };
  hosts.call = async (...args) => {
    const text = await server.agent.deps.hosts.call(...args);
    await onRead(id, ++counts.reads);
    return text;
  };
  return { id, hosts, counts };
}

test("a state read before an update does not overwrite the updated row", async () => {
  const update = { values: { log: ["by hand"] } };
  const { id, hosts, counts } = await watchedThread((thread, reads) =>
    reads === 1 ? call("POST", `/threads/${thread}/state`, update) : undefined,
  );
  await refreshThreadHead(sql, hosts, id);
  expect(counts.reads).toBe(2);
  expect(await readLog(id)).toContain("by hand");
});

test("a state read before an update that commits while the row is locked does not overwrite the row", async () => {
  const { id, hosts, counts } = await watchedThread(() => {});
  let refreshed: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${id} for update`;
    refreshed = refreshThreadHead(sql, hosts, id);
    await vi.waitUntil(async () => (await sql`select 1 from pg_locks where not granted`).length > 0);
    // the host's part of an update, in a separate transaction
    await sql`
      insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
      select thread_id, '', '1fffffff-0000-6000-8000-000000000000', checkpoint_id,
             jsonb_set(checkpoint, '{id}', '"1fffffff-0000-6000-8000-000000000000"'), metadata
      from checkpoints where thread_id = ${id} and checkpoint_ns = '' order by checkpoint_id desc limit 1`;
  });
  await refreshed!;
  expect(counts.reads).toBe(2);
});

test("a thread that cannot be read does not block the others", async () => {
  const [first, second] = [await updatedThread(), await updatedThread()];
  const refreshed: string[] = [];
  const threads = new StaleThreads({
    sql,
    log: pino({ level: "silent" }),
    ageMs: 0,
    async refresh(threadId) {
      if (threadId === first) throw new Error("its graph does not load");
      refreshed.push(threadId);
    },
  });
  await expect(threads.sweep()).rejects.toThrow("its graph does not load");
  expect(refreshed).toEqual([second]);
  expect((await sql`select thread_id from stale_threads`).map(({ thread_id }) => thread_id)).toEqual([first]);
});
