import { fileURLToPath } from "node:url";

import pino from "pino";
import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { refreshThreadHead } from "../runs/refresh-thread.ts";
import { StaleThreads } from "./stale-threads.ts";

const config = fileURLToPath(new URL("../../../test/fixtures/agent-project/langgraph.json", import.meta.url));
const server = await testAgentServer({}, config);
const { sql, call } = server;

/** A thread with a run behind it, and an update that was committed by a host while its server went away. */
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

const logOf = async (id: string) => (await call("GET", `/threads/${id}`)).json.values.log as string[];

test("a thread's row shows a state update whose server went away before it had written the row", async () => {
  const id = await updatedThread();
  expect(await logOf(id)).not.toContain("by hand");
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
  await Promise.all([young.stop(), due.stop()]);
  expect(refreshed).toEqual([id]);
  expect(await logOf(id)).toContain("by hand");
  expect(await sql`select 1 from stale_threads`).toHaveLength(0);
});

test("a thread that cannot be read does not hold up the others", async () => {
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
  await threads.sweep();
  await threads.stop();
  expect(refreshed).toEqual([second]);
  expect((await sql`select thread_id from stale_threads`).map(({ thread_id }) => thread_id)).toEqual([first]);
});
