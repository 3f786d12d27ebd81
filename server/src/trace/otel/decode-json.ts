import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { boundedParse } from "../../base/http/bounded-parse.ts";
import { JsonStructure, type Structure, type StructureLimit } from "../../base/json-structure.ts";
import type { OtelSpan } from "./otel-span.ts";
import { type Read, type SpanGroup, toSpans, type WireResource, type WireScope, type WireSpan } from "./wire.ts";

/** Levels of a request. Attributes are read to 50 levels, each of which is four here. */
const MAX_DEPTH = 500;

// a field that is null is absent, as in any JSON of protobuf
const text = z.string().nullish();
const figure = z.union([z.string(), z.number()]).nullish();
const keyValue = z.looseObject({ key: text, value: z.looseObject({}).nullish() });
const keyValues = z.array(keyValue).nullish();
/** Lists of parts, which are validated one after another. */
const parts = z.array(z.unknown()).nullish();

const request = z.object({ resourceSpans: parts });
const resourceSpans = z.object({ resource: z.object({ attributes: keyValues }).nullish(), scopeSpans: parts });
const scopeSpans = z.object({
  scope: z.looseObject({ name: text, version: text, attributes: keyValues }).nullish(),
  spans: parts,
});
const wireSpan = z.looseObject({
  traceId: text,
  spanId: text,
  parentSpanId: text,
  traceState: text,
  name: text,
  kind: figure,
  startTimeUnixNano: figure,
  endTimeUnixNano: figure,
  attributes: keyValues,
  events: z.array(z.looseObject({ name: text, timeUnixNano: figure, attributes: keyValues })).nullish(),
  links: z.array(z.looseObject({ traceId: text, spanId: text, traceState: text, attributes: keyValues })).nullish(),
  status: z.looseObject({ message: text, code: figure }).nullish(),
  droppedAttributesCount: figure,
  droppedEventsCount: figure,
  droppedLinksCount: figure,
});

export const jsonStructure = (limit: StructureLimit): Structure => new JsonStructure({ ...limit, maxDepth: MAX_DEPTH });

/**
 * Decodes an ExportTraceServiceRequest in OTLP's JSON format, one span after another: ids are hexadecimal, 64-bit numbers
 * may be text. @param maxBytes as in `toSpans`
 */
export function decodeJson(text: string, maxBytes: number): Generator<Read<OtelSpan>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new AppError(400, "Malformed JSON in request body");
  }
  return toSpans(groups(json), { maxBytes, id: (id) => (typeof id === "string" ? id.toLowerCase() : "") });
}

function* groups(json: unknown): Generator<SpanGroup> {
  const { resourceSpans: list } = valid(request, json);
  for (const [i, outer] of (list ?? []).entries()) {
    const { resource, scopeSpans: scopes } = valid(resourceSpans, outer, `resourceSpans.${i}`);
    for (const [j, inner] of (scopes ?? []).entries()) {
      const path = `resourceSpans.${i}.scopeSpans.${j}`;
      const { scope, spans: sent } = valid(scopeSpans, inner, path);
      const spans = sent ?? [];
      yield {
        resource: resource as WireResource,
        scope: scope as WireScope,
        sharedBytes: size(resource) + size(scope),
        spans: spans.map((span, k) => () => valid(wireSpan, span, `${path}.spans.${k}`) as WireSpan),
      };
    }
  }
}

function valid<S extends z.ZodType>(schema: S, value: unknown, path = ""): z.output<S> {
  const parsed = boundedParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = [path, ...issue!.path].filter((part) => part !== "").join(".");
  throw new AppError(400, `The body is not an ExportTraceServiceRequest: ${place}: ${issue!.message}`);
}

const size = (value: object | null | undefined): number => (value ? JSON.stringify(value).length : 0);
