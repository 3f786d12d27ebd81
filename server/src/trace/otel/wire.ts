import { AppError } from "../../base/errors.ts";
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
export interface WireResource {
  attributes?: WireKeyValue[];
}
export interface WireScope {
  name?: string;
  version?: string;
  attributes?: WireKeyValue[];
}

/** Spans of one scope of a resource. */
export interface SpanGroup {
  resource: WireResource | undefined;
  scope: WireScope | undefined;
  /** Size of both, which each span's run contains. */
  sharedBytes: number;
  count: number;
  /** Decoded one after another. */
  spans: Iterable<WireSpan>;
}

/** More than any collector sends at once. Each becomes a run, which takes some kilobytes until it is stored. */
const MAX_SPANS = 50_000;
/** Attributes, events or links of a span, or attributes of anything else. */
const MAX_PARTS = 10_000;

/**
 * Converts the spans of a request, one after another.
 *
 * @param read `id` decodes an id. `maxBytes`: what resources and scopes may take in all runs, each of which has a copy
 * @throws 413 for too many spans, or too large resources for their number
 */
export function* toSpans(
  groups: Iterable<SpanGroup>,
  read: { id(value: unknown): string; maxBytes: number },
): Generator<OtelSpan> {
  let spans = 0;
  let shared = 0;
  for (const { resource, scope, sharedBytes, count, spans: scopedSpans } of groups) {
    spans += count;
    shared += sharedBytes * count;
    if (spans > MAX_SPANS) throw new AppError(413, `A request can have at most ${MAX_SPANS} spans. Send fewer.`);
    if (shared > read.maxBytes) {
      throw new AppError(
        413,
        "Each span is stored with the attributes of its resource and scope. For the spans of this request they take " +
          `more than ${read.maxBytes} bytes. Send fewer spans in a request.`,
      );
    }
    const about = decodeAttributes(resource?.attributes);
    const origin = {
      name: String(scope?.name ?? ""),
      version: String(scope?.version ?? ""),
      attributes: decodeAttributes(scope?.attributes),
    };
    for (const span of scopedSpans) yield toSpan(span, about, origin, read);
  }
}

function toSpan(
  span: WireSpan,
  resource: Attributes,
  scope: OtelSpan["scope"],
  read: { id(value: unknown): string },
): OtelSpan {
  const parent = read.id(span.parentSpanId);
  return {
    traceId: read.id(span.traceId),
    spanId: read.id(span.spanId),
    // some exporters send a root's parent as zeros
    parentSpanId: parent === "" || /^0+$/.test(parent) ? undefined : parent,
    name: String(span.name ?? ""),
    start: toMicros(span.startTimeUnixNano),
    end: toMicros(span.endTimeUnixNano),
    attributes: decodeAttributes(span.attributes),
    events: few(span.events, "events").map((event) => ({
      name: String(event.name ?? ""),
      time: toMicros(event.timeUnixNano),
      attributes: decodeAttributes(event.attributes),
    })),
    kind: spanKind(span.kind),
    links: few(span.links, "links").map((link) => ({
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
    scope,
    isError: span.status?.code === 2 || span.status?.code === "STATUS_CODE_ERROR",
    statusMessage: String(span.status?.message ?? ""),
    resource,
  };
}

/** @throws 413 for too many */
function few<T>(parts: T[] = [], what: string): T[] {
  if (parts.length <= MAX_PARTS) return parts;
  throw new AppError(413, `A span of the request has more than ${MAX_PARTS} ${what}.`);
}

const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

/** Reads a kind, which JSON exporters send as a number or by name. */
function spanKind(kind: number | string | undefined): number {
  if (typeof kind === "number") return kind;
  return Math.max(KINDS.indexOf(String(kind ?? "").replace(/^SPAN_KIND_/, "")), 0);
}

function decodeAttributes(pairs?: WireKeyValue[]): Attributes {
  return Object.fromEntries(few(pairs, "attributes").map(({ key = "", value }) => [key, decodeValue(value, 0)]));
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
