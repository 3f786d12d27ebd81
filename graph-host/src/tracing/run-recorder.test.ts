import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import type { RunTree } from "langsmith";
import { afterEach, expect, test } from "vitest";

import { Outbox } from "./outbox.ts";
import { RunRecorder, type TracePolicy } from "./run-recorder.ts";

type Sent = Record<string, unknown> & { id: string };
type Batch = { post: Sent[]; patch: Sent[] };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function recorder() {
  const batches: Batch[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      batches.push(JSON.parse(body) as Batch);
      response.writeHead(202).end("{}");
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const outbox = new Outbox({ maxBytes: 32 * 1024 * 1024, log: () => {} });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  outbox.direct({ state: "on", url, key: null });
  const options = { environment: {}, hideInputs: false, hideOutputs: false, hideMetadata: false };
  return { recorder: new RunRecorder(outbox, options), outbox, batches };
}

const tracer = {} as TracePolicy;
const tree = (fields: object = {}) =>
  ({ id: crypto.randomUUID(), name: "n", inputs: { a: 1 }, extra: {}, ...fields }) as unknown as RunTree;

test("sends a run that ends within its batch once, and the start of one that continues before its end", async () => {
  const { recorder: runs, batches } = await recorder();
  const [short, long] = [tree(), tree()];
  runs.begin(short, tracer);
  runs.begin(long, tracer);
  runs.end(Object.assign(short, { outputs: { b: 2 } }), tracer);
  await expect.poll(() => batches.length).toBe(1);
  expect(batches[0]!.post).toMatchObject([{ id: short.id, inputs: { a: 1 }, outputs: { b: 2 } }, { id: long.id }]);
  expect(batches[0]!.post[1]).not.toHaveProperty("outputs");
  runs.end(Object.assign(long, { outputs: { b: 3 } }), tracer);
  await expect.poll(() => batches.length, { timeout: 3000 }).toBe(2);
  expect(batches[1]).toMatchObject({ post: [], patch: [{ id: long.id, outputs: { b: 3 } }] });
  // the start contained it
  expect(batches[1]!.patch[0]).not.toHaveProperty("inputs");
});

test("sends the root of a later attempt as an update, with the run's input", async () => {
  const { recorder: runs, outbox, batches } = await recorder();
  const [root, child] = [tree({ inputs: {} }), tree()];
  runs.retry(root.id, { question: 1 });
  runs.begin(root, tracer);
  runs.begin(child, tracer);
  runs.end(root, tracer);
  runs.flush();
  expect(await outbox.flush(2000)).toBe(true);
  expect(batches).toMatchObject([{ post: [{ id: child.id }], patch: [{ id: root.id, inputs: { question: 1 } }] }]);
});

test("sends the start of a first attempt before that of the second in the same process", async () => {
  const { recorder: runs, outbox, batches } = await recorder();
  const [first, second] = [tree({ id: "run" }), tree({ id: "run", inputs: {} })];
  runs.begin(first, tracer);
  runs.retry("run", { a: 2 });
  runs.begin(second, tracer);
  runs.end(first, tracer);
  runs.end(second, tracer);
  runs.flush();
  expect(await outbox.flush(2000)).toBe(true);
  const kinds = batches.map(({ post, patch }) => [...post.map(() => "post"), ...patch.map(() => "patch")]);
  expect(kinds).toEqual([["post"], ["patch"], ["patch"], ["patch"]]);
  expect(batches[0]!.post[0]).toMatchObject({ inputs: { a: 1 } });
  expect(batches[1]!.patch[0]).toMatchObject({ inputs: { a: 2 } });
});

test("sends larger requests rather than more under load", async () => {
  const { recorder: runs, outbox, batches } = await recorder();
  const until = performance.now() + 900;
  let recorded = 0;
  while (performance.now() < until) {
    runs.begin(tree(), tracer);
    recorded += 1;
    await new Promise((later) => setTimeout(later, 1));
  }
  runs.flush();
  expect(await outbox.flush(5000)).toBe(true);
  expect(batches.reduce((sum, { post }) => sum + post.length, 0)).toBe(recorded);
  // one after the delay of the first run, one for the rest
  expect(batches.length).toBeLessThanOrEqual(2);
});

test("closes a batch when it is large, and then expects large runs", async () => {
  const { recorder: runs, batches } = await recorder();
  const text = "x".repeat(3 * 1024 * 1024);
  for (let n = 0; n < 4; n++) runs.begin(tree({ inputs: { text } }), tracer);
  await expect.poll(() => batches.map(({ post }) => post.length), { timeout: 5000 }).toEqual([2, 2]);
  // without the delay
  for (let n = 0; n < 2; n++) runs.begin(tree({ inputs: { text } }), tracer);
  await expect.poll(() => batches.length, { timeout: 700 }).toBeGreaterThan(2);
});

test("sends what the tracer's policy leaves of a run", async () => {
  const { recorder: runs, outbox, batches } = await recorder();
  const policy: TracePolicy = Object.assign(new LangChainTracer(), {
    _applyTracePolicy: (run: { inputs?: unknown }) => void (run.inputs &&= { redacted: true }),
  });
  const run = tree({ inputs: { secret: "s" } });
  runs.begin(run, policy);
  runs.flush();
  await outbox.flush(2000);
  expect(batches[0]!.post[0]!["inputs"]).toEqual({ redacted: true });
  expect(run.inputs).toEqual({ secret: "s" });
});
