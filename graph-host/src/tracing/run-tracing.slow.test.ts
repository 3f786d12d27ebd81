import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { HostProcess } from "../../test/host-process.ts";

interface Piece {
  id: string;
  name?: string;
  error?: string;
  session_name?: string;
  parent_run_id?: string;
  end_time?: unknown;
}

const servers: Server[] = [];
const hosts: HostProcess[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Starts another receiver of traces, which may never answer. */
async function receiver(isDeaf = false) {
  const pieces: Piece[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    let body = "";
    requests += 1;
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (isDeaf) return;
      if (request.url === "/info") return response.end('{"batch_ingest_config":{"use_multipart_endpoint":false}}');
      const { post, patch } = JSON.parse(body) as { post: Piece[]; patch: Piece[] };
      pieces.push(...post, ...patch);
      response.writeHead(202).end("{}");
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const root = (id: string) => pieces.find((piece) => piece.id === id && piece.end_time);
  return { url, pieces, root, requests: () => requests };
}

async function startTracedHost(env: Record<string, string> = {}): Promise<HostProcess> {
  const graphs = { echo: "./echo.ts:graph" };
  const host = await HostProcess.start("agents", graphs, { LANGSMITH_TRACING: "", LANGSMITH_PROJECT: "", ...env });
  hosts.push(host);
  return host;
}

const kwargs = { input: { messages: "hi" } };
/** The client batches for a quarter of a second. */
const DELIVERED = { timeout: 20_000 };

test("sends nothing before the platform is set, and nothing of rehearsals", async () => {
  const { url, pieces } = await receiver();
  const host = await startTracedHost({ LANGSMITH_PROJECT: "mine" });
  await host.run("echo", kwargs);
  host.send({ t: "trace.to", to: { state: "on", url, key: null } });
  const run = await host.run("echo", kwargs);
  await expect.poll(() => pieces.length, DELIVERED).toBe(3);
  const [root] = pieces.filter((piece) => !piece.parent_run_id);
  expect(root).toMatchObject({ id: run.runId, name: "LangGraph", session_name: "mine" });
});

test("delivers a trace whose example or project name is invalid", async () => {
  const { url, pieces } = await receiver();
  const host = await startTracedHost();
  host.send({ t: "trace.to", to: { state: "on", url, key: null } });
  const example = "01a1fe61-149d-7000-a1fb-693caeeeca93";
  const traced = async (configurable: Record<string, unknown>) => {
    const run = await host.run("echo", { ...kwargs, config: { configurable } });
    const root = () => pieces.find((piece) => piece.id === run.runId);
    await expect.poll(root, DELIVERED).toBeDefined();
    return root();
  };
  const odd = await traced({ langsmith_example_id: "nobody", langsmith_project: "p".repeat(1025) });
  expect(odd).not.toHaveProperty("reference_example_id", "nobody");
  expect(odd!.session_name).toBe("default");
  expect(await traced({ langsmith_example_id: example, langsmith_project: "p" })).toMatchObject({
    reference_example_id: example,
    session_name: "p",
  });
});

test("delivers runs from before the platform was available, also when the host drains at once", async () => {
  const { url, root } = await receiver();
  const host = await startTracedHost();
  host.send({ t: "trace.to", to: { state: "waiting" } });
  const early = await host.run("echo", kwargs);
  host.send({ t: "trace.to", to: { state: "on", url, key: null } });
  const late = await host.run("echo", kwargs);
  host.send({ t: "drain" });
  expect(await host.exited).toEqual({ code: 0, signal: null });
  expect(root(early.runId)).toBeDefined();
  expect(root(late.runId)).toBeDefined();
});

test("answers flush after delivery, and within its limit when the platform does not answer", async () => {
  const { url, root } = await receiver();
  const host = await startTracedHost();
  host.send({ t: "trace.to", to: { state: "on", url, key: null } });
  const run = await host.run("echo", kwargs);
  const flushed = () => host.frame(({ t }) => t === "trace.flushed");
  let answer = flushed();
  host.send({ t: "trace.flush", ms: 5000 });
  await answer;
  expect(root(run.runId)).toBeDefined();

  const deaf = await receiver(true);
  host.send({ t: "trace.to", to: { state: "on", url: deaf.url, key: null } });
  await host.run("echo", kwargs);
  answer = flushed();
  const requestedAt = Date.now();
  host.send({ t: "trace.flush", ms: 500 });
  await answer;
  expect(Date.now() - requestedAt).toBeLessThan(10_000);
});

test("a platform that never answers does not delay runs", async () => {
  const deaf = await receiver(true);
  const host = await startTracedHost();
  host.send({ t: "trace.to", to: { state: "on", url: deaf.url, key: null } });
  for (let n = 0; n < 20; n++) expect((await host.run("echo", kwargs)).outcome.outcome).toBe("success");
  await expect.poll(() => deaf.requests(), DELIVERED).toBe(1);
  const { runId } = await host.run("echo", kwargs);
  expect(runId).toBeTruthy();
  expect(host.stderr.join("")).toBe("");
});

test("traces once to each platform when the environment names another one", async () => {
  const [ours, theirs] = [await receiver(), await receiver()];
  const host = await startTracedHost({
    LANGSMITH_TRACING: "true",
    LANGSMITH_ENDPOINT: theirs.url,
    LANGSMITH_API_KEY: "theirs",
  });
  host.send({ t: "trace.to", to: { state: "on", url: ours.url, key: null } });
  const { runId } = await host.run("echo", kwargs);
  for (const { pieces, root } of [ours, theirs]) {
    await expect.poll(() => root(runId), DELIVERED).toBeDefined();
    expect(new Set(pieces.map(({ id }) => id)).size).toBe(3);
  }
  // the environment names Heddle's platform as well: once is enough
  const same = await startTracedHost({
    LANGSMITH_TRACING: "true",
    LANGSMITH_ENDPOINT: ours.url,
    LANGSMITH_API_KEY: "k",
  });
  same.send({ t: "trace.to", to: { state: "on", url: ours.url, key: null } });
  const before = ours.pieces.length;
  const second = await same.run("echo", kwargs);
  await expect.poll(() => ours.root(second.runId), DELIVERED).toBeDefined();
  await new Promise((later) => setTimeout(later, 600));
  expect(ours.pieces.length - before).toBe(3);
});

test("follows the environment's settings of what is traced", async () => {
  const { url, pieces, root } = await receiver();
  const traced = async (env: Record<string, string>) => {
    const host = await startTracedHost(env);
    host.send({ t: "trace.to", to: { state: "on", url, key: null } });
    const { runId } = await host.run("echo", kwargs);
    host.send({ t: "drain" });
    await host.exited;
    return runId;
  };
  const hidden = await traced({ LANGSMITH_HIDE_INPUTS: "true", LANGSMITH_HIDE_OUTPUTS: "true" });
  expect(root(hidden)).toMatchObject({ inputs: {}, outputs: {} });
  expect(pieces).toHaveLength(3);
  for (const piece of pieces) expect(piece).toMatchObject({ inputs: {}, outputs: {} });
  await traced({ LANGSMITH_TRACING_SAMPLING_RATE: "0" });
  expect(pieces).toHaveLength(3);
});

test("masks traces before they leave the process, and all values when the setting cannot be read", async () => {
  const { url, pieces, root } = await receiver();
  const traced = async (setting: string) => {
    const host = await startTracedHost({ HEDDLE_TRACE_MASKING: setting });
    host.send({ t: "trace.to", to: { state: "on", url, key: null } });
    const { runId } = await host.run("echo", { input: { messages: "write to ada@example.com" } });
    host.send({ t: "drain" });
    await host.exited;
    return runId;
  };
  const masked = await traced("email,secret");
  expect(root(masked)).toMatchObject({ inputs: { messages: "write to [email]" } });
  expect(JSON.stringify(pieces)).not.toContain("ada@example.com");
  const unread = await traced("emails");
  expect(root(unread)).toMatchObject({ inputs: {}, outputs: {} });
  expect(JSON.stringify(pieces)).not.toContain("ada@example.com");
});

test("another host closes a trace whose host died", async () => {
  const { url, root } = await receiver();
  const host = await startTracedHost();
  host.send({ t: "trace.to", to: { state: "on", url, key: null } });
  const id = "0b0d1f4e-7c55-4f5c-9c1a-3d4b8d7a2c11";
  const lost = {
    name: "LangGraph",
    start_time: new Date().toISOString(),
    inputs: { a: 1 },
    metadata: { thread_id: "t" },
  };
  host.send({ t: "trace.close" }, { run_id: id, error: "The graph host died.", ...lost });
  await expect
    .poll(() => root(id), DELIVERED)
    .toMatchObject({ error: "The graph host died.", session_name: "default" });
});
