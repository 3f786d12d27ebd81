import type { Attributes, OtelSpan } from "./otel-span.ts";

/** OTLP message shapes, the same for JSON and decoded protobuf; every field may be absent. */
export interface WireValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string | number;
  doubleValue?: number;
  arrayValue?: { values?: WireValue[] };
  kvlistValue?: { values?: WireKeyValue[] };
  bytesValue?: Buffer | string;
}
export interface WireKeyValue {
  key?: string;
  value?: WireValue;
}
export interface WireSpan {
  traceId?: unknown;
  spanId?: unknown;
  parentSpanId?: unknown;
  name?: string;
  startTimeUnixNano?: string | number;
  endTimeUnixNano?: string | number;
  attributes?: WireKeyValue[];
  events?: { timeUnixNano?: string | number; name?: string; attributes?: WireKeyValue[] }[];
  status?: { message?: string; code?: number | string };
  kind?: number | string;
  traceState?: string;
  links?: { traceId?: unknown; spanId?: unknown; traceState?: string; attributes?: WireKeyValue[] }[];
  droppedAttributesCount?: number;
  droppedEventsCount?: number;
  droppedLinksCount?: number;
}
export interface WireScopeSpans {
  scope?: { name?: string; version?: string; attributes?: WireKeyValue[] };
  spans?: WireSpan[];
}
export interface WireRequest {
  resourceSpans?: { resource?: { attributes?: WireKeyValue[] }; scopeSpans?: WireScopeSpans[] }[];
}

/** Converts a request to spans. @param read decodes an id */
export function toSpans(request: WireRequest, read: { id(value: unknown): string }): OtelSpan[] {
  const spans: OtelSpan[] = [];
  for (const { resource, scopeSpans = [] } of request.resourceSpans ?? []) {
    const about = decodeAttributes(resource?.attributes);
    for (const { scope, spans: scopedSpans = [] } of scopeSpans) {
      const origin = {
        name: String(scope?.name ?? ""),
        version: String(scope?.version ?? ""),
        attributes: decodeAttributes(scope?.attributes),
      };
      for (const span of scopedSpans) {
        const parent = read.id(span.parentSpanId);
        spans.push({
          traceId: read.id(span.traceId),
          spanId: read.id(span.spanId),
          // some exporters send a root's parent as zeros
          parentSpanId: parent === "" || /^0+$/.test(parent) ? undefined : parent,
          name: String(span.name ?? ""),
          start: toMicros(span.startTimeUnixNano),
          end: toMicros(span.endTimeUnixNano),
          attributes: decodeAttributes(span.attributes),
          events: (span.events ?? []).map((event) => ({
            name: String(event.name ?? ""),
            time: toMicros(event.timeUnixNano),
            attributes: decodeAttributes(event.attributes),
          })),
          kind: spanKind(span.kind),
          links: (span.links ?? []).map((link) => ({
            traceId: read.id(link.traceId),
            spanId: read.id(link.spanId),
            traceState: String(link.traceState ?? ""),
            attributes: decodeAttributes(link.attributes),
          })),
          traceState: String(span.traceState ?? ""),
          dropped: {
            attributes: span.droppedAttributesCount || undefined,
            events: span.droppedEventsCount || undefined,
            links: span.droppedLinksCount || undefined,
          },
          scope: origin,
          isError: span.status?.code === 2 || span.status?.code === "STATUS_CODE_ERROR",
          statusMessage: String(span.status?.message ?? ""),
          resource: about,
        });
      }
    }
  }
  return spans;
}

const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

/** Reads a kind, which JSON exporters send as a number or by name. */
function spanKind(kind: number | string | undefined): number {
  if (typeof kind === "number") return kind;
  return Math.max(KINDS.indexOf(String(kind ?? "").replace(/^SPAN_KIND_/, "")), 0);
}

function decodeAttributes(pairs: WireKeyValue[] = []): Attributes {
  return Object.fromEntries(pairs.map(({ key = "", value }) => [key, decodeValue(value, 0)]));
}

/** Deeper nesting is useless to readers, and serializing it recurses on the stack. */
const MAX_DEPTH = 50;

function decodeValue(value: WireValue | undefined, depth: number): unknown {
  if (!value || depth > MAX_DEPTH) return null;
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.intValue !== undefined) {
    const number = Number(value.intValue);
    return Number.isSafeInteger(number) ? number : String(value.intValue);
  }
  if (value.doubleValue !== undefined) return value.doubleValue;
  if (value.arrayValue) return (value.arrayValue.values ?? []).map((element) => decodeValue(element, depth + 1));
  if (value.kvlistValue) {
    const pairs = value.kvlistValue.values ?? [];
    return Object.fromEntries(pairs.map((pair) => [pair.key ?? "", decodeValue(pair.value, depth + 1)]));
  }
  if (value.bytesValue !== undefined) {
    return Buffer.isBuffer(value.bytesValue) ? value.bytesValue.toString("base64") : value.bytesValue;
  }
  return null;
}

/** Converts nanoseconds, which exceed a double's precision, to whole microseconds. */
function toMicros(nanos: string | number | undefined): number {
  if (nanos === undefined || nanos === null || nanos === "") return 0;
  const text = typeof nanos === "number" ? BigInt(Math.round(nanos)).toString() : nanos;
  return /^\d{1,20}$/.test(text) ? Number(BigInt(text) / 1000n) : 0;
}
