/**
 * A hostile deployment and its build on a platform that requires no key from programs on the machine (`heddle up` on
 * loopback). A deployment with its own system user needs a key at every port; without isolation every request succeeds,
 * which shows that the requests are real.
 */
import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, afterEach, expect, test, vi } from "vitest";

import { tryIsolation } from "../../server/src/control/drivers/process/isolation/choose-isolation.ts";
import type { IsolationKind } from "../../server/src/control/drivers/process/isolation/isolation.ts";
import type { Call } from "../../server/test/call.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../server/test/deploy.ts";
import { findProcesses } from "../crash/control-process.ts";
import { LAUNCHER, startPrinted } from "./printed-platform.ts";

const SLOW = 240_000;

/** Sends requests without a key, and some whose sender disconnects before they are answered. */
const ATTACK = `import { once } from "node:events";
import { connect } from "node:net";

export async function attack({ requests, blind }) {
  const statuses = {};
  for (const [name, { url, method, body }] of Object.entries(requests)) {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(20_000) });
    statuses[name] = answer.status;
    await answer.text();
  }
  // the shorter waits end before the answer; a busy server begins within the longer ones only
  const disconnect = async (target, waitMs, isReset) => {
    const { host, hostname, port, pathname } = new URL(target);
    const socket = connect(Number(port), hostname).on("error", () => {});
    await once(socket, "connect");
    await new Promise((done) => socket.write("DELETE " + pathname + " HTTP/1.1\\r\\nHost: " + host + "\\r\\n\\r\\n", done));
    await new Promise((done) => setTimeout(done, waitMs));
    if (isReset) socket.resetAndDestroy();
    else socket.destroy();
  };
  for (const waitMs of [4, 20, 100, 500, 2_500])
    await Promise.all(blind.map((target, index) => disconnect(target, waitMs, index % 2 === 0)));
  return statuses;
}
`;

const PROJECT = {
  "package.json": JSON.stringify({ name: "hostile", type: "module", scripts: { postinstall: "node postinstall.mjs" } }),
  "langgraph.json": JSON.stringify({ graphs: { hostile: "./graph.mjs:graph" } }),
  "attack.mjs": ATTACK,
  "postinstall.mjs": `import { readFileSync } from "node:fs";
import { attack } from "./attack.mjs";
const { requests, builds: blind } = JSON.parse(readFileSync("targets.json", "utf8"));
console.log("OUTCOME " + JSON.stringify(await attack({ requests, blind })));
`,
  "graph.mjs": `import { Annotation, StateGraph } from "@langchain/langgraph";
import { attack } from "./attack.mjs";
const State = Annotation.Root({ requests: Annotation(), blind: Annotation(), statuses: Annotation() });
export const graph = new StateGraph(State).addNode("attack", async (state) => ({ statuses: await attack(state) }))
  .addEdge("__start__", "attack").addEdge("attack", "__end__").compile();
`,
};

const directory = testDataDirectory();
mkdirSync(join(directory, "control"));
let child: ChildProcess | undefined;
let at: Record<"control" | "trace" | "console", string>;

async function start(mode: IsolationKind): Promise<void> {
  const args = ["up", "--control-port", "0", "--trace-port", "0", "--console-port", "0", "--data-dir", directory];
  const started = await startPrinted(args, {
    HOME: directory,
    HEDDLE_PROCESS_ISOLATION: mode,
    HEDDLE_MIN_HEALTHY_MS: "100",
    HEDDLE_DRAIN_SECONDS: "2",
  });
  child = started.child;
  at = { control: started.url("Control"), trace: started.url("Traces"), console: started.url("Console") };
}

afterEach(async () => {
  if (child?.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
});
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));

const call: Call = async (method, path, body, headers = {}) => {
  const url = path.startsWith("http") ? path : at.control + path;
  const isBytes = body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
    ...(body !== undefined && { body: (isBytes ? body : JSON.stringify(body)) as string }),
  });
  // a slow answer begins with line feeds
  const text = (await response.text()).trim();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: /^[[{]/.test(text) ? JSON.parse(text) : undefined,
  };
};

interface TargetRequest {
  url: string;
  method: string;
  body?: object;
}

/** Returns requests to every port of the platform and of a neighbour. */
async function targets(): Promise<Record<string, TargetRequest>> {
  const { json } = await call("GET", "/v2/deployments?name_contains=neighbour");
  const known = (json.resources as { id: string }[])[0];
  const id = known?.id ?? (await createDeployment(call, "neighbour"));
  if (!known) {
    const revision = await deployArchive(call, id, createArchive(graphProject("word")));
    await untilStatus(call, id, revision, "DEPLOYED", SLOW);
  }
  const instance = await vi.waitUntil(
    async () => {
      const { json: instances } = await call("GET", `/v2/deployments/${id}/instances`);
      return (instances.resources as { id: string; state: string }[]).find(({ state }) => state === "ready")?.id;
    },
    { timeout: SLOW, interval: 100 },
  );
  const pid = findProcesses(instance, "--role\0agent").at(-1)!;
  const port = /--port\0(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))![1]!;
  const run = { method: "POST", body: { assistant_id: "echo", input: { text: "x" } } };
  return {
    "list deployments": { url: `${at.control}/v2/deployments`, method: "GET" },
    "delete a missing deployment": { url: `${at.control}/v2/deployments/${crypto.randomUUID()}`, method: "DELETE" },
    "list deployments with a malformed key": { url: `${at.control}/v2/deployments?api_key=x`, method: "GET" },
    "read projects": { url: `${at.trace}/api/v1/sessions`, method: "GET" },
    "read the workspace": { url: `${at.trace}/api/v1/workspaces`, method: "GET" },
    "use the console": { url: `${at.console}/api/control/v2/deployments`, method: "GET" },
    "run a neighbour through the gateway": { url: `${at.control}/d/neighbour/runs/wait`, ...run },
    "run a neighbour at its own port": { url: `http://127.0.0.1:${port}/runs/wait`, ...run },
    "read what is public": { url: `${at.control}/info`, method: "GET" },
  };
}

