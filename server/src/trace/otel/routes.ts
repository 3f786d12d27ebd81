import { z } from "zod";

import { AppError } from "../../base/errors.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { ingestRuns } from "../ingest/ingest-runs.ts";
import { readBuffer } from "../ingest/read-body.ts";
import { decodeJson } from "./decode-json.ts";
import { protobufDecoder } from "./decode-protobuf.ts";
import { spanToRun } from "./span-to-run.ts";

/** OTLP endpoint (contract §2). Unlike the hosted service it responds once the spans are durable. */
export function otelRoutes(deps: TraceDeps): Route[] {
  const { gate, settings } = deps;
  const decodeProtobuf = protobufDecoder();

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
      out: { 200: ["application/x-protobuf", z.object({})] },
      errors: [400, 413, 415, 422, 429, 503],
      async handler({ c, principal }) {
        const type = (c.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
        const isJson = type.includes("json");
        if (!isJson && !type.includes("protobuf") && !type.endsWith("+proto")) {
          throw new AppError(415, "Content-Type must be application/x-protobuf or application/json");
        }
        const length = c.req.header("content-length");
        const compressed = c.req.header("content-encoding") !== undefined;
        await gate.admit(
          { length: length === undefined ? undefined : Number(length), compressed },
          async (reservation) => {
            const body = await readBuffer(c.req.raw, settings.maxBodyBytes, reservation);
            const spans = isJson ? decodeJson(body.toString("utf8")) : decodeProtobuf(body);
            const runs = spans.map((span) => spanToRun(span, c.req.header("langsmith-project")));
            await ingestRuns(deps, principal, {
              messages: runs.map(({ message }) => message),
              attachments: runs.flatMap(({ message, attachments }) =>
                attachments.map((file) => ({ runId: message.id!, ...file })),
              ),
              feedback: [],
            });
          },
          principal.workspaceId,
        );
        if (isJson) return c.json({});
        // an empty ExportTraceServiceResponse has no bytes
        return c.body(null, 200, { "Content-Type": "application/x-protobuf" });
      },
    }),
  ];
}
