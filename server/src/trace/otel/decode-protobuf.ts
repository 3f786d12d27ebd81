import protobuf from "protobufjs";

import { AppError, coerceError } from "../../base/errors.ts";
import type { Structure, StructureLimit } from "../../base/json-structure.ts";
import type { OtelSpan } from "./otel-span.ts";
import { ProtobufStructure, readShape } from "./protobuf-structure.ts";
import { type Read, type SpanGroup, toSpans, type WireResource, type WireScope, type WireSpan } from "./wire.ts";

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
message Request { repeated ResourceSpans resourceSpans = 1; }
// the same without what they hold
message RequestParts { repeated bytes resourceSpans = 1; }
message ResourceParts { bytes resource = 1; repeated bytes scopeSpans = 2; }
message ScopeParts { bytes scope = 1; repeated bytes spans = 2; }`;

const ROLES = { ResourceSpans: "part", ScopeSpans: "part", Resource: "unit", Scope: "unit", Span: "unit" } as const;

export interface ProtobufCodec {
  /** Counts the messages of a body. */
  structure: (limit: StructureLimit) => Structure;
  /** Decodes one span after another, so that only one is in memory as messages. @param maxBytes as in `toSpans` */
  spans: (body: Buffer, maxBytes: number) => Generator<Read<OtelSpan>>;
  decode: (body: Buffer) => OtelSpan[];
  encodeAnswer: (answer: object) => Uint8Array;
}

/**
 * Creates a decoder for ExportTraceServiceRequest in protobuf, and an encoder for its response. Create them once,
 * because the schema is compiled.
 */
export function protobufCodec(): ProtobufCodec {
  const { root } = protobuf.parse(PROTO);
  const answerType = root.lookupType("Answer");
  const decoder = <T>(name: string) => {
    const type = root.lookupType(name);
    return (bytes: Uint8Array) => {
      try {
        return type.toObject(type.decode(bytes), { longs: String, arrays: true, bytes: Buffer }) as T;
      } catch (error) {
        throw new AppError(400, `The body is not an ExportTraceServiceRequest: ${coerceError(error).message}`, {
          cause: error,
        });
      }
    };
  };
  const request = decoder<{ resourceSpans: Buffer[] }>("RequestParts");
  const resourceSpans = decoder<{ resource?: Buffer; scopeSpans: Buffer[] }>("ResourceParts");
  const scopeSpans = decoder<{ scope?: Buffer; spans: Buffer[] }>("ScopeParts");
  const resource = decoder<WireResource>("Resource");
  const scope = decoder<WireScope>("Scope");
  const span = decoder<WireSpan>("Span");

  function* groups(body: Buffer): Generator<SpanGroup> {
    for (const outer of request(body).resourceSpans) {
      const { resource: about, scopeSpans: scopes } = resourceSpans(outer);
      for (const inner of scopes) {
        const { scope: origin, spans } = scopeSpans(inner);
        yield {
          resource: about && resource(about),
          scope: origin && scope(origin),
          sharedBytes: (about?.length ?? 0) + (origin?.length ?? 0),
          spans: spans.map((bytes) => () => span(bytes)),
        };
      }
    }
  }
  const spans = (body: Buffer, maxBytes: number): Generator<Read<OtelSpan>> =>
    toSpans(groups(body), { maxBytes, id: (bytes) => (Buffer.isBuffer(bytes) ? bytes.toString("hex") : "") });

  const shape = readShape(root.lookupType("Request"), ROLES);
  return {
    structure: (limit) => new ProtobufStructure(shape, limit),
    spans,
    decode: (body) => Array.from(spans(body, Infinity), (read) => read()),
    encodeAnswer: (answer) => answerType.encode(answerType.fromObject(answer)).finish(),
  };
}