/** Names of tracing projects that the hostile deployment tries to delete. */
const VICTIMS = ["built-0", "built-1", "ran-0", "ran-1"];

/** Creates the victims anew and returns their addresses. */
async function makeVictims(): Promise<string[]> {
  const created = [];
  for (const name of VICTIMS) {
    await forget(name);
    const { json, text } = await call("POST", `${at.trace}/api/v1/sessions`, { name });
    expect(text).toContain('"id"');
    created.push(`${at.trace}/api/v1/sessions/${json.id as string}`);
  }
  return created;
}

/** Deploys the hostile project. @returns the statuses that its postinstall and its graph got */
async function deployHostile(name: string, requests: Record<string, TargetRequest>) {
  const victims = await makeVictims();
  const id = await createDeployment(call, name);
  const files = { ...PROJECT, "targets.json": JSON.stringify({ requests, builds: victims.slice(0, 2) }) };
  const revision = await deployArchive(call, id, createArchive(files));
  await untilStatus(call, id, revision, "DEPLOYED", SLOW);
  const line = (await logLines(call, id, revision, "build")).find((text) => text.startsWith("OUTCOME "));
  const input = { requests, blind: victims.slice(2) };
  const post = await call("POST", `/d/${name}/runs/wait`, { assistant_id: "hostile", input });
  expect(`${post.status} ${post.text}`).toMatch(/^200 \{.*"statuses":/s);
  return { built: JSON.parse(line!.slice(8)) as object, ran: post.json.statuses as object };
}

/** Deletes a tracing project, as this test's user, unless it is already gone. */
async function forget(name: string): Promise<void> {
  const { json } = await call("GET", `${at.trace}/api/v1/sessions?name=${name}`);
  for (const { id } of json as { id: string }[]) await call("DELETE", `${at.trace}/api/v1/sessions/${id}`);
}

const projects = async (): Promise<string[]> =>
  ((await call("GET", `${at.trace}/api/v1/sessions?limit=100`)).json as { name: string }[]).map(({ name }) => name);

test("without isolation a deployment uses a keyless platform like any program", { timeout: SLOW }, async () => {
  await start("none");
  const { built, ran } = await deployHostile("open", await targets());
  for (const statuses of [built, ran]) {
    expect(Object.values(statuses).filter((status) => status === 401 || status === 403)).toEqual([]);
    expect(statuses).toMatchObject({ "list deployments": 200, "run a neighbour at its own port": 200 });
  }
  const left = async () => (await projects()).filter((name) => VICTIMS.includes(name));
  await vi.waitUntil(async () => (await left()).length < VICTIMS.length, { timeout: 20_000 });
  for (const name of await left()) await forget(name);
});

for (const mode of ["bubblewrap", "user"] as const) {
  const settings = { processIsolation: mode, processReadable: "" };
  const tried = await tryIsolation(mode, { directory: join(directory, "control"), launcher: LAUNCHER, settings });
  test.skipIf("problem" in tried || !tried.isolation.hasUsers)(
    `${mode}: a keyless platform requires a key from deployments only`,
    { timeout: SLOW },
    async () => {
      await start(mode);
      const requests = await targets();
      const { built, ran } = await deployHostile(`hostile-${mode}`, requests);
      const rejected = {
        "list deployments": 401,
        "delete a missing deployment": 401,
        "list deployments with a malformed key": 401,
        "read projects": 401,
        "read the workspace": 401,
        "use the console": 403,
        "run a neighbour through the gateway": 403,
        "run a neighbour at its own port": 401,
        "read what is public": 200,
      };
      expect(built).toEqual(rejected);
      expect(ran).toEqual(rejected);
      // its own traces arrive, with the key in its environment
      await vi.waitUntil(async () => (await projects()).includes(`hostile-${mode}`), {
        timeout: 30_000,
        interval: 200,
      });
      expect((await projects()).filter((name) => VICTIMS.includes(name)).toSorted()).toEqual(VICTIMS);
      for (const name of VICTIMS) await forget(name);
      // this test's user, and another user of the machine
      for (const { url, method, body } of Object.values(requests)) {
        expect([url, (await call(method, url, body)).status]).toEqual([url, method === "DELETE" ? 404 : 200]);
      }
      const script = `fetch("${at.control}/v2/deployments").then((answer) => console.log(answer.status))`;
      expect(execFileSync(process.execPath, ["-e", script], { uid: 1000, gid: 1000, cwd: "/", encoding: "utf8" })).toBe(
        "200\n",
      );
    },
  );
}
