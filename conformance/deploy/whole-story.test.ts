/**
 * The whole service with unmodified clients (service-interface §1): a project is deployed, a run on it reports its end
 * to a webhook and issues a feedback link, its trace is on the platform, takes feedback, and is exported to a bucket.
 */
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type FauxqsServer, startFauxqs } from "fauxqs";
import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { Client } from "langgraph-sdk-v1";
import { Client as TraceClient } from "langsmith";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { langgraphjs, type Platform, startPlatform, writeProject } from "./platform.ts";

const project = writeProject({
  "langgraph.json": JSON.stringify({ node_version: "20", graphs: { echo: "./graph.mjs:graph" } }),
  "package.json": JSON.stringify({ name: "a-project", version: "1.0.0", type: "module" }),
  "graph.mjs": `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation(), loud: Annotation() });
export const graph = new StateGraph(State).addNode("one", ({ text }) => ({ loud: text.toUpperCase() }))
  .addEdge("__start__", "one").addEdge("one", "__end__").compile();
`,
});

let platform: Platform;
let bucket: FauxqsServer;
const received: Record<string, unknown>[] = [];
const receiver = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  request.on("end", () => {
    received.push(JSON.parse(text) as Record<string, unknown>);
    response.end("ok");
  });
});

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  bucket = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  bucket.setup({ buckets: ["traces"] });
  // both are on this machine, which outbound calls may not reach unless the operator allows it
  platform = await startPlatform({ HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32" });
}, 100_000);
afterAll(async () => {
  await platform.stop();
  receiver.close();
  await bucket.stop();
  rmSync(project, { recursive: true, force: true });
}, 200_000);

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(platform.traces + path, {
    method,
    headers: { "x-api-key": platform.key, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(`${method} ${path}: ${answer.status} ${text}`).toMatch(/: 20\d /);
  return JSON.parse(text) as T;
}

/** Reads the rows of all Parquet files of an export. */
async function exportedRows(id: string): Promise<Record<string, unknown>[]> {
  const store = `http://127.0.0.1:${bucket.port}/traces`;
  const listed = await (await fetch(`${store}?list-type=2`)).text();
  const keys = [...listed.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!);
  const files = keys.filter((key) => key.includes(id) && key.endsWith(".parquet"));
  const rows: Record<string, unknown>[] = [];
  for (const key of files) {
    const answer = await fetch(`${store}/${key.split("/").map(encodeURIComponent).join("/")}`);
    const file = await answer.arrayBuffer();
    rows.push(...((await parquetReadObjects({ file, compressors })) as Record<string, unknown>[]));
  }
  return rows;
}

test("a project is deployed, run, traced, scored and exported, and its webhook is called", async () => {
  const options = ["--host-url", platform.control, "--api-key", platform.key, "--remote", "--no-input", "--json"];
  const deployed = await langgraphjs(project, ["deploy", "--name", "storied", ...options]);
  const result = JSON.parse(deployed.output.trim().split("\n").at(-1)!) as { status: string; url: string };
  expect(result).toMatchObject({ status: "succeeded", url: `${platform.control}/d/storied` });

  const began = new Date(Date.now() - 60_000);
  const agents = new Client({ apiUrl: result.url, apiKey: platform.key });
  const thread = await agents.threads.create();
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told?token=secret`;
  const frames: { event: string; data: unknown }[] = [];
  const payload = { input: { text: "hi" }, streamMode: "values" as const, feedbackKeys: ["thumbs"], webhook };
  for await (const frame of agents.runs.stream(thread.thread_id, "echo", payload)) frames.push(frame);
  const { run_id: run } = frames[0]!.data as { run_id: string };
  expect(frames.findLast((frame) => frame.event === "values")!.data).toMatchObject({ loud: "HI" });

  await vi.waitUntil(() => received.length > 0, { timeout: 15_000 });
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ run_id: run, thread_id: thread.thread_id, status: "success" });
  expect(received[0]!["values"]).toMatchObject({ loud: "HI" });

  const { thumbs } = frames.at(-1)!.data as { thumbs: string };
  expect(new URL(thumbs).origin).toBe(platform.traces);
  // the link is the credential
  expect((await fetch(`${thumbs}?score=1&comment=fine`)).status).toBe(200);
  const traces = new TraceClient({ apiUrl: platform.traces, apiKey: platform.key });
  await traces.createFeedback(run, "quality", { score: 0.5 });
  const given = await vi.waitUntil(
    async () => {
      const all = [];
      for await (const entry of traces.listFeedback({ runIds: [run] })) all.push([entry.key, entry.score]);
      return all.length === 2 && all.toSorted();
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(given).toEqual([
    ["quality", 0.5],
    ["thumbs", 1],
  ]);
  // the batch of the trace is in flight while the run's answer is read
  const trace = await vi.waitFor(() => traces.readRun(run), { timeout: 20_000, interval: 200 });
  expect(trace).toMatchObject({ name: "LangGraph", outputs: { loud: "HI" } });
  const session = await traces.readProject({ projectName: "storied" });
  expect(trace.session_id).toBe(session.id);

  const destination = await api<{ id: string }>("POST", "/api/v1/bulk-exports/destinations", {
    display_name: "a bucket",
    config: {
      bucket_name: "traces",
      prefix: "exports",
      endpoint_url: `http://127.0.0.1:${bucket.port}`,
      region: "us-east-1",
    },
    credentials: { access_key_id: "id", secret_access_key: "secret" },
  });
  const made = await api<{ id: string }>("POST", "/api/v1/bulk-exports", {
    bulk_export_destination_id: destination.id,
    session_id: session.id,
    start_time: began.toISOString(),
    end_time: new Date(Date.now() + 1000).toISOString(),
    format_version: "v2_beta",
  });
  const over = await vi.waitUntil(
    async () => {
      const { status } = await api<{ status: string }>("GET", `/api/v1/bulk-exports/${made.id}`);
      return !/CREATED|RUNNING/i.test(status) && status;
    },
    { timeout: 60_000, interval: 250 },
  );
  expect(over).toMatch(/^completed$/i);
  const rows = await exportedRows(made.id);
  const root = rows.find((row) => row["id"] === run);
  expect(root).toMatchObject({ name: "LangGraph", status: "success" });
  expect(String(root!["outputs"])).toContain("HI");
  // the run, and the nodes below it
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.every((row) => row["trace_id"] === run)).toBe(true);
}, 200_000);
