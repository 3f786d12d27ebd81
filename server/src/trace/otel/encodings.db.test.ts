import protobuf from "protobufjs";
import { expect, test } from "vitest";

import { createTraceApp } from "../../trace-app.ts";
import { openGuard, WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { seeded } from "../insights/vectors.ts";
import { PROTO } from "./decode-protobuf.ts";

const { platform, clickhouse } = await testTracePlatform();
const app = createTraceApp(platform.deps, openGuard);
const { root } = protobuf.parse(PROTO);

type Json = { [key: string]: unknown };

/** Beginnings of the ids of the same span in both encodings: one workspace has one run of an id. */
const [IN_JSON, IN_PROTOBUF] = ["a1a1a1a1", "b2b2b2b2"];
/** In 2020, unlike the time of receipt, which a span without a start gets. */
const START = 1_595_325_600_123_456_789n;
const RECEIVED = /20(?!20)\d\d-?\d\d-?\d\d[T ]?\d\d:?\d\d:?\d\d\.?\d{6}/g;

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, "0");

function fullSpan(index: number): Json {
  return {
    traceId: IN_JSON + hex(index, 24),
    spanId: IN_JSON + hex(index, 8),
    // spans of one parent would be one trace
    parentSpanId: IN_JSON + hex(index + 0x10000000, 8),
    traceState: "a=b",
    name: `span ${index}`,
    kind: 3,
    startTimeUnixNano: String(START),
    endTimeUnixNano: String(START + 2_000_000_000n),
    attributes: [
      { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
      { key: "gen_ai.usage.input_tokens", value: { intValue: "5" } },
      { key: "gen_ai.request.temperature", value: { doubleValue: 0.25 } },
      { key: "flag", value: { boolValue: true } },
      { key: "bytes", value: { bytesValue: "+/8=" } },
      { key: "list", value: { arrayValue: { values: [{ stringValue: "x" }, { doubleValue: 1.5 }] } } },
      { key: "map", value: { kvlistValue: { values: [{ key: "k", value: { stringValue: "v" } }] } } },
    ],
    droppedAttributesCount: 1,
    events: [
      {
        timeUnixNano: String(START),
        name: "exception",
        attributes: [{ key: "exception.message", value: { stringValue: "broken" } }],
      },
    ],
    droppedEventsCount: 2,
    links: [
      {
        traceId: IN_JSON + hex(1, 24),
        spanId: IN_JSON + hex(2, 8),
        traceState: "c=d",
        attributes: [{ key: "l", value: { stringValue: "m" } }],
      },
    ],
    droppedLinksCount: 3,
    status: { message: "why", code: 2 },
  };
}

/** Fields that a message may lack, as paths; elements of lists are not among them, because they cannot be null. */
function fieldPaths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((inner, i) => fieldPaths(inner, [...path, i]));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...fieldPaths(inner, [...path, key])]);
}

function without(span: Json, path: (string | number)[], how: "absent" | "null"): void {
  let holder = span;
  for (const key of path.slice(0, -1)) {
    if (holder[key] === null || holder[key] === undefined) return;
    holder = holder[key] as Json;
  }
  if (how === "absent") delete holder[path.at(-1)!];
  else holder[path.at(-1)!] = null;
}

/** Returns the message as an exporter of protobuf builds it: without nulls, with bytes as ids, numbers for names. */
function toMessage(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((inner) => toMessage(inner));
  if (value !== null && typeof value === "object") {
    const present = Object.entries(value).filter(([, inner]) => inner !== null);
    return Object.fromEntries(present.map(([name, inner]) => [name, toMessage(inner, name)]));
  }
  if (/^(?:traceId|spanId|parentSpanId)$/.test(key)) {
    return Buffer.from(String(value).toLowerCase().replaceAll(IN_JSON, IN_PROTOBUF), "hex");
  }
  if (key === "bytesValue") return Buffer.from(String(value), "base64");
  if (key === "doubleValue") return Number(value);
  if (value === "SPAN_KIND_CLIENT") return 3;
  if (value === "STATUS_CODE_ERROR") return 2;
  return value;
}

interface Answer {
  status: number;
  partialSuccess: { rejectedSpans: string; errorMessage: string } | undefined;
}

async function send(body: string | Uint8Array<ArrayBuffer>): Promise<Answer> {
  const type = typeof body === "string" ? "json" : "x-protobuf";
  const headers = { "Content-Type": `application/${type}` };
  const response = await app.request("/otel/v1/traces", { method: "POST", body, headers });
  const { status } = response;
  if (type === "json") return { status, partialSuccess: ((await response.json()) as Answer).partialSuccess };
  const answer = root.lookupType("Answer");
  const read = answer.toObject(answer.decode(new Uint8Array(await response.arrayBuffer())), { longs: String });
  // with the ids of JSON
  return { ...(JSON.parse(JSON.stringify(read).replaceAll(IN_PROTOBUF, IN_JSON)) as Answer), status };
}

function toProtobuf(body: Json): Uint8Array<ArrayBuffer> {
  const type = root.lookupType("Request");
  return Uint8Array.from(type.encode(type.fromObject(toMessage(body) as Json)).finish());
}

/** Reads the runs of an encoding, with the ids of JSON, and without the times of receipt. */
async function runs(prefix: string): Promise<Json[]> {
  const rows = await clickhouse.rows<Json>({
    name: "t",
    query: `select * except (inserted_at, updated_at) from runs final where tenant_id = {t:UUID} and startsWith(toString(trace_id), {p:String})
      order by toString(trace_id), toString(id)`,
    params: { t: WORKSPACE, p: prefix },
  });
  return rows.map((row) => {
    const text = JSON.stringify(row).replaceAll(prefix, IN_JSON).replaceAll(prefix.slice(4), IN_JSON.slice(4));
    return JSON.parse(text.replaceAll(RECEIVED, "received")) as Json;
  });
}

