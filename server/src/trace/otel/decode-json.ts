import { z } from "zod";

import { AppError, unprocessable } from "../../base/errors.ts";
import { isNestedDeeper } from "../ingest/raw-fields.ts";
import type { OtelSpan } from "./otel-span.ts";
import { toSpans, type WireRequest } from "./wire.ts";

const keyValues = z
  .array(z.looseObject({ key: z.string() }))
  .nullish()
  .transform(dropNull);
const nanos = z.union([z.string(), z.number()]).optional();
const request = z.object({
  resourceSpans: z
    .array(
      z.object({
        resource: z.object({ attributes: keyValues }).nullish().transform(dropNull),
        scopeSpans: z
          .array(
            z.object({
              scope: z
                .looseObject({ name: z.string().nullish(), version: z.string().nullish(), attributes: keyValues })
                .nullish()
                .transform(dropNull),
              spans: z
                .array(
                  z.looseObject({
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
                      .array(
                        z.looseObject({
                          traceId: z.string().nullish(),
                          spanId: z.string().nullish(),
                          attributes: keyValues,
                        }),
                      )
                      .nullish()
                      .transform(dropNull),
                    status: z
                      .looseObject({
                        message: z.string().nullish(),
                        code: z.union([z.number(), z.string()]).optional(),
                      })
                      .nullish(),
                  }),
                )
                .nullish()
                .transform(dropNull),
            }),
          )
          .nullish()
          .transform(dropNull),
      }),
    )
    .nullish()
    .transform(dropNull),
});

/** Decodes an ExportTraceServiceRequest in OTLP's JSON format: ids are hexadecimal, 64-bit numbers may be text. */
export function decodeJson(text: string): OtelSpan[] {
  if (isBroken(text)) throw new AppError(400, "Malformed JSON in request body");
  if (isNestedDeeper(text, 500)) throw unprocessable("The request body is nested more than 500 deep");
  const parsed = request.safeParse(JSON.parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AppError(
      400,
      `The body is not an ExportTraceServiceRequest: ${issue!.path.join(".")}: ${issue!.message}`,
    );
  }
  return toSpans(parsed.data as WireRequest, { id: (id) => (typeof id === "string" ? id.toLowerCase() : "") });
}

function isBroken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function dropNull<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}
