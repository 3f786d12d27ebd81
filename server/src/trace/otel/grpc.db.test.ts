import { connect } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";

import { Metadata } from "@grpc/grpc-js";
import { ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import protobuf from "protobufjs";
import { afterAll, expect, test } from "vitest";

import { createTraceApp } from "../../trace-app.ts";
import { unauthorized, unavailable } from "../../base/errors.ts";
import { createLog } from "../../base/log.ts";
import { noAudit, testPrincipal, WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { listenOtlpGrpc } from "./listen-otlp-grpc.ts";

const KEY = "key-of-a-test";
const { platform, clickhouse } = await testTracePlatform({ HEDDLE_TRACE_MAX_BODY_BYTES: "200000" });
const app = createTraceApp(platform.deps, {
  authenticator: {
    authenticate({ headers, ip }) {
      if (ip !== "127.0.0.1") throw unauthorized("the address of the caller is lost");
      const key = headers.get("x-api-key") ?? headers.get("authorization")?.replace("Bearer ", "");
      if (key === "none") throw unauthorized("no such key");
      if (key === "busy") throw unavailable("busy", 7);
      return testPrincipal(WORKSPACE, key === KEY ? undefined : []);
    },
  },
  audit: noAudit,
  auditsData: false,
});
const { settings } = platform.deps;
const grpc = await listenOtlpGrpc({
  host: "127.0.0.1",
  port: 0,
  settings,
  log: createLog("error"),
  fetch: (request, env) => app.fetch(request, env),
});
const address = `http://127.0.0.1:${grpc.port}`;
afterAll(() => grpc.close());

const METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const { root } = protobuf.parse(
  `syntax = "proto3";
  message Span { bytes traceId = 1; bytes spanId = 2; string name = 5; fixed64 start = 7; fixed64 end = 8; }
  message ScopeSpans { repeated Span spans = 2; } message ResourceSpans { repeated ScopeSpans scopeSpans = 2; }
  message Request { repeated ResourceSpans resourceSpans = 1; }
  message Partial { int64 rejectedSpans = 1; string errorMessage = 2; } message Answer { Partial partialSuccess = 1; }`,
);

const span = (name: string, traceId = crypto.getRandomValues(Buffer.alloc(16))) => ({
  traceId,
  spanId: crypto.getRandomValues(Buffer.alloc(8)),
  name,
  start: "1795255200123456789",
  end: "1795255202123456789",
});

function message(spans: object[]): Buffer {
  const type = root.lookupType("Request");
  return Buffer.from(type.encode(type.fromObject({ resourceSpans: [{ scopeSpans: [{ spans }] }] })).finish());
}

function frame(content: Buffer, isCompressed = false): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = isCompressed ? 1 : 0;
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

interface Reply {
  http: number;
  status: string | undefined;
  message: string | undefined;
  details: Buffer | undefined;
  body: Buffer;
}

/** Sends raw frames, in as many writes as given. */
function call(frames: Buffer[], headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const session = connect(address);
    session.once("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": METHOD,
      "content-type": "application/grpc",
      te: "trailers",
      ...("authorization" in headers ? {} : { "x-api-key": KEY }),
      ...headers,
    });
    const found: Record<string, unknown> = {};
    const body: Buffer[] = [];
    stream.on("response", (received) => Object.assign(found, received));
    stream.on("trailers", (received) => Object.assign(found, received));
    stream.on("data", (chunk: Buffer) => body.push(chunk));
    stream.once("error", reject);
    stream.once("close", () => {
      session.close();
      const details = found["grpc-status-details-bin"] as string | undefined;
      resolve({
        http: found[":status"] as number,
        status: found["grpc-status"] as string | undefined,
        message: found["grpc-message"] as string | undefined,
        details: details === undefined ? undefined : Buffer.from(details, "base64"),
        body: Buffer.concat(body),
      });
    });
    for (const each of frames) stream.write(each);
    stream.end();
  });
}

const names = async (name: string) => {
  const query = "select name, status, error from runs final where name like {name:String} order by name";
  return clickhouse.rows<{ name: string; status: string }>({ name: "t", query, params: { name: `${name}%` } });
};

test.each(["none", "gzip"] as const)("stores what OpenTelemetry's exporter sends (compression: %s)", async (kind) => {
  const metadata = new Metadata();
  metadata.set("x-api-key", KEY);
  metadata.set("langsmith-project", `grpc ${kind}`);
  const exporter = new OTLPTraceExporter({ url: address, metadata, compression: kind as never });
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  const tracer = provider.getTracer("grpc");
  const parent = tracer.startSpan(`exported ${kind} parent`);
  const child = tracer.startSpan(
    `exported ${kind} child`,
    { links: [{ context: parent.spanContext() }] },
    trace.setSpan(ROOT_CONTEXT, parent),
  );
  child.addEvent("seen", { n: 1 });
  child.setStatus({ code: SpanStatusCode.ERROR, message: "failed" });
  child.end();
  parent.end();
  await provider.shutdown();
  expect(await names(`exported ${kind}`)).toMatchObject([
    { name: `exported ${kind} child`, status: "error", error: "failed" },
    { name: `exported ${kind} parent`, status: "success" },
  ]);
});

