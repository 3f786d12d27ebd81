/**
 * npm run bench -- deployments [--quick]: the cost of a deployment. A control plane is started on fresh data, and a
 * small project (LangGraph and its packages by a lock file) is uploaded to it several times.
 *
 * - gateway: the same request to an agent server, through the control plane's gateway and through a standalone gateway, by
 *   turns, each on a kept connection
 * - from the end of the upload to the first response of the new revision, with a warm package cache: for a new
 *   deployment, and for a new revision of one with an unchanged lock file
 * - switch-over: from the healthy instance to its first response at the public address, under sequential requests
 * - rollback: from the request to the first response
 *
 * Exits with 1 when a target of the issue is missed.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "undici";

import { type ControlUnderTest, removeDirectory, startControl, startGateway, temporaryDirectory } from "./servers.ts";
import { median, medianInterval, percentile } from "./statistics.ts";

const quick = process.argv.includes("--quick");
const PAIRS = quick ? 300 : 2000;
/** Warm-up requests: until the gateway and its client are compiled, a request takes three times as long. */
const WARM = 1000;
const DEPLOYMENTS = quick ? 1 : 3;
/** Time within which the servers of deleted deployments exit. */
const EXIT_MS = 60_000;

const graph = (word: string) => `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ word: Annotation() });
export const graph = new StateGraph(State).addNode("one", () => ({ word: "${word}" }))
  .addEdge("__start__", "one").addEdge("one", "__end__").compile();
`;

