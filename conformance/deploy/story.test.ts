/**
 * A deployment from start to finish with unmodified clients: the official command-line client deploys a project to
 * `heddle up`, the official SDK runs it at its address, the trace of the run is on the platform, and gets feedback
 * there.
 */
import { rmSync } from "node:fs";

import { Client } from "langgraph-sdk-v1";
import { Client as TraceClient } from "langsmith";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { follow, heddle, langgraphjs, type Platform, startPlatform, writeProject } from "./platform.ts";

const graph = (word: string) => `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation(), word: Annotation(), greeting: Annotation() });
const greet = async () => {
  console.log("a line of ${word}");
  return { word: "${word}", greeting: process.env.GREETING ?? null };
};
export const graph = new StateGraph(State).addNode("one", greet).addEdge("__start__", "one").addEdge("one", "__end__").compile();
`;
const files = (word: string) => ({
  "langgraph.json": JSON.stringify({ node_version: "20", graphs: { echo: "./graph.mjs:graph" }, env: ".env" }),
  "package.json": JSON.stringify({ name: "a-project", version: "1.0.0", type: "module" }),
  ".env": "GREETING=hello\nLANGCHAIN_PROJECT=reserved\n",
  "graph.mjs": graph(word),
});

let platform: Platform;
const projects: string[] = [];
const project = (word: string, more: Record<string, string> = {}): string => {
  const made = writeProject({ ...files(word), ...more });
  projects.push(made);
  return made;
};
beforeAll(async () => {
  platform = await startPlatform();
}, 100_000);
afterAll(async () => {
  await platform.stop();
  for (const directory of projects) rmSync(directory, { recursive: true, force: true });
}, 200_000);

const deploy = (directory: string, options: string[] = [], url = platform.control, key = platform.key) =>
  langgraphjs(directory, [
    ...["deploy", "--host-url", url, "--api-key", key, "--remote", "--no-input", "--name", "my-agent"],
    ...options,
  ]);
const lastLine = (output: string) => JSON.parse(output.trim().split("\n").at(-1)!) as Record<string, string>;
const runIt = async (): Promise<Record<string, unknown>> => {
  const client = new Client({ apiUrl: `${platform.control}/d/my-agent`, apiKey: platform.key });
  return (await client.runs.wait(null, "echo", { input: { text: "x" } })) as Record<string, unknown>;
};
let id = "";

test("deploy builds remotely and prints an address that serves the project", async () => {
  const { code, output } = await deploy(project("first"), ["--json"]);
  expect(lastLine(output)).toMatchObject({ event: "result", status: "succeeded" });
  expect(code).toBe(0);
  const result = lastLine(output);
  id = result["deployment_id"]!;
  expect((await fetch(`${result["url"]}/ok`)).status).toBe(200);
  expect(await runIt()).toMatchObject({ word: "first", greeting: "hello" });
  expect((await fetch(`${result["url"]}/threads/x`)).status).toBe(401);
}, 120_000);

test("rejects a deploy with a wrong key", async () => {
  const { code, output } = await deploy(project("nobody"), ["--json"], platform.control, "lsv2_sk_nobody");
  expect(code).not.toBe(0);
  expect(output).toContain("401");
});

test("a deployment's address enforces the permissions and the revocation of a key", async () => {
  const made = await fetch(`${platform.traces}/api/v1/api-key`, {
    method: "POST",
    headers: { "x-api-key": platform.key, "content-type": "application/json" },
    body: JSON.stringify({ description: "only reads", read_only: true }),
  });
  const { key, id: keyId } = (await made.json()) as { key: string; id: string };
  const ask = async (method: string, path: string, given: string) => {
    const headers = { "x-api-key": given, "content-type": "application/json" };
    const answer = await fetch(`${platform.control}/d/my-agent${path}`, { method, headers, body: "{}" });
    await answer.body?.cancel();
    return answer.status;
  };
  expect(await ask("POST", "/threads/search", key)).toBe(200);
  expect(await ask("POST", "/threads", key)).toBe(403);
  expect(await ask("POST", "/threads/search", "lsv2_sk_nobody")).toBe(401);
  await fetch(`${platform.traces}/api/v1/api-key/${keyId}`, {
    method: "DELETE",
    headers: { "x-api-key": platform.key },
  });
  await vi.waitUntil(async () => (await ask("POST", "/threads/search", key)) === 401, {
    timeout: 5_000,
    interval: 100,
  });
});

test("a run's trace is in the project named after the deployment, and accepts feedback", async () => {
  const traces = new TraceClient({ apiUrl: platform.traces, apiKey: platform.key });
  const { id: run } = await vi.waitUntil(
    async () => {
      // the first trace creates the project
      if (!(await traces.hasProject({ projectName: "my-agent" }))) return undefined;
      for await (const run of traces.listRuns({ projectName: "my-agent", isRoot: true, limit: 1 })) return run;
      return undefined;
    },
    { timeout: 15_000, interval: 250 },
  );
  const feedback = await traces.createFeedback(run, "quality", { score: 1 });
  const kept = await traces.readFeedback(feedback.id);
  expect(kept).toMatchObject({ run_id: run, key: "quality", score: 1 });
});

