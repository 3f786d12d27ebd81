import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { readBuffer } from "../../base/http/read-body.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { takeTurns } from "../../base/take-turns.ts";
import { clientError, RejectedItems, storeValid } from "../ingest/ingest-runs.ts";
import { BODY_SETTING } from "../settings.ts";
import { RUN_BYTES } from "../ingest/run-piece.ts";
import { decodeJson, jsonStructure } from "./decode-json.ts";
import { protobufCodec } from "./decode-protobuf.ts";
import type { OtelSpan } from "./otel-span.ts";
import { type SpanRun, spanToRun } from "./span-to-run.ts";
import type { Read } from "./wire.ts";

const partialSuccess = z.object({ rejectedSpans: z.string(), errorMessage: z.string() });
type PartialSuccess = z.output<typeof partialSuccess>;

/** Converts the valid spans, as they are decoded, and adds the others to `rejected`. */
async function convert(
  spans: Iterable<Read<OtelSpan>>,
  project: string | undefined,
  rejected: RejectedItems,
): Promise<SpanRun[]> {
  const runs: SpanRun[] = [];
  const turn = takeTurns();
  for (const read of spans) {
    let span: OtelSpan | undefined;
    try {
      span = read();
      runs.push(spanToRun(span, project));
    } catch (error) {
      const name = span ? JSON.stringify(span.spanId.slice(0, 32)) : runs.length + rejected.count;
      rejected.add(`span ${name}`, clientError(error));
    }
    await turn();
  }
  return runs;
}

/**
 * OTLP endpoint. A request of which some spans are invalid gets a partial success, as the protocol says,
 * because exporters neither repeat nor split a rejected request. Unlike the hosted service it responds once the spans are
 * durable.
 */
export function otelRoutes(deps: TraceDeps): Route[] {
  const { gate, settings } = deps;
  const protobuf = protobufCodec();
  const { maxBodyBytes: maxBytes } = settings;
  const limit = { maxBytes, setting: BODY_SETTING, zstd: true };

  return [
    route({
      method: "POST",
      path: "/otel/v1/traces",
      // exporters append /v1/traces to an endpoint, and nothing to an endpoint for traces
      aliases: ["/api/v1/otel/v1/traces", "/otel", "/api/v1/otel", "/v1/traces", "/api/v1/v1/traces"],
      tag: "Ingest",
      permission: "runs:create",
      audit: "data",
      errorFamily: "error",
      summary: "Ingest OpenTelemetry spans, as OTLP over HTTP in protobuf or JSON",
      reads: ["application/x-protobuf", "application/json"],
      out: { 200: ["application/x-protobuf", z.object({ partialSuccess: partialSuccess.optional() })] },
      // bodies pass the gate of ingest, which holds them until they are durable
      streamsBody: true,
      errors: [400, 413, 415, 422, 429, 503],
      async handler({ c, principal }) {
        const type = (c.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
        const isJson = type.includes("json");
        if (!isJson && !type.includes("protobuf") && !type.endsWith("+proto")) {
          throw new AppError(415, "Content-Type must be application/x-protobuf or application/json");
        }
        let partialSuccess: PartialSuccess | undefined;
        await gate.admit(
          c.req.raw.headers,
          limit,
          async (body) => {
            const structure = (isJson ? jsonStructure : protobuf.structure)(limit);
            const bytes = await readBuffer(c.req.raw, limit, body, structure);
            const spans = isJson ? decodeJson(bytes.toString("utf8"), maxBytes) : protobuf.spans(bytes, maxBytes);
            const rejected = new RejectedItems();
            const runs = await convert(spans, c.req.header("langsmith-project"), rejected);
            const count = runs.length + rejected.count;
            await body.weigh(body.weight + count * RUN_BYTES);
            const collected = {
              messages: runs.map(({ message }) => message),
              attachments: runs.flatMap(({ message, attachments }) =>
                attachments.map((file) => ({ runId: message.id!, ...file })),
              ),
              feedback: [],
            };
            await storeValid(deps, principal, collected, rejected);
            if (rejected.count === 0) return;
            const error = rejected.error(count);
            if (rejected.count === count) throw error;
            partialSuccess = { rejectedSpans: String(rejected.count), errorMessage: error.message };
          },
          principal.workspaceId,
        );
        if (isJson) return c.json(partialSuccess ? { partialSuccess } : {});
        // an empty ExportTraceServiceResponse has no bytes
        const headers = { "Content-Type": "application/x-protobuf" };
        if (!partialSuccess) return c.body(null, 200, headers);
        return c.body(Uint8Array.from(protobuf.encodeAnswer({ partialSuccess })), 200, headers);
      },
    }),
  ];
}