const request = (spans: unknown[]): Json => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
      scopeSpans: [{ scope: { name: "x" }, spans }],
    },
  ],
});

test("JSON and protobuf store the same runs and reject the same spans, whatever fields are absent or null", async () => {
  const random = seeded(1);
  const paths = fieldPaths(fullSpan(0));
  const cases = [
    ...paths.map((path) => [{ path, how: "null" as const }]),
    ...paths.map((path) => [{ path, how: "absent" as const }]),
    ...Array.from({ length: 200 }, () =>
      Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
        path: paths[Math.floor(random() * paths.length)]!,
        how: random() < 0.5 ? ("null" as const) : ("absent" as const),
      })),
    ),
  ];
  const spans = cases.map((changes, i) => {
    const span = fullSpan(i + 1);
    for (const { path, how } of changes) without(span, path, how);
    return span;
  });
  const json = await send(JSON.stringify(request(spans)));
  expect(json).toEqual(await send(toProtobuf(request(spans))));
  expect(json).toMatchObject({
    status: 200,
    partialSuccess: { errorMessage: expect.stringContaining("is not 8 bytes") },
  });
  const rejected = Number(json.partialSuccess!.rejectedSpans);
  // an absent id, twice each, is among the single changes
  expect(rejected).toBeGreaterThanOrEqual(4);
  const stored = await runs(IN_JSON);
  expect(stored).toHaveLength(spans.length - rejected);
  expect(stored).toEqual(await runs(IN_PROTOBUF));
});

test("JSON may write ids in capitals, numbers as text, enums by name and bytes as base64 for URLs", async () => {
  const span = fullSpan(5000);
  const asExporters = {
    ...span,
    traceId: String(span["traceId"]).toUpperCase(),
    kind: "SPAN_KIND_CLIENT",
    events: null,
    status: { message: "why", code: "STATUS_CODE_ERROR" },
    droppedAttributesCount: "1",
    attributes: [
      { key: "d", value: { doubleValue: "0.25" } },
      { key: "n", value: { stringValue: null, boolValue: null, intValue: null, doubleValue: "NaN" } },
      { key: "i", value: { stringValue: null, boolValue: null, intValue: 7 } },
      { key: "b", value: { bytesValue: "-_8" } },
    ],
  };
  expect(await send(JSON.stringify(request([asExporters])))).toEqual({ status: 200, partialSuccess: undefined });
  expect(await send(toProtobuf(request([asExporters])))).toEqual({ status: 200, partialSuccess: undefined });
  const [json, other] = [await runs(IN_JSON), await runs(IN_PROTOBUF)].map((all) =>
    all.find((run) => String(run["trace_id"]).endsWith(hex(5000, 12))),
  );
  expect(json).toMatchObject({ name: "span 5000", error: "why" });
  expect(json).toEqual(other);
  expect(JSON.parse(json!["extra"] as string)).toMatchObject({ metadata: { b: "+/8=", d: 0.25, i: 7 } });
});

test("a span that cannot be decoded is rejected alone", async () => {
  const INVALID: Json[] = [
    { name: 5 },
    { spanId: 5 },
    { attributes: 5 },
    { attributes: [null] },
    { attributes: [{ key: 5 }] },
    { attributes: [{ key: "a", value: 5 }] },
    { attributes: [{ key: "a", value: { arrayValue: { values: 5 } } }] },
    { attributes: [{ key: "a", value: { arrayValue: { values: [null] } } }] },
    { attributes: [{ key: "a", value: { kvlistValue: { values: [null] } } }] },
    { events: [null] },
    { links: {} },
    { status: 5 },
    { startTimeUnixNano: {} },
  ];
  const spans = [
    fullSpan(6000),
    ...INVALID.map((change, i) => ({ ...fullSpan(6001 + i), ...change })),
    null,
    { ...fullSpan(6999), startTimeUnixNano: 0.123 },
    fullSpan(7000),
  ];
  const far = JSON.stringify(request(spans)).replace("0.123", "1e400");
  expect(await send(far)).toMatchObject({
    status: 200,
    partialSuccess: {
      rejectedSpans: String(INVALID.length + 2),
      errorMessage: expect.stringContaining(
        "span 1: The body is not an ExportTraceServiceRequest: resourceSpans.0.scopeSpans.0.spans.1.name",
      ),
    },
  });
  const ends = (await runs(IN_JSON)).map((run) => String(run["trace_id"]).slice(-12));
  expect(ends.filter((end) => end >= hex(6000, 12) && end <= hex(7000, 12))).toEqual([hex(6000, 12), hex(7000, 12)]);

  const parts = root.lookupType("ScopeParts");
  const whole = root.lookupType("Span");
  const good = whole.encode(whole.fromObject(toMessage(fullSpan(6000)) as Json)).finish();
  const scope = parts.encode({ spans: [Buffer.from([0x0a, 0x7f]), good] }).finish();
  const resource = root
    .lookupType("ResourceParts")
    .encode({ scopeSpans: [scope] })
    .finish();
  const body = Uint8Array.from(
    root
      .lookupType("RequestParts")
      .encode({ resourceSpans: [resource] })
      .finish(),
  );
  expect(await send(body)).toMatchObject({ status: 200, partialSuccess: { rejectedSpans: "1" } });
});
