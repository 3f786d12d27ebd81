import protobuf from "protobufjs";

import { PROJECT, type SeededSpan, type SeededSpans, SPANS_PER_TRACE } from "./spans.ts";

/** 200 spans of 1.3 kB. */
const TRACES_PER_REQUEST = 10;
export const SPANS_PER_REQUEST = TRACES_PER_REQUEST * SPANS_PER_TRACE;
const MODEL = "gpt-4o-mini";

/** Messages of OTLP that the spans need. */
const { root: PROTO } = protobuf.parse(`syntax = "proto3";
message AnyValue { oneof value { string stringValue = 1; int64 intValue = 3; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Event { fixed64 timeUnixNano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
message Span { bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
  fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8; repeated KeyValue attributes = 9;
  repeated Event events = 11; Status status = 15; }
message Scope { string name = 1; string version = 2; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
message Request { repeated ResourceSpans resourceSpans = 1; }`);
const REQUEST = PROTO.lookupType("Request");

/** Yields the bodies of OTLP requests in protobuf, from the oldest traces to the newest. */
export function* otlpRequests(data: SeededSpans): Generator<Buffer> {
  for (let at = 0; at < data.traces; at += TRACES_PER_REQUEST) {
    const spans: SeededSpan[] = [];
    for (let n = at; n < Math.min(at + TRACES_PER_REQUEST, data.traces); n++) spans.push(...data.trace(n));
    yield encodeRequest(spans);
  }
}

function encodeRequest(spans: SeededSpan[]): Buffer {
  const resource = { "service.name": "shop", "openinference.project.name": PROJECT };
  const scope = { name: "bench", version: "1" };
  const message = {
    resourceSpans: [
      { resource: { attributes: pairs(resource) }, scopeSpans: [{ scope, spans: spans.map(encodeSpan) }] },
    ],
  };
  return Buffer.from(REQUEST.encode(message).finish());
}

function encodeSpan(span: SeededSpan): object {
  return {
    traceId: Buffer.from(span.traceId, "hex"),
    spanId: Buffer.from(span.id, "hex"),
    ...(span.parentId !== undefined && { parentSpanId: Buffer.from(span.parentId, "hex") }),
    name: span.name,
    kind: span.kind === "LLM" ? 3 : 1,
    startTimeUnixNano: nanoseconds(span.start),
    endTimeUnixNano: nanoseconds(span.end),
    attributes: pairs(attributesOf(span)),
    ...(span.isError && {
      status: { code: 2, message: "the tool did not answer within 30 s" },
      events: [
        {
          timeUnixNano: nanoseconds(span.end),
          name: "exception",
          attributes: pairs({
            "exception.type": "TimeoutError",
            "exception.message": "the tool did not answer within 30 s",
          }),
        },
      ],
    }),
    ...(!span.isError && { status: { code: 1 } }),
  };
}

/** Contents by OpenInference's conventions; models and tokens by theirs and by those of OpenTelemetry's GenAI. */
function attributesOf({ kind, input, output, tokens, region, session }: SeededSpan): Record<string, string | number> {
  const shared = {
    "openinference.span.kind": kind,
    "session.id": session,
    "user.id": `user-${region}`,
    metadata: JSON.stringify({ env: region.endsWith("0") ? "staging" : "production", release: "2026.11.2" }),
    region,
  };
  if (!tokens) return { ...shared, "input.value": input, "output.value": output };
  const message = { role: "user", content: input };
  return {
    ...shared,
    "input.value": JSON.stringify({ model: MODEL, messages: [message] }),
    "input.mime_type": "application/json",
    "output.value": output,
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": input,
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": output,
    "llm.model_name": MODEL,
    "llm.provider": "openai",
    "llm.invocation_parameters": '{"temperature":0.2}',
    "llm.token_count.prompt": tokens.input,
    "llm.token_count.completion": tokens.output,
    "llm.token_count.total": tokens.input + tokens.output,
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": MODEL,
    "gen_ai.usage.input_tokens": tokens.input,
    "gen_ai.usage.output_tokens": tokens.output,
  };
}

const pairs = (attributes: Record<string, string | number>): object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: value },
  }));

function nanoseconds(ms: number): { low: number; high: number; unsigned: true } {
  const value = BigInt(ms) * 1_000_000n;
  return { low: Number(value & 0xffff_ffffn) | 0, high: Number(value >> 32n) | 0, unsigned: true };
}
