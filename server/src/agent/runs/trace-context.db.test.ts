import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { receiver } from "../../../test/receiver.ts";

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const traceparent = `00-${TRACE}-${CALLER}-01`;

const collector = await receiver();
const server = await testAgentServer({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
});

const sent = (): SentSpan[] =>
  collector.received.flatMap(({ json }) => json.resourceSpans[0].scopeSpans[0].spans as SentSpan[]);
const ofTrace = (traceId: string) => sent().filter((span) => span.traceId === traceId);
const named = (spans: SentSpan[], name: string) => spans.find((span) => span.name === name)!;
const attribute = (span: SentSpan, key: string) => span.attributes.find((each) => each.key === key)?.value;

test("spans of a request and its run continue the caller's trace, and the run and its webhook name it", async () => {
  const hook = await receiver();
  const { json: thread } = await server.call("POST", "/threads", {});
  const body = { assistant_id: "trail", input: { topic: "x" }, webhook: `${hook.url}/done` };
  const path = `/threads/${thread.thread_id}/runs`;
  const { json: run } = await server.call("POST", path, body, { traceparent, tracestate: "vendor=1" });
  await server.call("GET", `${path}/${run.run_id}/join`);

  await expect
    .poll(() =>
      ofTrace(TRACE)
        .map(({ name }) => name)
        .toSorted(),
    )
    .toEqual(["POST /threads/:thread_id/runs", "run queue", "run trail"]);
  const [request, queue, executed] = ["POST /threads/:thread_id/runs", "run queue", "run trail"].map((name) =>
    named(ofTrace(TRACE), name),
  ) as [SentSpan, SentSpan, SentSpan];
  expect(request.parentSpanId).toBe(CALLER);
  expect([queue.parentSpanId, executed.parentSpanId]).toEqual([request.spanId, request.spanId]);
  expect(attribute(request, "http.response.status_code")).toEqual({ intValue: "200" });
  expect(attribute(executed, "heddle.run_id")).toEqual({ stringValue: run.run_id });
  expect(attribute(executed, "heddle.outcome")).toEqual({ stringValue: "success" });
  expect(queue.endTimeUnixNano).toBe(executed.startTimeUnixNano);
  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of [request, queue, executed]) {
    expect(BigInt(to) >= BigInt(from)).toBe(true);
    expect(Math.abs(Number(BigInt(to) / 1_000_000n) - Date.now())).toBeLessThan(60_000);
  }

  // behind this server its own span is the sender's
  const passedOn = { traceparent: `00-${TRACE}-${request.spanId}-01`, tracestate: "vendor=1" };
  const { json: state } = await server.call("GET", `/threads/${thread.thread_id}/state`);
  expect(state.metadata).toMatchObject(passedOn);
  await expect.poll(() => hook.received[0]?.headers).toMatchObject(passedOn);
});

test("a trace begins with a request that names none, and fails with its run", async () => {
  await server.call("POST", "/runs/wait", { assistant_id: "nested", input: {}, config: { recursion_limit: 1 } });
  await expect.poll(() => sent().some(({ name }) => name === "run nested")).toBe(true);
  const failed = named(sent(), "run nested");
  expect(failed.status).toEqual({ code: 2 });
  const request = sent().find((span) => span.spanId === failed.parentSpanId)!;
  expect([request.name, request.traceId, request.parentSpanId]).toEqual(["POST /runs/wait", failed.traceId, undefined]);
});

test("sends headers and the resource, and no span for probes and traces that are not sampled", async () => {
  const unsampled = "a".repeat(32);
  await server.call("GET", "/ok");
  await server.call("GET", "/metrics");
  await server.call("GET", "/threads/none", undefined, { traceparent: `00-${unsampled}-${CALLER}-00` });
  await server.call("GET", "/info");
  await expect.poll(() => sent().some(({ name }) => name === "GET /info")).toBe(true);
  expect(ofTrace(unsampled)).toEqual([]);
  expect(sent().filter(({ name }) => /ok|metrics/.test(name))).toEqual([]);
  const { headers, path, json } = collector.received[0]!;
  expect([path, headers["x-key"], headers["content-type"]]).toEqual(["/v1/traces", "a b", "application/json"]);
  expect(json.resourceSpans[0].resource.attributes).toEqual(
    expect.arrayContaining([
      { key: "deployment.environment", value: { stringValue: "test" } },
      { key: "service.name", value: { stringValue: "heddle-agent" } },
    ]),
  );
});
