/**
 * Control planes come and go, the deployments stay: with 200 streams open through a gateway apart, the control plane is
 * killed and upgraded, and another one takes over when the leader is killed, frozen or cut off from the database.
 */
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, test, vi } from "vitest";

import { dropDeploymentDatabases, testDataDirectory } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../server/test/deploy.ts";
import { ControlProcess } from "./control-process.ts";

const STREAMS = 200;
const TAKEOVER_MS = 5000;

const db = await testDatabase();
const directory = testDataDirectory();
// instances keep their own way to the database when a control plane is cut off
const env = { HEDDLE_DEPLOYMENT_DATABASE_URI: db.uri };
const proxy = await openProxy(db.uri);
const gateway = await ControlProcess.create(directory, db.uri, "gateway");
const first = await ControlProcess.create(directory, proxy.uri);
const second = await ControlProcess.create(directory, db.uri);
afterAll(async () => {
  // a control plane stops the instances once nothing else serves them
  await gateway.end("SIGKILL");
  await second.end("SIGKILL");
  await first.end("SIGKILL");
  await first.start(env);
  await first.end("SIGTERM");
  proxy.close();
  await dropDeploymentDatabases(db);
  rmSync(directory, { recursive: true, force: true });
}, 120_000);

const ticker = {
  "langgraph.json": JSON.stringify({ graphs: { echo: "./graph.mjs:graph", ticker: "./ticker.mjs:graph" } }),
  "ticker.mjs": `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ frames: Annotation(), pause: Annotation() });
const tick = async ({ frames, pause }, config) => {
  for (let n = 0; n < frames; n++) {
    await new Promise((done) => setTimeout(done, pause));
    config.writer?.({ n });
  }
  return { frames };
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
  return Math.round(performance.now() - startedAt);
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

/** Opens a proxy to the database that can be cut. */
async function openProxy(uri: string) {
  const target = new URL(uri);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {}).once("close", () => (sockets.delete(socket), other.destroy()));
      socket.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const own = new URL(uri);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as { port: number }).port);
  return {
    uri: own.href,
    cut(cut: boolean) {
      isCut = cut;
      if (cut) for (const socket of sockets) socket.destroy();
    },
    close: () => server.close(),
  };
}

test(`${STREAMS} streams through a gateway apart survive a killed and an upgraded control plane`, async () => {
  await first.start(env);
  id = await createDeployment(first.call, "apart");
  const revision = await deployArchive(first.call, id, createArchive({ ...graphProject("one"), ...ticker }));
  await Promise.all([gateway.start(env), untilStatus(first.call, id, revision, "DEPLOYED", 60_000)]);
  const before = await live();
  expect(before.map(({ state }) => state)).toEqual(["ready"]);

  // few runs with many readers each: what is open is what counts
  const frames = 45;
  const runs = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { thread_id: thread } = (await (await post("/threads", {})).json()) as { thread_id: string };
      const body = { assistant_id: "ticker", input: { frames, pause: 300 }, stream_mode: ["custom"] };
      const created = await post(`/threads/${thread}/runs`, { ...body, stream_resumable: true });
      const { run_id: run } = (await created.json()) as { run_id: string };
      return `/threads/${thread}/runs/${run}/stream?stream_mode=custom`;
    }),
  );
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, async (_, n) => {
      const response = await fetch(`${gateway.url}/d/apart${runs[n % runs.length]}`, {
        headers: { "last-event-id": "-1" },
      });
      expect(response.status).toBe(200);
      return response.text().catch((error: unknown) => `cut: ${String(error)}`);
    }).map(async (opened) => ({ text: opened })),
  );
  const open = async () =>
    Number(/heddle_gateway_open_streams{[^}]*} (\d+)/.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1]);
  await vi.waitUntil(async () => (await open()) === STREAMS, { timeout: 10_000 });

  await first.end("SIGKILL");
  expect(await open()).toBe(STREAMS);
  expect(await word()).toBe("one");
  await first.start(env);
  // an orderly stop, as in an upgrade, leaves what the gateway serves
  await first.end("SIGTERM");
  expect(await open()).toBe(STREAMS);
  await first.start(env);
  const expected = Array.from({ length: frames }, (_, n) => n);
  const texts = await Promise.all(streams.map(({ text }) => text));
  const wrong = texts.filter((text) => {
    const numbers = [...text.matchAll(/^data: \{"n":(\d+)\}/gm)].map((match) => Number(match[1]));
    return JSON.stringify(numbers) !== JSON.stringify(expected);
  });
  expect(wrong.map((text) => text.slice(-300))).toEqual([]);
  // adopted twice, never restarted
  expect(await live()).toEqual(before);
  await expectNothingDoubled();
}, 180_000);

test("another control plane takes over from a killed leader and ends its revision once", async () => {
  await second.start(env);
  const revision = await deployArchive(second.call, id, createArchive({ ...graphProject("two"), ...ticker }));
  const { pid } = await lease();
  expect(pid).toBe(first.pid);
  await first.end("SIGKILL");
  expect(await takeover(pid!)).toBeLessThan(TAKEOVER_MS);
  await untilStatus(second.call, id, revision, "DEPLOYED", 60_000);
  await vi.waitUntil(async () => (await word()) === "two", { timeout: 20_000 });
  await vi.waitUntil(async () => (await live()).length === 1, { timeout: 20_000 });
  await expectNothingDoubled();
}, 120_000);

test("a frozen leader is replaced, and does nothing with its old term when it thaws", async () => {
  await first.start(env);
  const { pid, term } = await lease();
  expect(pid).toBe(second.pid);
  // requests to the other one, which does not lead, are work for the leader
  const revision = await deployArchive(first.call, id, createArchive({ ...graphProject("three"), ...ticker }));
  await sleep(300);
  second.signal("SIGSTOP");
  try {
    expect(await takeover(pid!)).toBeLessThan(TAKEOVER_MS);
    await untilStatus(first.call, id, revision, "DEPLOYED", 60_000);
    await vi.waitUntil(async () => (await live()).length === 1, { timeout: 20_000 });
  } finally {
    second.signal("SIGCONT");
  }
  const before = await live();
  const health = async () =>
    (await (await fetch(`${second.url}/readyz`)).json()) as { checks: { leadership: { leads: boolean } } };
  await vi.waitUntil(async () => !(await health()).checks.leadership.leads, { timeout: 20_000 });
  await sleep(1500);
  expect(await live()).toEqual(before);
  expect(await word()).toBe("three");
  expect(BigInt((await lease()).term)).toBe(BigInt(term) + 1n);
  await expectNothingDoubled();
}, 120_000);

test("a leader that loses the database is replaced, and follows when the database is back", async () => {
  const { pid } = await lease();
  expect(pid).toBe(first.pid);
  const before = await live();
  proxy.cut(true);
  expect(await takeover(pid!)).toBeLessThan(TAKEOVER_MS);
  expect(await word()).toBe("three");
  proxy.cut(false);
  const revision = await deployArchive(second.call, id, createArchive({ ...graphProject("four"), ...ticker }));
  await untilStatus(second.call, id, revision, "DEPLOYED", 60_000);
  await vi.waitUntil(async () => (await first.call("GET", `/v2/deployments/${id}`)).status === 200, {
    timeout: 20_000,
  });
  await vi.waitUntil(async () => (await live()).length === 1, { timeout: 20_000 });
  expect((await live())[0]!.id).not.toBe(before[0]!.id);
  expect((await lease()).pid).toBe(second.pid);
  await expectNothingDoubled();
}, 120_000);
