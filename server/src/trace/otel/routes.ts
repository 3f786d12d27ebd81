import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { clientError, type RejectedItem, rejection, storeValid } from "../ingest/ingest-runs.ts";
import { readBuffer } from "../ingest/read-body.ts";
import { decodeJson } from "./decode-json.ts";
import { protobufCodec } from "./decode-protobuf.ts";
import type { OtelSpan } from "./otel-span.ts";
import { type SpanRun, spanToRun } from "./span-to-run.ts";

const partialSuccess = z.object({ rejectedSpans: z.string(), errorMessage: z.string() });
type PartialSuccess = z.output<typeof partialSuccess>;

/** Converts the valid spans. */
function convert(spans: OtelSpan[], project: string | undefined): { runs: SpanRun[]; rejected: RejectedItem[] } {
  const runs: SpanRun[] = [];
  const rejected: RejectedItem[] = [];
  for (const span of spans) {
    try {
      runs.push(spanToRun(span, project));
    } catch (error) {
      rejected.push({ what: `span ${JSON.stringify(span.spanId.slice(0, 32))}`, error: clientError(error) });
    }
  }
  return { runs, rejected };
}

/**
 * OTLP endpoint (contract §2). A request of which some spans are invalid gets a partial success, as the protocol says,
 * because exporters neither repeat nor split a rejected request. Unlike the hosted service it responds once the spans are
 * durable.
 */
export function otelRoutes(deps: TraceDeps): Route[] {
  const { gate, settings } = deps;
  const { decode: decodeProtobuf, encodeAnswer } = protobufCodec();

  return [
    route({
      method: "POST",
      path: "/otel/v1/traces",
      aliases: ["/api/v1/otel/v1/traces"],
      tag: "Ingest",
      permission: "runs:create",
      audit: "data",
      errorFamily: "error",
      summary: "Ingest OpenTelemetry spans, as OTLP over HTTP in protobuf or JSON",
      reads: ["application/x-protobuf", "application/json"],
      out: { 200: ["application/x-protobuf", z.object({ partialSuccess: partialSuccess.optional() })] },
      errors: [400, 413, 415, 422, 429, 503],
      async handler({ c, principal }) {
        const type = (c.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
        const isJson = type.includes("json");
        if (!isJson && !type.includes("protobuf") && !type.endsWith("+proto")) {
          throw new AppError(415, "Content-Type must be application/x-protobuf or application/json");
        }
        const length = c.req.header("content-length");
        const compressed = c.req.header("content-encoding") !== undefined;
        let partialSuccess: PartialSuccess | undefined;
        await gate.admit(
          { length: length === undefined ? undefined : Number(length), compressed },
          async (reservation) => {
            const body = await readBuffer(c.req.raw, settings.maxBodyBytes, reservation);
            const spans = isJson ? decodeJson(body.toString("utf8")) : decodeProtobuf(body);
            const { runs, rejected } = convert(spans, c.req.header("langsmith-project"));
            const invalid = await storeValid(deps, principal, {
              messages: runs.map(({ message }) => message),
              attachments: runs.flatMap(({ message, attachments }) =>
                attachments.map((file) => ({ runId: message.id!, ...file })),
              ),
              feedback: [],
            });
            rejected.push(...invalid);
            if (rejected.length === 0) return;
            const error = rejection(rejected, spans.length);
            if (rejected.length === spans.length) throw error;
            partialSuccess = { rejectedSpans: String(rejected.length), errorMessage: error.message };
          },
          principal.workspaceId,
        );
        if (isJson) return c.json(partialSuccess ? { partialSuccess } : {});
        // an empty ExportTraceServiceResponse has no bytes
        const headers = { "Content-Type": "application/x-protobuf" };
        if (!partialSuccess) return c.body(null, 200, headers);
        return c.body(Uint8Array.from(encodeAnswer({ partialSuccess })), 200, headers);
      },
    }),
  ];
}
