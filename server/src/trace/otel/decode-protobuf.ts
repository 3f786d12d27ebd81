import protobuf from "protobufjs";

import { AppError, coerceError } from "../../base/errors.ts";
import { toSpans } from "./wire.ts";
import type { OtelSpan } from "./otel-span.ts";

/** Subset of opentelemetry-proto's collector and trace services (v1); the decoder skips the rest. */
export const PROTO = `syntax = "proto3";
message AnyValue { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4;
  ArrayValue arrayValue = 5; KeyValueList kvlistValue = 6; bytes bytesValue = 7; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Event { fixed64 timeUnixNano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
message Link { bytes traceId = 1; bytes spanId = 2; string traceState = 3; repeated KeyValue attributes = 4; }
message Span { bytes traceId = 1; bytes spanId = 2; string traceState = 3; bytes parentSpanId = 4; string name = 5;
  int32 kind = 6; fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8; repeated KeyValue attributes = 9;
  uint32 droppedAttributesCount = 10; repeated Event events = 11; uint32 droppedEventsCount = 12;
  repeated Link links = 13; uint32 droppedLinksCount = 14; Status status = 15; }
message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
message PartialSuccess { int64 rejectedSpans = 1; string errorMessage = 2; }
message Answer { PartialSuccess partialSuccess = 1; }
message Request { repeated ResourceSpans resourceSpans = 1; }`;

/**
 * Creates a decoder for ExportTraceServiceRequest in protobuf, and an encoder for its response. Create them once,
 * because the schema is compiled.
 */
export function protobufCodec(): {
  decode: (body: Buffer) => OtelSpan[];
  encodeAnswer: (answer: object) => Uint8Array;
} {
  const { root } = protobuf.parse(PROTO);
  const type = root.lookupType("Request");
  const answerType = root.lookupType("Answer");
  const encodeAnswer = (answer: object) => answerType.encode(answerType.fromObject(answer)).finish();
  const decode = (body: Buffer): OtelSpan[] => {
    try {
      const message = type.toObject(type.decode(body), { longs: String, arrays: true, bytes: Buffer });
      return toSpans(message as { resourceSpans: never[] }, {
        id: (bytes) => (Buffer.isBuffer(bytes) ? bytes.toString("hex") : ""),
      });
    } catch (error) {
      throw new AppError(400, `The body is not an ExportTraceServiceRequest: ${coerceError(error).message}`, {
        cause: error,
      });
    }
  };
  return { decode, encodeAnswer };
}