test("a second deploy, below /api-host, creates one new revision and replaces the first", async () => {
  // the client polls every 3 s, and reads the log only during the build
  const slow = { name: "a-project", version: "1.0.0", type: "module", scripts: { preinstall: "sleep 5" } };
  const headers = { "x-api-key": platform.key };
  const shown = await fetch(`${platform.control}/v2/deployments/${id}`, { headers });
  const { tenant_id: tenant } = (await shown.json()) as { tenant_id: string };
  // the client names its workspace by a header
  const environment = `${files("second")[".env"]}LANGSMITH_TENANT_ID=${tenant}\n`;
  const second = project("second", { "package.json": JSON.stringify(slow), ".env": environment });
  const { code, output } = await deploy(second, ["--verbose"], `${platform.control}/api-host`);
  expect(output).toContain("Deployment successful");
  expect(code).toBe(0);
  expect(output.split("\n").filter((line) => line.includes("Unpacked"))).toHaveLength(1);
  expect(await runIt()).toMatchObject({ word: "second" });
  const listed = await langgraphjs(projects[0]!, [
    ...["deploy", "revisions", "list", id, "--host-url", platform.control, "--api-key", platform.key],
  ]);
  expect(listed.output.match(/DEPLOYED|REPLACED/g)).toEqual(["DEPLOYED", "REPLACED"]);
}, 120_000);

test("a broken build exits with 1 and its last log lines, and the previous revision keeps serving", async () => {
  const broken = project("third", { "package-lock.json": "{" });
  const { code, output } = await deploy(broken);
  expect(code).toBe(1);
  expect(output).toContain("npm ci");
  expect(await runIt()).toMatchObject({ word: "second" });
}, 60_000);

test("list shows the deployment, and logs show its output without keys", async () => {
  const options = ["--host-url", platform.control, "--api-key", platform.key];
  const list = await langgraphjs(projects[0]!, ["deploy", "list", ...options]);
  expect(list.output).toContain(`${platform.control}/d/my-agent`);
  const logs = await langgraphjs(projects[0]!, ["deploy", "logs", "--deployment-id", id, ...options]);
  expect(logs.output).toContain("a line of second");
  expect(logs.output).not.toContain(platform.key);
  expect(logs.output).not.toMatch(/lsv2_sk_[0-9a-f]{16}/);
});

test("following the logs shows each line of a run once, within seconds", async () => {
  const options = ["--host-url", platform.control, "--api-key", platform.key];
  const followers = [
    follow("langgraphjs", projects[0]!, ["deploy", "logs", "--deployment-id", id, "-f", ...options]),
    follow("heddle", projects[0]!, ["logs", "my-agent", "-f", "--url", platform.control, "--api-key", platform.key]),
  ];
  const lines = ({ output }: (typeof followers)[number]) => output().match(/a line of second/g)?.length ?? 0;
  try {
    // they begin with earlier lines
    await vi.waitUntil(() => followers.every((follower) => lines(follower) > 0), { timeout: 20_000 });
    const before = followers.map(lines);
    await runIt();
    await runIt();
    await vi.waitUntil(() => followers.every((follower, n) => lines(follower) >= before[n]! + 2), { timeout: 15_000 });
    // and no line is repeated
    await new Promise((done) => setTimeout(done, 3000));
    expect(followers.map(lines)).toEqual(before.map((count) => count + 2));
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
  }
}, 60_000);

test("heddle deploy, revisions, rollback and logs work like the official commands", async () => {
  const env = { HEDDLE_CONTROL_URL: platform.control, HEDDLE_API_KEY: platform.key };
  const deployed = await heddle(project("fourth"), ["deploy", "--name", "my-agent"], env);
  expect(deployed.output).toContain(`${platform.control}/d/my-agent`);
  expect(deployed.output).toContain("Skipped variables that the platform sets: LANGCHAIN_PROJECT");
  expect(deployed.code).toBe(0);
  expect(await runIt()).toMatchObject({ word: "fourth", greeting: "hello" });
  const back = await heddle(projects[0]!, ["rollback", "my-agent"], env);
  expect(back.code).toBe(0);
  expect(await runIt()).toMatchObject({ word: "second" });
  const revisions = await heddle(projects[0]!, ["revisions", "my-agent"], env);
  expect(revisions.output.match(/serves|replaced|BUILD_FAILED/g)?.slice(0, 3)).toEqual([
    "serves",
    "replaced",
    "BUILD_FAILED",
  ]);
  expect((await heddle(projects[0]!, ["logs", "my-agent", "--query", "line of fourth"], env)).output).toContain("INFO");
  const failed = await heddle(project("x", { "langgraph.json": '{"graphs":{}}' }), ["deploy", "--name", "bad"], env);
  expect(failed.code).toBe(1);
  expect(failed.output).toContain("must name at least one graph");
}, 150_000);

test("delete removes the deployment and its address", async () => {
  const options = ["--host-url", platform.control, "--api-key", platform.key];
  expect((await langgraphjs(projects[0]!, ["deploy", "delete", id, "--force", ...options])).code).toBe(0);
  const headers = { "x-api-key": platform.key };
  const gone = async () => (await fetch(`${platform.control}/v2/deployments/${id}`, { headers })).status === 404;
  await vi.waitUntil(gone, { timeout: 20_000, interval: 100 });
  expect((await fetch(`${platform.control}/d/my-agent/ok`)).status).toBe(404);
}, 40_000);
