/** Several agent servers of one deployment: requests go to all, they are replaced together, and one may die. */
import { expect, test, vi } from "vitest";

import { testControlPlane } from "../../test/control-plane.ts";
import { createArchive, createDeployment, deployArchive, untilStatus } from "../../test/deploy.ts";
import { connectionNeed } from "./runtime/connection-need.ts";

const { call, url, sql, control } = await testControlPlane({ HEDDLE_RESTART_MS: "50", HEDDLE_DRAIN_SECONDS: "20" });
const id = await createDeployment(call, "replicated");

/** Archive of a project whose graph returns `word` and the port of the server that answers. */
const project = (word: string, more: Record<string, string> = {}) =>
  createArchive({
    "langgraph.json": JSON.stringify({ graphs: { who: "./graph.mjs:graph" } }),
    // inside an isolation, pids are those of its namespace
    "graph.mjs": `import { readFileSync } from "node:fs";
import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ word: Annotation(), server: Annotation() });
const server = Number(readFileSync("/proc/" + process.ppid + "/cmdline", "utf8").split("\\0--port\\0")[1].split("\\0")[0]);
const who = () => ({ word: "${word}", server });
export const graph = new StateGraph(State).addNode("who", who).addEdge("__start__", "who").addEdge("who", "__end__").compile();
`,
    ...more,
  });
const deploy = (word: string, more: Record<string, string> = {}, scale = 2) =>
  deployArchive(call, id, project(word, more), {
    source_config: { resource_spec: { min_scale: scale, max_scale: scale } },
  });
const ask = async () => {
  const response = await fetch(`${url}/d/replicated/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "who", input: {} }),
  });
  return { status: response.status, ...((await response.json()) as { word?: string; server?: number }) };
};
const alive = (revision: string) => sql<{ id: string; pid: number; state: string; replica: number }[]>`
  select id, pid, state, replica from instances where revision_id = ${revision} and state <> 'ended' order by replica`;

test("requests are balanced over the replicas, and their memory and CPU use is reported", async () => {
  const first = await deploy("first");
  await untilStatus(call, id, first, "DEPLOYED", 60_000);
  expect((await alive(first)).map(({ state, replica }) => [state, replica])).toEqual([
    ["ready", 0],
    ["ready", 1],
  ]);
  const servers = new Set<unknown>();
  await vi.waitUntil(async () => servers.add((await ask()).server).size === 2, { timeout: 30_000, interval: 10 });
  const metrics = async () => {
    const { json } = await call("GET", `/v2/deployments/${id}/instances`);
    return json.resources as { memory_bytes: number; cpu_percent: number | null }[];
  };
  expect((await metrics()).map((metric) => metric.memory_bytes > 1e7)).toEqual([true, true]);
  await Promise.all(Array.from({ length: 20 }, ask));
  const later = await metrics();
  expect(later.every((usage) => usage.cpu_percent !== null && usage.cpu_percent >= 0)).toBe(true);
  expect(later.some((usage) => usage.cpu_percent! > 0)).toBe(true);
}, 90_000);

test("a replica that dies is replaced, while the other serves", async () => {
  const active = (await call("GET", `/v2/deployments/${id}`)).json.active_revision_id as string;
  const [first, other] = await alive(active);
  process.kill(-first!.pid, "SIGKILL");
  // once the death is noticed, no more requests are sent to it
  const isSentTo = () => control.deps.table.find("replicated")!.instances.some(({ id }) => id === first!.id);
  await vi.waitUntil(() => !isSentTo(), { timeout: 30_000 });
  for (let n = 0; n < 5; n++) expect(await ask()).toMatchObject({ status: 200, word: "first" });
  await vi.waitUntil(
    async () => {
      const now = await alive(active);
      return now.length === 2 && now.every(({ state }) => state === "ready");
    },
    { timeout: 30_000 },
  );
  expect((await alive(active))[1]!.pid).toBe(other!.pid);
}, 60_000);

test("replicas are replaced together without failing a request", async () => {
  const before = (await call("GET", `/v2/deployments/${id}`)).json.active_revision_id as string;
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  let isOver = false;
  const callers = Array.from({ length: 3 }, async () => {
    while (!isOver) answers.push(await ask());
  });
  const role = `heddle_d_${id.replaceAll("-", "")}`;
  const connections = async () =>
    (
      await sql<{ open: number; limit: number }[]>`
      select (select count(*)::int from pg_stat_activity where usename = ${role}) as open, rolconnlimit as limit
      from pg_roles where rolname = ${role}`
    )[0]!;
  const each = connectionNeed(1, control.deps.settings.deploymentConnections);
  expect((await connections()).limit).toBe(2 * each);
  const samples: Awaited<ReturnType<typeof connections>>[] = [];
  const watching = (async () => {
    while (!isOver) samples.push(await connections());
  })();
  const second = await deploy("second");
  await untilStatus(call, id, second, "DEPLOYED", 60_000);
  await vi.waitUntil(async () => (await alive(before)).length === 0, { timeout: 20_000 });
  isOver = true;
  await Promise.all([...callers, watching]);
  // two revisions at once, and one again
  expect(Math.max(...samples.map(({ limit }) => limit))).toBe(4 * each);
  expect(samples.filter(({ open, limit }) => open >= limit)).toEqual([]);
  await vi.waitUntil(async () => (await connections()).limit === 2 * each, { timeout: 10_000 });
  expect(answers.filter(({ status, word }) => status !== 200 || !/^(first|second)$/.test(word ?? ""))).toEqual([]);
  expect(answers.at(-1)!.word).toBe("second");
  expect((await alive(second)).map(({ state }) => state)).toEqual(["ready", "ready"]);
}, 90_000);

test("a revision that always exits during its start is given up after three attempts, with pauses between", async () => {
  const crashing = { "graph.mjs": 'process.kill(process.ppid, "SIGKILL"); export const graph = null;' };
  const third = await deploy("third", crashing, 1);
  await untilStatus(call, id, third, "DEPLOY_FAILED", 60_000);
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${third}`);
  expect(json.status_message).toBe("It exited 3 times while starting.");
  const lives = await sql<{ started_at: Date; ended_at: Date; crashed: boolean }[]>`
    select started_at, ended_at, crashed from instances where revision_id = ${third} order by started_at`;
  expect(lives.slice(0, 3).map(({ crashed }) => crashed)).toEqual([true, true, true]);
  const pauses = [1, 2].map((n) => lives[n]!.started_at.getTime() - lives[n - 1]!.ended_at.getTime());
  expect(pauses[0]).toBeGreaterThanOrEqual(45);
  expect(pauses[1]).toBeGreaterThanOrEqual(95);
  expect(await ask()).toMatchObject({ status: 200, word: "second" });
}, 90_000);
