/**
 * Control planes come and go, the deployments stay: with 200 streams open through a standalone gateway, the control plane is
 * killed and upgraded, and another one takes over when the leader is killed, frozen or cut off from the database.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, test, vi } from "vitest";

import { dropDeploymentDatabases, testDataDirectory } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../server/test/deploy.ts";
import { FaultProxy } from "../faults/fault-proxy.ts";
import { ControlProcess } from "./control-process.ts";

const STREAMS = 200;
const TAKEOVER_MS = 5000;

const db = await testDatabase();
const directory = testDataDirectory();
// instances keep their own way to the database when a control plane is cut off
const env = { HEDDLE_DEPLOYMENT_DATABASE_URI: db.uri };
const proxy = await FaultProxy.before(db.uri);
const gateway = await ControlProcess.create(directory, db.uri, "gateway");
const first = await ControlProcess.create(directory, proxy.through(db.uri));
const second = await ControlProcess.create(directory, db.uri);
afterAll(async () => {
  // a control plane stops the instances once nothing else serves them
  await gateway.end("SIGKILL");
  await second.end("SIGKILL");
  await first.end("SIGKILL");
  await first.start(env);
  await first.end("SIGTERM");
  await proxy.stop();
  await dropDeploymentDatabases(db);
  rmSync(directory, { recursive: true, force: true });
}, 120_000);

/** Emits numbers until the file `until` exists. */
const ticker = {
  "langgraph.json": JSON.stringify({ graphs: { echo: "./graph.mjs:graph", ticker: "./ticker.mjs:graph" } }),
  "ticker.mjs": `import { existsSync } from "node:fs";
import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ until: Annotation(), sent: Annotation() });
const tick = async ({ until }, config) => {
  let n = 0;
  for (; !existsSync(until); n++) {
    await new Promise((done) => setTimeout(done, 250));
    config.writer?.({ n });
  }
  return { sent: n };
};
export const graph = new StateGraph(State).addNode("tick", tick).addEdge("__start__", "tick").addEdge("tick", "__end__").compile();
`,
};

