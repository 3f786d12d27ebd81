/** Webhooks of a whole server with real runs: messages, receivers and times. Receivers listen on loopback. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Webhook } from "standardwebhooks";
import { beforeAll, expect, test, vi } from "vitest";

import { type TestAgentServer, testAgentServer } from "../../../test/agent-server.ts";
import { type Receiver, receiver } from "../../../test/receiver.ts";

const CONFIGURED = fileURLToPath(new URL("../../../test/fixtures/agent-project/webhooks.json", import.meta.url));
const UNRULY = fileURLToPath(new URL("../../../test/fixtures/unruly-project/langgraph.json", import.meta.url));
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const ENV = { HEDDLE_WEBHOOK_SECRETS: SECRET, HEDDLE_WEBHOOK_RETRY_MS: "100", HEDDLE_WEBHOOK_TIMEOUT_MS: "1000" };

let server: TestAgentServer;
let hook: Receiver;
beforeAll(async () => {
  server = await testAgentServer(ENV);
  hook = await receiver();
});

const waitFor = <T>(what: () => T | Promise<T>) => vi.waitFor(what, { timeout: 30_000, interval: 20 });
const newThread = async () => (await server.call("POST", "/threads", {})).json.thread_id as string;
const received = (to: Receiver, path: string) =>
  waitFor(() => {
    const found = to.received.filter((message) => message.path === path);
    if (found.length === 0) throw new Error(`nothing came to ${path}`);
    return found;
  });
async function waitForDelivery(runId: string, status: string) {
  return waitFor(async () => {
    const { json } = await server.call("GET", `/webhooks/deliveries?run_id=${runId}`);
    if (json[0]?.status !== status) throw new Error(`it is ${json[0]?.status}`);
    return (await server.call("GET", `/webhooks/deliveries/${json[0].delivery_id}`)).json;
  });
}

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/) as unknown;

test("reports the end of a stateful run with all fields, signed, and with the URL's query unchanged", async () => {
  const thread = await newThread();
  const webhook = `${hook.url}/whole?token=s%20ecret&b=1`;
  const body = { assistant_id: "trail", input: { topic: "x" }, webhook, metadata: { mine: 1 } };
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const run = await server.call("POST", `/threads/${thread}/runs`, body, { traceparent });
  expect(run.status).toBe(200);
  const [message] = await received(hook, "/whole?token=s%20ecret&b=1");
  expect(message!.headers["content-type"]).toBe("application/json");
  expect(message!.headers["traceparent"]).toBe(traceparent);
  expect(message!.json).toEqual({
    run_id: run.json.run_id,
    thread_id: thread,
    assistant_id: run.json.assistant_id,
    status: "success",
    created_at: ISO,
    updated_at: ISO,
    run_started_at: ISO,
    run_ended_at: ISO,
    webhook_sent_at: ISO,
    metadata: expect.objectContaining({ mine: 1, created_by: "system" }),
    kwargs: expect.objectContaining({ input: { topic: "x" }, webhook, config: expect.anything() }),
    values: { topic: "x", log: ["first:x", "second"] },
    multitask_strategy: "enqueue",
  });
  const signed = new Webhook(SECRET).verify(message!.body, message!.headers as Record<string, string>);
  expect(signed).toEqual(message!.json);
  const { url, status, attempts, log, payload } = await waitForDelivery(run.json.run_id as string, "delivered");
  expect([url, status, attempts]).toEqual([`${hook.url}/whole?…`, "delivered", 1]);
  expect(log).toMatchObject([{ attempt: 1, status_code: 200, error: null }]);
  expect(JSON.stringify(payload)).not.toContain("s%20ecret");
});

test.each([
  ["stream", "/threads/T/runs/stream"],
  ["wait", "/threads/T/runs/wait"],
  ["wait", "/thread/T/runs/wait"],
])("reports the end of runs of %s %s", async (_, path) => {
  const thread = await newThread();
  const webhook = `${hook.url}/of-${thread}`;
  await server.call("POST", path.replace("T", thread), { assistant_id: "trail", input: { topic: "x" }, webhook });
  const [message] = await received(hook, `/of-${thread}`);
  expect(message!.json).toMatchObject({ status: "success", values: { log: ["first:x", "second"] } });
});

test("reports stateless runs without values, whether waited for, streamed, in the background or in a batch", async () => {
  const input = { topic: "x" };
  const of = (name: string) => ({ assistant_id: "trail", input, webhook: `${hook.url}/${name}` });
  await server.call("POST", "/runs/wait", of("stateless-wait"));
  await server.call("POST", "/runs/stream", of("stateless-stream"));
  await server.call("POST", "/runs", of("stateless-background"));
  await server.call("POST", "/runs/batch", [of("batch-1"), of("batch-2")]);
  await server.call("POST", "/runs/wait", { ...of("kept"), on_completion: "keep" });
  for (const name of ["stateless-wait", "stateless-stream", "stateless-background", "batch-1", "batch-2"]) {
    const [message] = await received(hook, `/${name}`);
    expect(message!.json).toMatchObject({ status: "success", run_ended_at: ISO });
    expect(message!.json).not.toHaveProperty("values");
    expect(message!.json).not.toHaveProperty("error");
  }
  const [keptRequest] = await received(hook, "/kept");
  expect(keptRequest!.json.values).toEqual({ topic: "x", log: ["first:x", "second"] });
});

test("reports a failed run with its error as an object, stateless or not", async () => {
  const thread = await newThread();
  const body = { assistant_id: "trail", input: { topic: "x" }, config: { recursion_limit: 1 } };
  await server.call("POST", `/threads/${thread}/runs/wait`, { ...body, webhook: `${hook.url}/failed` });
  await server.call("POST", "/runs/wait", { ...body, webhook: `${hook.url}/failed-stateless` });
  for (const path of ["/failed", "/failed-stateless"]) {
    const [message] = await received(hook, path);
    expect(message!.json.status).toBe("error");
    expect(message!.json.error).toEqual({
      error: "GraphRecursionError",
      message: expect.stringContaining("Recursion limit"),
    });
  }
  expect(hook.received.find((message) => message.path === "/failed")!.json.values).toMatchObject({ topic: "x" });
});

test("reports the thread's values for a run that stops at an interrupt and for an interrupted one", async () => {
  const thread = await newThread();
  const asks = { assistant_id: "nested", input: { topic: "x" }, webhook: `${hook.url}/asks` };
  await server.call("POST", `/threads/${thread}/runs/wait`, asks);
  const [question] = await received(hook, "/asks");
  expect(question!.json).toMatchObject({ status: "success", values: { topic: "x", log: ["enter"] } });

  const other = await newThread();
  const slow = { assistant_id: "slow", input: { topic: "y" }, webhook: `${hook.url}/stopped` };
  const run = await server.call("POST", `/threads/${other}/runs`, slow);
  await waitFor(async () => {
    const { json } = await server.call("GET", `/threads/${other}/runs/${run.json.run_id}`);
    expect(json.status).toBe("running");
    expect((await server.sql`select 1 from checkpoints where thread_id = ${other}`).length).toBeGreaterThan(0);
  });
  await server.call("POST", `/threads/${other}/runs/${run.json.run_id}/cancel?wait=1`);
  const [stopped] = await received(hook, "/stopped");
  expect(stopped!.json).toMatchObject({ status: "interrupted", values: { topic: "y" }, run_started_at: ISO });
  expect(stopped!.json).not.toHaveProperty("error");
});

test("reports a cancelled pending run and rolled back runs", async () => {
  const thread = await newThread();
  const of = (name: string) => ({ assistant_id: "slow", input: { topic: "x" }, webhook: `${hook.url}/${name}` });
  const first = await server.call("POST", `/threads/${thread}/runs`, of("rolled-back"));
  const second = await server.call("POST", `/threads/${thread}/runs`, of("never-begun"));
  const third = await server.call("POST", `/threads/${thread}/runs`, of("never-begun-either"));
  await server.call("POST", `/threads/${thread}/runs/${second.json.run_id}/cancel?wait=1`);
  await server.call("POST", `/threads/${thread}/runs/${third.json.run_id}/cancel?action=rollback&wait=1`);
  await server.call("POST", `/threads/${thread}/runs/${first.json.run_id}/cancel?action=rollback&wait=1`);
  const [pending] = await received(hook, "/never-begun");
  expect(pending!.json).toMatchObject({ status: "interrupted", run_started_at: null, run_ended_at: ISO });
  expect((await received(hook, "/never-begun-either"))[0]!.json.status).toBe("rollback");
  expect((await received(hook, "/rolled-back"))[0]!.json.status).toBe("rollback");
});

test("retries a failing receiver with the same id and a later signature until it answers", async () => {
  const shaky = await receiver((response, _, count) => response.writeHead(count < 3 ? 500 : 204).end());
  const webhook = `${shaky.url}/shaky`;
  await server.call("POST", "/runs/wait", { assistant_id: "trail", input: { topic: "x" }, webhook });
  await waitFor(() => expect(shaky.received).toHaveLength(3));
  const ids = new Set(shaky.received.map((message) => message.headers["webhook-id"]));
  expect(ids.size).toBe(1);
  const runId = shaky.received[0]!.json.run_id as string;
  const { log, attempts } = await waitForDelivery(runId, "delivered");
  expect(attempts).toBe(3);
  expect(log.map((attempt: { status_code: number }) => attempt.status_code)).toEqual([204, 500, 500]);
});

test("410 ends the delivery, a redirect is not followed, and Retry-After is respected", async () => {
  const goneReceiver = await receiver((response) => response.writeHead(410).end());
  await server.call("POST", "/runs/wait", {
    assistant_id: "trail",
    input: { topic: "x" },
    webhook: `${goneReceiver.url}/gone`,
  });
  await received(goneReceiver, "/gone");
  await waitForDelivery(goneReceiver.received[0]!.json.run_id as string, "failed");
  expect(goneReceiver.received).toHaveLength(1);

  const target = await receiver();
  const from = await receiver((response) => response.writeHead(307, { location: `${target.url}/inside` }).end());
  await server.call("POST", "/runs/wait", {
    assistant_id: "trail",
    input: { topic: "x" },
    webhook: `${from.url}/away`,
  });
  await waitFor(() => expect(from.received.length).toBeGreaterThan(1));
  expect(target.received).toHaveLength(0);

  const busy = await receiver((response, _, count) =>
    count === 1 ? response.writeHead(429, { "retry-after": "1" }).end() : response.end(),
  );
  await server.call("POST", "/runs/wait", {
    assistant_id: "trail",
    input: { topic: "x" },
    webhook: `${busy.url}/busy`,
  });
  await waitFor(() => expect(busy.received).toHaveLength(2));
  expect(busy.received[1]!.at - busy.received[0]!.at).toBeGreaterThanOrEqual(950);
});

test("redelivers a failed delivery on request", async () => {
  const late = await receiver((response, _, count) => response.writeHead(count === 1 ? 410 : 200).end());
  const body = { assistant_id: "trail", input: { topic: "x" }, webhook: `${late.url}/late` };
  await server.call("POST", "/runs/wait", body);
  await received(late, "/late");
  const { delivery_id, run_id } = await waitForDelivery(late.received[0]!.json.run_id as string, "failed");
  expect((await server.call("POST", `/webhooks/deliveries/${delivery_id}/replay`)).status).toBe(202);
  await waitForDelivery(run_id as string, "delivered");
  expect(late.received[1]!.headers["webhook-id"]).toBe(delivery_id);
  const { webhook_sent_at: first, ...message } = late.received[0]!.json as Record<string, unknown>;
  const { webhook_sent_at: second, ...again } = late.received[1]!.json as Record<string, unknown>;
  expect(again).toEqual(message);
  expect(second).not.toBe(first);
  const unknownId = "00000000-0000-7000-8000-000000000000";
  expect((await server.call("POST", `/webhooks/deliveries/${unknownId}/replay`)).status).toBe(404);
  expect((await server.call("GET", `/webhooks/deliveries/${unknownId}`)).status).toBe(404);
  expect((await server.call("GET", "/webhooks/deliveries?status=none")).status).toBe(422);
  const failed = await server.call("GET", "/webhooks/deliveries?status=delivered&limit=2");
  expect(failed.json).toHaveLength(2);
});

test("calls a path on this server itself", async () => {
  const run = await server.call("POST", "/runs", { assistant_id: "trail", input: { topic: "x" }, webhook: "/ok" });
  // the path exists, but not for POST
  const { log, url } = await waitFor(async () => {
    const { json } = await server.call("GET", `/webhooks/deliveries?run_id=${run.json.run_id}`);
    expect(json[0].attempts).toBeGreaterThan(0);
    const found = (await server.call("GET", `/webhooks/deliveries/${json[0].delivery_id}`)).json;
    expect(found.log.length).toBeGreaterThan(0);
    return found;
  });
  expect([url, log.at(-1).status_code]).toEqual(["/ok", 404]);
  const found = await server.call("POST", "/runs/wait", {
    assistant_id: "trail",
    input: { topic: "x" },
    webhook: "/runs/crons/count?token=1",
  });
  expect(found.status).toBe(200);
  await waitFor(async () => {
    const { json } = await server.call("GET", "/webhooks/deliveries?limit=1");
    expect(json[0]).toMatchObject({ url: "/runs/crons/count?…", status: "delivered" });
  });
});

test.each([
  ["text that is not a URL", "nothing"],
  ["another scheme", "ftp://hooks.example/"],
  ["credentials", "https://user:password@hooks.example/"],
  ["a port that is not allowed", "https://hooks.example:8443/"],
  ["a metadata service", "http://169.254.169.254/"],
  ["a private address", "http://10.0.0.1/"],
  ["a number", 5],
  ["nothing at all", ""],
  ["a URL that is too long", `https://hooks.example/${"a".repeat(70_000)}`],
])("rejects a webhook that is %s at the request", async (_, webhook) => {
  const thread = await newThread();
  for (const path of ["/runs", "/runs/wait", "/runs/stream", `/threads/${thread}/runs`, "/runs/crons"]) {
    const body = { assistant_id: "trail", input: {}, schedule: "0 0 * * *", webhook };
    expect(await server.call("POST", path, body)).toMatchObject({ status: 422 });
  }
  const batch = await server.call("POST", "/runs/batch", [{ assistant_id: "trail", input: {}, webhook }]);
  expect(batch.status).toBe(422);
  expect((await server.sql`select 1 from runs where thread_id = ${thread}`).length).toBe(0);
});

test("a batch with one rejected run starts none", async () => {
  const good = { assistant_id: "trail", input: { topic: "x" }, metadata: { of: "half a batch" } };
  const unknownId = "00000000-0000-7000-8000-000000000000";
  for (const [bad, status] of [
    [{ ...good, webhook: "http://169.254.169.254/" }, 422],
    [{ ...good, strict_resume: true, command: { resume: {} } }, 422],
    [{ ...good, assistant_id: "nobody" }, 404],
    [{ ...good, assistant_id: unknownId }, 404],
  ] as const) {
    expect(await server.call("POST", "/runs/batch", [good, bad])).toMatchObject({ status });
  }
  expect(await server.sql`select 1 from runs where metadata @> '{"of": "half a batch"}'`).toEqual([]);
});

test("treats null as no webhook", async () => {
  const run = await server.call("POST", "/runs", { assistant_id: "trail", input: { topic: "x" }, webhook: null });
  expect(run.status).toBe(200);
  expect(run.json.kwargs).not.toHaveProperty("webhook");
});

test("/info reports support of webhooks and crons", async () => {
  const { json } = await server.call("GET", "/info");
  expect(json.flags).toMatchObject({ webhooks: true, crons: true });
  const [major, minor, patch] = (json.version as string).split(".").map(Number);
  expect(major! * 1e6 + minor! * 1e3 + patch!).toBeGreaterThanOrEqual(5036);
});

test("applies headers and rules of langgraph.json", async () => {
  const configured = await testAgentServer(ENV, CONFIGURED);
  const of = (webhook: string) => ({ assistant_id: "trail", input: { topic: "x" }, webhook });
  await configured.call("POST", "/runs/wait", of(`${hook.url}/configured`));
  const [message] = await received(hook, "/configured");
  expect(message!.headers).toMatchObject({ "x-source": "heddle", authorization: "Bearer from-the-project" });
  for (const url of ["https://example.com/", "https://other.example/", `${hook.url}/${"a".repeat(200)}`]) {
    expect((await configured.call("POST", "/runs", of(url))).status).toBe(422);
  }
  // as http.disable_webhooks sets it
  configured.agent.deps.project.webhooks.disabled = true;
  for (const path of ["/runs", "/runs/wait", "/runs/crons"]) {
    const rejected = await configured.call("POST", path, { ...of(`${hook.url}/x`), schedule: "0 0 * * *" });
    expect(rejected).toMatchObject({ status: 422, text: expect.stringContaining("http.disable_webhooks") });
  }
  expect((await configured.call("GET", "/info")).json.flags.webhooks).toBe(false);
  await configured.stop();
});

test("the message of a run lost with its graph host waits until the next host is available", async () => {
  const dir = mkdtempSync(join(tmpdir(), "heddle-webhook-"));
  symlinkSync(fileURLToPath(new URL("../../../../node_modules", import.meta.url)), join(dir, "node_modules"));
  writeFileSync(join(dir, "langgraph.json"), JSON.stringify({ graphs: { dies: "./graph.mjs:graph" } }));
  // the first host is ready at once; each further one takes longer than the longest single hold of a delivery
  writeFileSync(
    join(dir, "graph.mjs"),
    `import { writeFileSync } from "node:fs";
import { Annotation, StateGraph } from "@langchain/langgraph";
const isFirst = (() => { try { writeFileSync(${JSON.stringify(join(dir, "loaded"))}, "", { flag: "wx" }); return true; } catch { return false; } })();
if (!isFirst) await new Promise((resolve) => setTimeout(resolve, 12_000));
const State = Annotation.Root({ done: Annotation() });
export const graph = new StateGraph(State).addNode("a", () => ({ done: "a" })).addNode("b", () => process.exit(1))
  .addEdge("__start__", "a").addEdge("a", "b").addEdge("b", "__end__").compile();
`,
  );
  const lonely = await testAgentServer({ ...ENV, HEDDLE_RUN_MAX_ATTEMPTS: "1" }, join(dir, "langgraph.json"));
  const thread = (await lonely.call("POST", "/threads", {})).json.thread_id as string;
  const body = { assistant_id: "dies", input: {}, webhook: `${hook.url}/lonely` };
  await lonely.call("POST", `/threads/${thread}/runs/wait`, body);
  const [message] = await vi.waitFor(
    () => {
      const found = hook.received.filter((message) => message.path === "/lonely");
      expect(found).toHaveLength(1);
      return found;
    },
    { timeout: 60_000, interval: 50 },
  );
  expect(message!.json).toMatchObject({ status: "error", values: { done: "a" } });
  expect((await lonely.call("GET", `/threads/${thread}`)).json.values).toEqual({ done: "a" });
  await lonely.stop();
  rmSync(dir, { recursive: true });
}, 120_000);

test("reports checkpointed values at the end of a run lost with its graph host", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "heddle-webhook-")), "steps");
  const unruly = await testAgentServer({ ...ENV, HEDDLE_RUN_MAX_ATTEMPTS: "1" }, UNRULY);
  const thread = (await unruly.call("POST", "/threads", {})).json.thread_id as string;
  const body = { assistant_id: "steps", input: { file }, webhook: `${hook.url}/lost` };
  await unruly.call("POST", `/threads/${thread}/runs/wait`, body);
  const [message] = await received(hook, "/lost");
  expect(message!.json).toMatchObject({
    status: "error",
    error: { error: "RunFailed", message: expect.stringContaining("graph host") },
    values: { file, done: ["a"] },
  });
  await unruly.stop();
  rmSync(dirname(file), { recursive: true });
});
