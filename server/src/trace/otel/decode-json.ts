import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { boundedParse } from "../../base/http/bounded-parse.ts";
import { JsonStructure, type Structure, type StructureLimit } from "../../base/json-structure.ts";
import type { OtelSpan } from "./otel-span.ts";
import { type SpanGroup, toSpans, type WireResource, type WireScope, type WireSpan } from "./wire.ts";

/** Levels of a request. Attributes are read to 50 levels, each of which is four here. */
const MAX_DEPTH = 500;

const keyValues = z
  .array(z.looseObject({ key: z.string() }))
  .nullish()
  .transform(dropNull);
const nanos = z.union([z.string(), z.number()]).optional();
/** Lists of parts, which are validated one after another. */
const parts = z.array(z.unknown()).nullish().transform(dropNull);

const request = z.object({ resourceSpans: parts });
const resourceSpans = z.object({
  resource: z.object({ attributes: keyValues }).nullish().transform(dropNull),
  scopeSpans: parts,
});
const scopeSpans = z.object({
  scope: z
    .looseObject({ name: z.string().nullish(), version: z.string().nullish(), attributes: keyValues })
    .nullish()
    .transform(dropNull),
  spans: parts,
});
const wireSpan = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().nullish(),
  name: z.string().optional(),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes: keyValues,
  events: z
    .array(z.looseObject({ name: z.string().optional(), timeUnixNano: nanos, attributes: keyValues }))
    .nullish()
    .transform(dropNull),
  links: z
    .array(z.looseObject({ traceId: z.string().nullish(), spanId: z.string().nullish(), attributes: keyValues }))
    .nullish()
    .transform(dropNull),
  status: z
    .looseObject({ message: z.string().nullish(), code: z.union([z.number(), z.string()]).optional() })
    .nullish(),
});

export const jsonStructure = (limit: StructureLimit): Structure => new JsonStructure({ ...limit, maxDepth: MAX_DEPTH });

/**
 * Decodes an ExportTraceServiceRequest in OTLP's JSON format, one span after another: ids are hexadecimal, 64-bit numbers
 * may be text. @param maxBytes as in `toSpans`
 */
export function decodeJson(text: string, maxBytes: number): Generator<OtelSpan> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new AppError(400, "Malformed JSON in request body");
  }
  return toSpans(groups(json), { maxBytes, id: (id) => (typeof id === "string" ? id.toLowerCase() : "") });
}

function* groups(json: unknown): Generator<SpanGroup> {
  const { resourceSpans: list = [] } = valid(request, json);
  for (const [i, outer] of list.entries()) {
    const { resource, scopeSpans: scopes = [] } = valid(resourceSpans, outer, `resourceSpans.${i}`);
    for (const [j, inner] of scopes.entries()) {
      const path = `resourceSpans.${i}.scopeSpans.${j}`;
      const { scope, spans = [] } = valid(scopeSpans, inner, path);
      yield {
        resource: resource as WireResource | undefined,
        scope: scope as WireScope | undefined,
        sharedBytes: size(resource) + size(scope),
        count: spans.length,
        spans: validEach(spans, path),
      };
    }
  }
}

function* validEach(spans: unknown[], path: string): Generator<WireSpan> {
  for (const [k, span] of spans.entries()) yield valid(wireSpan, span, `${path}.spans.${k}`) as WireSpan;
}

function valid<S extends z.ZodType>(schema: S, value: unknown, path = ""): z.output<S> {
  const parsed = boundedParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = [path, ...issue!.path].filter((part) => part !== "").join(".");
  throw new AppError(400, `The body is not an ExportTraceServiceRequest: ${place}: ${issue!.message}`);
}

const size = (value: object | undefined): number => (value === undefined ? 0 : JSON.stringify(value).length);

function dropNull<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}
