import { expect, test } from "vitest";

import { receiver } from "../../../test/receiver.ts";
import { ConfigError, readOptions } from "../config/options.ts";
import { createLog } from "../log.ts";
import { telemetryOptions } from "./settings.ts";
import { SpanExporter } from "./span-exporter.ts";
import { startTelemetry } from "./telemetry.ts";

const log = createLog("silent");
const options = (url: string) => ({ url, headers: {}, timeoutMs: 1000, resource: {}, version: "1", log, flushMs: 100 });
const span = (name: string) => ({
  traceId: "a".repeat(32),
  spanId: "b".repeat(16),
  parentSpanId: undefined,
  name,
  kind: "internal" as const,
  startedAt: 1,
  endedAt: 2.5,
  attributes: { share: 0.5, is: true, none: undefined },
  hasFailed: false,
});

test("a batch that the endpoint cannot take is sent again, one that it rejects is dropped", async () => {
  const statuses = [503, 200, 400];
  const collector = await receiver((response) => void response.writeHead(statuses.shift()!).end());
  const exporter = new SpanExporter(options(collector.url));
  exporter.add(span("first"));
  await expect.poll(() => collector.received.length).toBe(2);
  expect(collector.received[1]!.json).toEqual(collector.received[0]!.json);
  const [sent] = collector.received[1]!.json.resourceSpans[0].scopeSpans[0].spans;
  expect(sent).toMatchObject({ startTimeUnixNano: "1000000", endTimeUnixNano: "2500000", kind: 1, status: {} });
  expect(sent.attributes).toEqual([
    { key: "share", value: { doubleValue: 0.5 } },
    { key: "is", value: { boolValue: true } },
  ]);
  exporter.add(span("second"));
  await exporter.stop();
  expect(exporter.dropped).toBe(1);
});

test("spans are dropped beyond a bound, and an endpoint that never answers delays the stop for seconds only", async () => {
  const silent = await receiver(() => {});
  const exporter = new SpanExporter(options(silent.url));
  for (let n = 0; n < 10_000; n++) exporter.add(span("many"));
  expect(exporter.dropped).toBeGreaterThan(0);
  const startedAt = Date.now();
  await exporter.stop();
  expect(Date.now() - startedAt).toBeLessThan(10_000);
});

test("is off without an endpoint, rejects gRPC, and samples by the trace's id", async () => {
  const start = (env: Record<string, string>) => startTelemetry(readOptions(telemetryOptions, env), log, "agent");
  expect(start({})).toBeUndefined();
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9/";
  expect(() => start({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toThrow(ConfigError);
  expect(() => start({ OTEL_EXPORTER_OTLP_ENDPOINT: "127.0.0.1:9" })).toThrow("must be an http or https URL");
  const telemetry = start({
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.5",
  })!;
  const kept = Array.from({ length: 1000 }, () => telemetry.begin(undefined)).filter(({ isSampled }) => isSampled);
  expect(kept.length).toBeGreaterThan(350);
  expect(kept.length).toBeLessThan(650);
  const parent = { traceId: "0".repeat(31) + "1", spanId: "b".repeat(16), isSampled: false };
  expect(telemetry.begin(parent).isSampled).toBe(false);
  await telemetry.stop();
});
