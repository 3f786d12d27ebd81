import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { v1 } from "../../base/http/aliases.ts";
import type { TenantBody } from "../../base/http/held-body.ts";
import { type BodyLimit, readBuffer } from "../../base/http/read-body.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { JsonStructure, type StructureLimit } from "../../base/json-structure.ts";
import { BODY_SETTING } from "../settings.ts";
import type { Collected } from "./collect-parts.ts";
import { ingestMultipart, multipartLimit } from "./ingest-multipart.ts";
import { ingestRuns, onlyRuns } from "./ingest-runs.ts";
import { readBatch, readSingle } from "./read-messages.ts";
import { MAX_RUNS, RUN_BYTES, tooManyRuns } from "./run-piece.ts";

const accepted = z.object({ message: z.string() });
const shared = {
  tag: "Ingest",
  permission: "runs:create",
  audit: "data",
  errorFamily: "error",
  out: { 202: accepted },
  // bodies pass the gate of ingest, which holds them until they are durable
  streamsBody: true,
  errors: [400, 413, 415, 422, 429, 503],
} as const;

/**
 * Ingest endpoints. All return 202 once their data is durable: visible to every query, or waiting for its run
 * (waiting-pieces.ts). Data of deleted runs is dropped, also with 202.
 */
export function ingestRoutes(deps: TraceDeps): Route[] {
  const { gate, settings } = deps;
  const limit = { maxBytes: settings.maxBodyBytes, setting: BODY_SETTING, zstd: true };
  /** Admits a request within the memory limit and answers 202 when `work` has read and stored its body. */
  const receive = async (
    request: Request,
    { workspaceId }: Pick<Principal, "workspaceId">,
    work: (body: TenantBody) => Promise<void>,
    message: string,
    most: BodyLimit = limit,
  ): Promise<Response> => {
    await gate.admit(request.headers, most, work, workspaceId);
    return Response.json({ message }, { status: 202 });
  };
  // bounds the lists by their commas before they are decoded; readBatch counts the runs
  const maxItems = { count: MAX_RUNS, error: tooManyRuns };
  const text = async (request: Request, body: TenantBody, most: Partial<StructureLimit> = {}) =>
    (await readBuffer(request, limit, body, new JsonStructure({ ...limit, ...most }))).toString("utf8");
  const store = async (principal: Principal, collected: Collected, body: TenantBody) => {
    await body.weigh(body.weight + collected.messages.length * RUN_BYTES);
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
          async (body) => store(principal, onlyRuns([readSingle(await text(c.req.raw, body), "post")]), body),
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
          async (body) => {
            const message = readSingle(await text(c.req.raw, body), "patch", params.run_id);
            await store(principal, onlyRuns([message]), body);
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
          async (body) => store(principal, onlyRuns(readBatch(await text(c.req.raw, body, { maxItems }))), body),
          "Runs batch ingested",
        ),
    }),
    route({
      ...shared,
      ...v1("/runs/multipart"),
      method: "POST",
      summary: "Create and update runs, with attachments and feedback, as multipart/form-data",
      reads: ["multipart/form-data"],
      // stored portion by portion
      handler: ({ c, principal }) =>
        receive(
          c.req.raw,
          principal,
          (body) => ingestMultipart(deps, principal, c.req.raw, body),
          "Runs batch ingested",
          multipartLimit(limit.maxBytes),
        ),
    }),
  ];
}
