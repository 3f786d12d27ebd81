/** Claims whose run starts late, when another server may have ended it. A real server with real hosts. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { deferred } from "../../base/deferred.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));
const LEASE_MS = 2000;
const dir = mkdtempSync(join(tmpdir(), "heddle-late-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const env = { HEDDLE_LEASE_MS: String(LEASE_MS), HEDDLE_LOG_LEVEL: "silent" };
const { agent, sql, call } = await testAgentServer(env, PROJECT);

const newThread = async () => (await call("POST", "/threads", {})).json.thread_id as string;
const body = (file: string, more: object = {}) => ({ assistant_id: "patient", input: { file, ms: 50 }, ...more });
const runStatus = async (runId: string) =>
  (await sql<{ status: string }[]>`select status from runs where run_id = ${runId}`)[0]?.status;

/**
 * Locks a row.
 * @returns a function that releases the lock
 */
async function lock(table: string, column: string, id: string): Promise<() => Promise<void>> {
  const [locked, over] = [deferred<void>(), deferred<void>()];
  const done = sql.begin(async (tx) => {
    await tx`select 1 from ${tx(table)} where ${tx(column)} = ${id} for update`;
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  return async () => {
    over.resolve();
    await done;
  };
}

beforeAll(async () => {
  // waits for the hosts
  await call("POST", `/threads/${await newThread()}/runs/wait`, body(join(dir, "warm")));
});

test("a run that ended while its claim waited for its stored stream does not begin", async () => {
  const thread = await newThread();
  const file = join(dir, "ended");
  const { json } = await call("POST", `/threads/${thread}/runs`, body(file, { after_seconds: 1 }));
  const runId = json.run_id as string;
  await sql`insert into run_streams (run_id, thread_id, attempt) values (${runId}, ${thread}, 1)`;
  const release = await lock("run_streams", "run_id", runId);
  // as after a lost attempt
  await sql`update runs set attempt = 1 where run_id = ${runId}`;
  await expect.poll(() => runStatus(runId), { interval: 10 }).toBe("running");
  await sql`update runs set cancel_action = 'interrupt' where run_id = ${runId}`;
  // other servers declare this one dead
  await sql`delete from servers`;
  await expect.poll(() => runStatus(runId), { interval: 10 }).toBe("interrupted");
  await release();
  // dispatched after the run that must not begin
  const after = await call("POST", `/threads/${thread}/runs/wait`, body(join(dir, "after")));
  expect(after.json.done).toEqual(["a", "b", "c"]);
  expect(agent.deps.queue.has(runId)).toBe(false);
  expect(existsSync(file)).toBe(false);
});

test("a run claimed while heartbeats fail begins after the next confirmed one", async () => {
  const thread = await newThread();
  const file = join(dir, "unconfirmed");
  const { serverId } = agent.deps;
  const release = await lock("servers", "server_id", serverId);
  await sleep(LEASE_MS + 300);
  const { json } = await call("POST", `/threads/${thread}/runs`, body(file));
  await sleep(300);
  expect(await runStatus(json.run_id)).toBe("running");
  expect(existsSync(file)).toBe(false);
  await release();
  await expect.poll(() => runStatus(json.run_id)).toBe("success");
  expect(existsSync(file)).toBe(true);
});

test("a run that ended elsewhere does not begin after the next confirmed heartbeat", async () => {
  const thread = await newThread();
  const file = join(dir, "taken");
  const release = await lock("servers", "server_id", agent.deps.serverId);
  await sleep(LEASE_MS + 300);
  const { json } = await call("POST", `/threads/${thread}/runs`, body(file));
  await expect.poll(() => runStatus(json.run_id)).toBe("running");
  await sql`update runs set status = 'interrupted', ended_at = now() where run_id = ${json.run_id}`;
  await sql`update threads set status = 'idle', running_run_id = null where thread_id = ${thread}`;
  expect(agent.deps.queue.has(json.run_id)).toBe(true);
  await release();
  await expect.poll(() => agent.deps.queue.has(json.run_id)).toBe(false);
  expect(existsSync(file)).toBe(false);
});