let id = "";
const post = (path: string, body: object) =>
  fetch(`${gateway.url}/d/apart${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const word = async () =>
  ((await (await post("/runs/wait", { assistant_id: "echo", input: {} })).json()) as { word: string }).word;
const live = () => db.sql<{ id: string; pid: number; state: string; revision_id: string }[]>`
  select id, pid, state, revision_id from instances where state <> 'ended' order by started_at`;
const lease = async () =>
  (
    await db.sql<{ term: string; pid: number | null }[]>`
      select term, (holder->>'pid')::int as pid from control_leader`
  )[0]!;

/** Waits until another process leads, and returns the milliseconds that took. */
async function takeover(from: number): Promise<number> {
  const startedAt = performance.now();
  await vi.waitUntil(
    async () => {
      const { pid } = await lease();
      return pid !== null && pid !== from;
    },
    { timeout: 30_000, interval: 20 },
  );
  const ms = Math.round(performance.now() - startedAt);
  console.log(`another control plane leads after ${ms} ms`);
  return ms;
}

/** Each revision and replica had at most one instance at a time, and each revision became DEPLOYED once. */
async function expectNothingDoubled(): Promise<void> {
  const twice = await db.sql`
    select 1 from instances x join instances y on x.revision_id = y.revision_id and x.replica = y.replica and x.id < y.id
    where x.started_at < coalesce(y.ended_at, now()) and y.started_at < coalesce(x.ended_at, now())
      and x.state <> 'draining' and x.ended_at is distinct from x.started_at`;
  expect(twice).toEqual([]);
  const deployments = await db.sql`
    select revision_id, count(*) from revision_events where status = 'DEPLOYED' group by 1 having count(*) > 1`;
  expect(deployments).toEqual([]);
}

test(`${STREAMS} streams through a standalone gateway survive a killed leader and an upgrade`, async () => {
  await Promise.all([first.start(env), second.start(env), gateway.start(env)]);
  const [leader, other] = (await lease()).pid === first.pid ? [first, second] : [second, first];
  // the other one answers the API too
  id = await createDeployment(other.call, "apart");
  const revision = await deployArchive(other.call, id, createArchive({ ...graphProject("one"), ...ticker }));
  await untilStatus(other.call, id, revision, "DEPLOYED", 60_000);
  const before = await live();
  expect(before.map(({ state }) => state)).toEqual(["ready"]);

  // few runs with many readers each: the open streams count
  const until = join(directory, "end-of-streams");
  const runs = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { thread_id: thread } = (await (await post("/threads", {})).json()) as { thread_id: string };
      const body = { assistant_id: "ticker", input: { until }, stream_mode: ["custom"], stream_resumable: true };
      const { run_id: run } = (await (await post(`/threads/${thread}/runs`, body)).json()) as { run_id: string };
      return { thread, path: `/threads/${thread}/runs/${run}/stream?stream_mode=custom` };
    }),
  );
  const streams = Array.from({ length: STREAMS }, async (_, n) => {
    const headers = { "last-event-id": "-1" };
    const response = await fetch(`${gateway.url}/d/apart${runs[n % runs.length]!.path}`, { headers });
    return response.text().catch((error: unknown) => `cut: ${String(error)}`);
  });
  const open = async () =>
    Number(/heddle_gateway_open_streams{[^}]*} (\d+)/.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1]);
  await vi.waitUntil(async () => (await open()) === STREAMS, { timeout: 20_000 });

  const killed = leader.pid;
  await leader.end("SIGKILL");
  expect(await takeover(killed)).toBeLessThan(TAKEOVER_MS);
  expect(await open()).toBe(STREAMS);
  expect(await word()).toBe("one");
  await leader.start(env);
  // an orderly stop, as in an upgrade, leaves what others serve
  const upgraded = other.pid;
  await other.end("SIGTERM");
  expect(await takeover(upgraded)).toBeLessThan(TAKEOVER_MS);
  expect(await open()).toBe(STREAMS);
  // adopted twice, never restarted
  expect(await live()).toEqual(before);
  const restarted = other.start(env);

  writeFileSync(until, "");
  const texts = await Promise.all(streams);
  const wrong: string[] = [];
  for (const [n, text] of texts.entries()) {
    const state = await fetch(`${gateway.url}/d/apart/threads/${runs[n % runs.length]!.thread}/state`);
    const { sent } = ((await state.json()) as { values: { sent: number } }).values;
    const numbers = [...text.matchAll(/^data: \{"n":(\d+)\}/gm)].map((match) => Number(match[1]));
    const expected = Array.from({ length: sent }, (_, index) => index);
    if (sent < 4 || JSON.stringify(numbers) !== JSON.stringify(expected)) wrong.push(text.slice(-300));
  }
  expect(wrong).toEqual([]);
  await restarted;
  await expectNothingDoubled();
}, 180_000);

test("a frozen leader is replaced, and does nothing with its old term when it thaws", async () => {
  const { pid, term } = await lease();
  const [leader, other] = pid === first.pid ? [first, second] : [second, first];
  const revision = await deployArchive(other.call, id, createArchive({ ...graphProject("two"), ...ticker }));
  await sleep(300);
  leader.signal("SIGSTOP");
  try {
    expect(await takeover(pid!)).toBeLessThan(TAKEOVER_MS);
    await untilStatus(other.call, id, revision, "DEPLOYED", 60_000);
    await vi.waitUntil(async () => (await live()).length === 1, { timeout: 20_000 });
  } finally {
    leader.signal("SIGCONT");
  }
  const before = await live();
  const health = async () =>
    (await (await fetch(`${leader.url}/readyz`)).json()) as { checks: { leadership: { leads: boolean } } };
  await vi.waitUntil(async () => !(await health()).checks.leadership.leads, { timeout: 20_000 });
  await sleep(1500);
  expect(await live()).toEqual(before);
  expect(await word()).toBe("two");
  expect(BigInt((await lease()).term)).toBe(BigInt(term) + 1n);
  await expectNothingDoubled();
}, 120_000);

test("a leader that loses the database is replaced, and follows when the database is back", async () => {
  // the first one reaches the database through the proxy
  const standby = (await lease()).pid === first.pid ? null : second.pid;
  if (standby !== null) {
    await second.end("SIGTERM");
    await takeover(standby);
    await second.start(env);
  }
  expect((await lease()).pid).toBe(first.pid);
  const before = await live();
  const up = proxy.refuse();
  expect(await takeover(first.pid)).toBeLessThan(TAKEOVER_MS);
  // the instance runs on and is adopted
  expect(await word()).toBe("two");
  expect(await live()).toEqual(before);
  up();
  const revision = await deployArchive(second.call, id, createArchive({ ...graphProject("three"), ...ticker }));
  await untilStatus(second.call, id, revision, "DEPLOYED", 60_000);
  const get = () => first.call("GET", `/v2/deployments/${id}`);
  await vi.waitUntil(async () => (await get()).json?.active_revision_id === revision, { timeout: 20_000 });
  await vi.waitUntil(async () => (await live()).length === 1, { timeout: 20_000 });
  expect((await lease()).pid).toBe(second.pid);
  await expectNothingDoubled();
}, 120_000);
