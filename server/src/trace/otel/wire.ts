import { AppError } from "../../base/errors.ts";
import type { Attributes, OtelSpan } from "./otel-span.ts";

/** Field that may be absent; JSON may send null, which means the same. */
type Sent<T> = T | null | undefined;
/** 64-bit numbers are text; JSON may send any number as text. */
type Figure = Sent<string | number>;

/** OTLP message shapes, the same for JSON and decoded protobuf. */
export interface WireValue {
  stringValue?: Sent<string>;
  boolValue?: Sent<boolean>;
  intValue?: Figure;
  doubleValue?: Figure;
  arrayValue?: Sent<{ values?: Sent<Sent<WireValue>[]> }>;
  kvlistValue?: Sent<{ values?: Sent<WireKeyValue[]> }>;
  bytesValue?: Sent<Buffer | string>;
}
export interface WireKeyValue {
  key?: Sent<string>;
  value?: Sent<WireValue>;
}
export interface WireSpan {
  traceId?: unknown;
  spanId?: unknown;
  parentSpanId?: unknown;
  name?: Sent<string>;
  startTimeUnixNano?: Figure;
  endTimeUnixNano?: Figure;
  attributes?: Sent<WireKeyValue[]>;
  events?: Sent<{ timeUnixNano?: Figure; name?: Sent<string>; attributes?: Sent<WireKeyValue[]> }[]>;
  status?: Sent<{ message?: Sent<string>; code?: Figure }>;
  kind?: Figure;
  traceState?: Sent<string>;
  links?: Sent<{ traceId?: unknown; spanId?: unknown; traceState?: Sent<string>; attributes?: Sent<WireKeyValue[]> }[]>;
  droppedAttributesCount?: Figure;
  droppedEventsCount?: Figure;
  droppedLinksCount?: Figure;
}
export interface WireResource {
  attributes?: Sent<WireKeyValue[]>;
}
export interface WireScope {
  name?: Sent<string>;
  version?: Sent<string>;
  attributes?: Sent<WireKeyValue[]>;
}

/** Spans of one scope of a resource. */
export interface SpanGroup {
  resource: Sent<WireResource>;
  scope: Sent<WireScope>;
  /** Size of both, which each span's run contains. */
  sharedBytes: number;
  spans: Read<WireSpan>[];
}

/** Decodes a span. @throws for an invalid one, which does not end the iteration */
export type Read<T> = () => T;

/** More than any collector sends at once. Each becomes a run, which takes some kilobytes until it is stored. */
const MAX_SPANS = 50_000;
/** Attributes, events or links of a span, or attributes of anything else. */
const MAX_PARTS = 10_000;

/**
 * Converts the spans of a request, one after another, each when it is read, so that the caller can reject single spans.
 *
 * @param read `id` decodes an id. `maxBytes`: what resources and scopes may take in all runs, each of which has a copy
 * @throws 413 for too many spans, or too large resources for their number
 */
export function* toSpans(
  groups: Iterable<SpanGroup>,
  read: { id(value: unknown): string; maxBytes: number },
): Generator<Read<OtelSpan>> {
  let spans = 0;
  let shared = 0;
  for (const { resource, scope, sharedBytes, spans: scopedSpans } of groups) {
    spans += scopedSpans.length;
    shared += sharedBytes * scopedSpans.length;
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
    for (const span of scopedSpans) yield () => toSpan(span(), about, origin, read);
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
      attributes: Number(span.droppedAttributesCount) || undefined,
      events: Number(span.droppedEventsCount) || undefined,
      links: Number(span.droppedLinksCount) || undefined,
    },
    scope,
    isError: span.status?.code === 2 || span.status?.code === "STATUS_CODE_ERROR",
    statusMessage: String(span.status?.message ?? ""),
    resource,
  };
}

/** @throws 413 for too many */
function few<T>(sent: Sent<T[]>, what: string): T[] {
  const parts = sent ?? [];
  if (parts.length <= MAX_PARTS) return parts;
  throw new AppError(413, `A span of the request has more than ${MAX_PARTS} ${what}.`);
}

const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

/** Reads a kind, which JSON exporters send as a number or by name. */
function spanKind(kind: Figure): number {
  if (typeof kind === "number") return kind;
  return Math.max(KINDS.indexOf(String(kind ?? "").replace(/^SPAN_KIND_/, "")), 0);
}

const decodeAttributes = (pairs: Sent<WireKeyValue[]>): Attributes => decodePairs(few(pairs, "attributes"), 0);

const decodePairs = (pairs: WireKeyValue[], depth: number): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key ?? "", decodeValue(value, depth)]));

/** Deeper nesting is useless to readers, and serializing it recurses on the stack. */
const MAX_DEPTH = 50;

function decodeValue(value: Sent<WireValue>, depth: number): unknown {
  if (!value || depth > MAX_DEPTH) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value;
  if (isSent(stringValue)) return stringValue;
  if (isSent(boolValue)) return boolValue;
  if (isSent(intValue)) {
    const number = Number(intValue);
    return Number.isSafeInteger(number) ? number : String(intValue);
  }
  // JSON sends NaN and infinities as text
  if (isSent(doubleValue)) return Number(doubleValue);
  if (arrayValue) return valuesIn(arrayValue).map((element) => decodeValue(element, depth + 1));
  if (kvlistValue) return decodePairs(valuesIn(kvlistValue), depth + 1);
  if (isSent(bytesValue)) {
    return (typeof bytesValue === "string" ? Buffer.from(bytesValue, "base64") : bytesValue).toString("base64");
  }
  return null;
}

const isSent = <T>(value: Sent<T>): value is T => value !== undefined && value !== null;

/** @throws 400 for elements that are not messages, which only JSON can send */
function valuesIn<T>({ values }: { values?: Sent<T[]> }): NonNullable<T>[] {
  if (!isSent(values)) return [];
  if (Array.isArray(values) && values.every((value) => value !== null && typeof value === "object"))
    return values as NonNullable<T>[];
  throw new AppError(400, "the values of a list or map are not a list of objects");
}

/** Converts nanoseconds, which exceed a double's precision, to whole microseconds. */
function toMicros(nanos: Figure): number {
  const text = typeof nanos === "number" ? String(BigInt(Math.round(nanos))) : String(nanos);
  return /^\d{1,20}$/.test(text) ? Number(BigInt(text) / 1000n) : 0;
}