test("answers success with an empty message, and Bearer is a key too", async () => {
  const reply = await call([frame(message([span("plain")]))], { authorization: `Bearer ${KEY}` });
  expect(reply).toMatchObject({ http: 200, status: "0", body: Buffer.alloc(5) });
  expect(await names("plain")).toHaveLength(1);
});

test("reads a message that arrives in pieces, compressed or not", async () => {
  const plain = frame(message([span("pieces plain")]));
  const zipped = frame(gzipSync(message([span("pieces zipped")])), true);
  const split = (bytes: Buffer) => [bytes.subarray(0, 2), bytes.subarray(2, 9), bytes.subarray(9)];
  expect(await call(split(plain))).toMatchObject({ status: "0" });
  expect(await call(split(zipped), { "grpc-encoding": "gzip" })).toMatchObject({ status: "0" });
  const deflated = frame(deflateSync(message([span("pieces deflated")])), true);
  expect(await call(split(deflated), { "grpc-encoding": "deflate" })).toMatchObject({ status: "0" });
  expect(await names("pieces")).toHaveLength(3);
});

test("reports invalid spans as a partial success", async () => {
  const reply = await call([frame(message([span("kept"), span("dropped", Buffer.alloc(16))]))]);
  expect(reply.status).toBe("0");
  const type = root.lookupType("Answer");
  const { partialSuccess } = type.toObject(type.decode(reply.body.subarray(5)), { longs: String });
  expect(partialSuccess).toMatchObject({ rejectedSpans: "1", errorMessage: expect.stringMatching(/all zeros/) });
  expect(await names("kept")).toHaveLength(1);
});

test("rejects with the status codes of the protocol", async () => {
  const good = frame(message([span("rejected")]));
  const status = async (frames: Buffer[], headers?: Record<string, string>) => (await call(frames, headers)).status;
  expect(await call([good], { "x-api-key": "wrong" })).toMatchObject({ http: 200, status: "7" });
  expect(await status([good], { "x-api-key": "none" })).toBe("16");
  expect(await status([frame(message([span("x", Buffer.alloc(16))]))])).toBe("3");
  expect(await status([frame(Buffer.from("not protobuf"))])).toBe("3");
  expect(await status([frame(Buffer.from("not gzip"), true)], { "grpc-encoding": "gzip" })).toBe("3");
  expect(await status([good], { "grpc-encoding": "zstd" })).toBe("12");
  expect(await status([good], { ":path": "/opentelemetry.proto.collector.logs.v1.LogsService/Export" })).toBe("12");
  expect(await status([])).toBe("3");
  expect(await call([good], { "content-type": "application/json" })).toMatchObject({ http: 415 });
  expect(await names("rejected")).toEqual([]);
});

test("rejects a message beyond the size limit without waiting for it, also a compressed one", async () => {
  const prefix = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]);
  expect((await call([prefix])).status).toBe("8");
  const bomb = frame(gzipSync(Buffer.alloc(5_000_000)), true);
  expect((await call([bomb], { "grpc-encoding": "gzip" })).status).toBe("8");
});

test("rejects a second message, and a message that ends early, as the caller's mistake", async () => {
  const first = frame(message([span("first of two")]));
  expect(await call([first, first])).toMatchObject({ status: "3", message: "The call has more than one message." });
  expect(await call([first.subarray(0, -1)])).toMatchObject({
    status: "3",
    message: "The call's message ended early.",
  });
});

test("tells a client when to repeat a call", async () => {
  const reply = await call([frame(message([span("later")]))], { "x-api-key": "busy" });
  expect(reply).toMatchObject({ status: "14", message: "busy" });
  expect(reply.details!.toString("latin1")).toContain("type.googleapis.com/google.rpc.RetryInfo");
  // RetryInfo{retry_delay{seconds: 7}}
  expect(reply.details!.includes(Buffer.from([0x0a, 2, 8, 7]))).toBe(true);
});

test("many calls share a connection", async () => {
  const session = connect(address);
  const replies = await Promise.all(
    Array.from({ length: 150 }, (_, n) => {
      const stream = session.request({
        ":method": "POST",
        ":path": METHOD,
        "content-type": "application/grpc",
        "x-api-key": KEY,
      });
      stream.end(frame(message([span(`many ${n}`)])));
      stream.resume();
      return new Promise((resolve) => stream.once("trailers", (trailers) => resolve(trailers["grpc-status"])));
    }),
  );
  session.close();
  expect(new Set(replies)).toEqual(new Set(["0"]));
  expect(await names("many")).toHaveLength(150);
});