const directory = await temporaryDirectory();
const project = join(directory, "project");
mkdirSync(project);
const files: Record<string, string> = {
  "langgraph.json": JSON.stringify({ graphs: { echo: "./graph.mjs:graph" } }),
  "package.json": JSON.stringify({ name: "small", private: true, type: "module", dependencies: versions() }),
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
execFileSync("npm", ["install", "--package-lock-only", "--legacy-peer-deps", "--no-audit", "--no-fund"], {
  cwd: project,
  stdio: "ignore",
});
writeFileSync(join(project, ".npmrc"), "legacy-peer-deps=true\n");

/** Versions of this repository's packages. */
function versions(): Record<string, string> {
  const names = ["@langchain/core", "@langchain/langgraph"];
  const manifest = (name: string) => new URL(`../node_modules/${name}/package.json`, import.meta.url);
  return Object.fromEntries(
    names.map((name) => [name, (JSON.parse(readFileSync(manifest(name), "utf8")) as { version: string }).version]),
  );
}

const control = await startControl(directory);
const standalone = await startGateway(directory);

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(control.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

interface Deployment {
  id: string;
  latest_revision_id: string;
}

const create = (name: string): Promise<Deployment> =>
  api("POST", "/v2/deployments", {
    name,
    source: "internal_source",
    source_config: {},
    source_revision_config: {},
    secrets: [],
  });

async function upload(id: string, word: string): Promise<string> {
  writeFileSync(join(project, "graph.mjs"), graph(word));
  const archive = execFileSync("tar", ["czf", "-", "-C", project, "."]);
  const target = await api<{ upload_url: string; object_path: string }>("POST", `/v2/deployments/${id}/upload-url`);
  const sent = await fetch(target.upload_url, { method: "PUT", body: archive });
  if (!sent.ok) throw new Error(`the upload failed: ${await sent.text()}`);
  return target.object_path;
}

/** Returns the response at the address; undefined while nothing serves. */
async function fetchWord(name: string): Promise<string | undefined> {
  const response = await fetch(`${control.url}/d/${name}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  const { word } = (await response.json()) as { word?: string };
  return response.ok ? word : undefined;
}

interface Timing {
  /** From the request to the first response, in ms. */
  total: number;
  /** From the healthy instance to that response. */
  switched: number;
}

/** Polls the address until the new revision responds. */
async function untilServes(
  name: string,
  id: string,
  revision: string,
  word: string,
  startedAt: number,
): Promise<Timing> {
  let answeredAt: number | undefined;
  while (answeredAt === undefined) {
    const { status, status_message: why } = await api<{ status: string; status_message: string | null }>(
      "GET",
      `/v2/deployments/${id}/revisions/${revision}`,
    );
    if (/FAILED|SKIPPED|INTERRUPTED/.test(status)) throw new Error(`revision ${revision} is ${status}: ${why}`);
    if ((await fetchWord(name)) === word) answeredAt = Date.now();
    else await sleep(20);
  }
  type Instance = { revision_id: string; ready_at: string };
  const { resources } = await api<{ resources: Instance[] }>("GET", `/v2/deployments/${id}/instances`);
  const ready = Date.parse(resources.find((resource) => resource.revision_id === revision)!.ready_at);
  return { total: answeredAt - startedAt, switched: answeredAt - ready };
}

async function deploy(name: string, id: string, word: string): Promise<Timing & { revision: string }> {
  const path = await upload(id, word);
  const startedAt = Date.now();
  const changed = await api<Deployment>("PATCH", `/v2/deployments/${id}`, {
    revision_source: "internal_source",
    source_revision_config: { source_tarball_path: path, langgraph_config_path: "langgraph.json" },
  });
  const revision = changed.latest_revision_id;
  return { ...(await untilServes(name, id, revision, word, startedAt)), revision };
}

async function rollback(name: string, id: string, revision: string, word: string): Promise<Timing> {
  const startedAt = Date.now();
  const changed = await api<Deployment>("POST", `/v2/deployments/${id}/revisions/${revision}/redeploy`);
  return untilServes(name, id, changed.latest_revision_id, word, startedAt);
}

/**
 * Returns the ports on which the agent servers of a data directory listen, the newest last. An isolated server has several
 * processes with the same arguments: bubblewrap's and its own.
 */
function agentPorts(): number[] {
  const ports = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(a) - Number(b))
    .flatMap((name) => {
      try {
        const args = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
        const isOurs = args.includes("serve") && args.some((arg) => arg.startsWith(directory));
        const port = args[args.indexOf("--port") + 1];
        return isOurs && args.includes("agent") && port !== undefined ? [Number(port)] : [];
      } catch {
        return [];
      }
    });
  return [...new Set(ports)];
}

type Ask = (client: Client, prefix: string) => Promise<void>;

async function take(client: Client, method: "GET" | "POST", path: string, body?: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await client.request({ method, path, headers, ...(body !== undefined && { body }) });
  await response.body.dump();
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
}

const ASKED: Record<string, Ask> = {
  "GET /ok": (client, prefix) => take(client, "GET", `${prefix}/ok`),
  "POST /runs/wait": (client, prefix) =>
    take(client, "POST", `${prefix}/runs/wait`, JSON.stringify({ assistant_id: "echo", input: {} })),
};

interface Through {
  times: number[];
  /** CPU time of the gateway's process for a request, in ms. */
  cpu: number;
}

/** Measures milliseconds of requests to the agent server and through each gateway, by turns. */
async function measureGateways(
  name: string,
  ask: Ask,
  rounds: number,
): Promise<{ direct: number[]; through: Through[] }> {
  const behind = new Client(`http://127.0.0.1:${agentPorts().at(-1)}`);
  const before = GATEWAYS.map(({ server }) => new Client(server.url));
  const direct: number[] = [];
  const through = GATEWAYS.map((): Through => ({ times: [], cpu: 0 }));
  const timed = async (into: number[], client: Client, prefix: string) => {
    const startedAt = performance.now();
    await ask(client, prefix);
    into.push(performance.now() - startedAt);
  };
  const ticks = () => GATEWAYS.map(({ server }) => cpuTicks(server.pid));
  let atStart: number[] = [];
  for (let n = -WARM; n < rounds; n++) {
    if (n === 0) atStart = ticks();
    const into = (times: number[]) => (n < 0 ? [] : times);
    const order = [
      () => timed(into(direct), behind, ""),
      ...before.map((client, index) => () => timed(into(through[index]!.times), client, `/d/${name}`)),
    ];
    // each goes first in turn
    const first = (n + WARM) % order.length;
    for (const go of [...order.slice(first), ...order.slice(0, first)]) await go();
  }
  await Promise.all([behind, ...before].map((client) => client.close()));
  for (const [index, total] of ticks().entries()) through[index]!.cpu = (total - atStart[index]!) / rounds;
  return { direct, through };
}

const GATEWAYS: { label: string; server: ControlUnderTest }[] = [
  { label: "gateway", server: control },
  { label: "standalone gateway", server: standalone },
];

/** Returns the CPU time of a single process, in milliseconds. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

let failed = false;
function print(label: string, value: number, unit: string, target?: number): void {
  const isMet = target === undefined || value < target;
  failed ||= !isMet;
  const judged = target === undefined ? "" : `  (< ${target} ${unit}: ${isMet ? "PASS" : "FAIL"})`;
  console.log(`${label.padEnd(58)} ${value.toFixed(unit === "s" ? 1 : 2)} ${unit}${judged}`);
}

try {
  const cold = await create("cold");
  const first = await deploy("cold", cold.id, "cold");
  print("upload to serving, package cache as it is", first.total / 1000, "s");

  const fresh: Timing[] = [];
  const updated: Timing[] = [];
  const back: Timing[] = [];
  for (let n = 0; n < DEPLOYMENTS; n++) {
    const name = `small-${n}`;
    const { id } = await create(name);
    const firstDeploy = await deploy(name, id, "one");
    fresh.push(firstDeploy);
    updated.push(await deploy(name, id, "two"));
    back.push(await rollback(name, id, firstDeploy.revision, "one"));
    await api("DELETE", `/v2/deployments/${id}`);
  }
  const seconds = (timings: Timing[]) => median(timings.map((timing) => timing.total)) / 1000;
  print("upload to serving, warm package cache", seconds(fresh), "s", 15);
  print("upload to serving, the lock file as before", seconds(updated), "s", 15);
  const switches = [...updated, ...back].map((timing) => timing.switched / 1000);
  print("switch-over after health, the longest", Math.max(...switches), "s", 1);
  print("rollback, request to serving", seconds(back), "s", 10);

  // wait until deleted deployments have exited, so that they take no time from the others
  const until = Date.now() + EXIT_MS;
  while (agentPorts().length > 1) {
    if (Date.now() > until) throw new Error(`deleted deployments still listen: ports ${agentPorts().join(", ")}`);
    await sleep(100);
  }
  for (const [what, ask] of Object.entries(ASKED)) {
    const { direct, through } = await measureGateways("cold", ask, what === "GET /ok" ? PAIRS : PAIRS / 4);
    print(`agent server, ${what}: direct, median`, median(direct), "ms");
    for (const [index, { times, cpu }] of through.entries()) {
      const { label } = GATEWAYS[index]!;
      print(`${label}, ${what}: through it, median`, median(times), "ms");
      const added = times.map((ms, n) => ms - direct[n]!);
      const [low, high] = medianInterval(added);
      print(`${label}, ${what}: what it adds, median of the pairs`, median(added), "ms", 1);
      console.log(`  its interval: ${low.toFixed(2)} to ${high.toFixed(2)} ms, ${added.length} pairs`);
      // the percentile least affected by other work on the machine
      print(`${label}, ${what}: what it adds at p10`, percentile(times, 0.1) - percentile(direct, 0.1), "ms");
      print(`${label}, ${what}: CPU time of its process`, cpu, "ms");
      print(`${label}, ${what}: what it adds at p95`, percentile(times, 0.95) - percentile(direct, 0.95), "ms");
    }
  }
} finally {
  await standalone.stop();
  await control.stop();
  await removeDirectory(directory);
}
const load = loadavg()[0]!;
console.log(
  `load ${load.toFixed(1)} on ${cpus().length} cores${load > cpus().length ? ": these measurements are worth little" : ""}`,
);
process.exitCode = failed ? 1 : 0;
