import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { v1 } from "../../base/http/aliases.ts";
import { BodyTooLargeError } from "../../base/http/hold-body.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { JsonStructure, type StructureLimit } from "../../base/json-structure.ts";
import { BODY_SETTING } from "../settings.ts";
import type { Collected } from "./collect-parts.ts";
import { ingestMultipart } from "./ingest-multipart.ts";
import type { Reservation } from "./ingest-gate.ts";
import { ingestRuns, onlyRuns } from "./ingest-runs.ts";
import { readText } from "./read-body.ts";
import { readBatch, readSingle } from "./read-messages.ts";
import { MAX_PORTIONS } from "./read-portions.ts";
import { MAX_RUNS, RUN_BYTES, tooManyRuns } from "./run-piece.ts";

const accepted = z.object({ message: z.string() });
const shared = {
  tag: "Ingest",
  permission: "runs:create",
  audit: "data",
  errorFamily: "error",
  out: { 202: accepted },
  errors: [400, 413, 415, 422, 429, 503],
} as const;

/**
 * Ingest endpoints (contract §1). All return 202 once their data is durable: visible to every query, or waiting for its
 * run (waiting-pieces.ts).
 */
export function ingestRoutes(deps: TraceDeps): Route[] {
  const { gate, settings } = deps;
  /** Admits a request within the memory limit and answers 202 when `work` has read and stored its body. */
  const receive = async (
    request: Request,
    { workspaceId }: Pick<Principal, "workspaceId">,
    work: (reservation: Reservation) => Promise<void>,
    message: string,
  ): Promise<Response> => {
    const length = request.headers.get("content-length");
    const compressed = request.headers.has("content-encoding");
    await gate.admit({ length: length === null ? undefined : Number(length), compressed }, work, workspaceId);
    return Response.json({ message }, { status: 202 });
  };
  const { maxBodyBytes: maxBytes } = settings;
  const structure = (limit: StructureLimit) => new JsonStructure(limit);
  // two lists have as many elements as commas, and two more
  const maxItems = { count: MAX_RUNS, error: tooManyRuns };
  const batch = (limit: StructureLimit) => new JsonStructure({ ...limit, maxItems });
  const text = (request: Request, reservation: Reservation, counted = structure) =>
    readText(request, maxBytes, reservation, counted);
  const store = async (principal: Principal, collected: Collected, reservation: Reservation) => {
    reservation.weigh(reservation.weight + collected.messages.length * RUN_BYTES);
    await ingestRuns(deps, principal, collected);
  };

  return [
    route({
      ...shared,
      ...v1("/runs"),
      method: "POST",
      summary: "Create a run",
      reads: ["application/json"],
      handler: ({ c, principal }) =>
        receive(
          c.req.raw,
          principal,
          async (reservation) =>
            store(principal, onlyRuns([readSingle(await text(c.req.raw, reservation), "post")]), reservation),
          "Run created",
        ),
    }),
    route({
      ...shared,
      ...v1("/runs/:run_id"),
      method: "PATCH",
      summary: "Update a run; absent and null fields keep their values",
      reads: ["application/json"],
      params: z.object({ run_id: z.string() }),
      handler: ({ c, principal, params }) =>
        receive(
          c.req.raw,
          principal,
          async (reservation) => {
            const message = readSingle(await text(c.req.raw, reservation), "patch", params.run_id);
            await store(principal, onlyRuns([message]), reservation);
          },
          "Run updated",
        ),
    }),
    route({
      ...shared,
      ...v1("/runs/batch"),
      method: "POST",
      summary: "Create and update runs",
      reads: ["application/json"],
      handler: ({ c, principal }) =>
        receive(
          c.req.raw,
          principal,
          async (reservation) =>
            store(principal, onlyRuns(readBatch(await text(c.req.raw, reservation, batch))), reservation),
          "Runs batch ingested",
        ),
    }),
    route({
      ...shared,
      ...v1("/runs/multipart"),
      method: "POST",
      summary: "Create and update runs, with attachments and feedback, as multipart/form-data",
      reads: ["multipart/form-data"],
      // the gate of ingest limits it, as it is stored portion by portion
      streamsBody: true,
      handler({ c, principal }) {
        if (Number(c.req.header("content-length") ?? 0) > MAX_PORTIONS * maxBytes)
          throw new BodyTooLargeError(MAX_PORTIONS * maxBytes, BODY_SETTING);
        return receive(
          c.req.raw,
          principal,
          (reservation) => ingestMultipart(deps, principal, c.req.raw, reservation),
          "Runs batch ingested",
        );
      },
    }),
  ];
}
