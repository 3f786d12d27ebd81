import { z } from "zod";

import { v1, v2 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { RunScope } from "../runs/run-scope.ts";
import * as schema from "./schema.ts";
import { locateRun, shareTrace, unshareTrace } from "./share-trace.ts";
import { deleteTraceShares, findShares } from "../runs/share-sql.ts";

const shared = { tag: "Sharing", permission: "runs:share" } as const;

export function sharingRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      ...shared,
      ...v1("/runs/:run_id/share"),
      method: "PUT",
      summary: "Share the trace of a run by a public link",
      params: schema.runParams,
      body: schema.shareBody,
      out: { 200: schema.share },
      errors: [409],
      async handler({ params, body, principal, c }) {
        const scope = RunScope.of(principal);
        const key = await locateRun(deps, scope, params.run_id);
        return c.json({ run_id: params.run_id, share_token: await shareTrace(deps, scope, key, body.share_token) });
      },
    }),
    route({
      ...shared,
      ...v1("/runs/:run_id/share"),
      method: "GET",
      permission: "runs:read",
      summary: "Get the share token of a run's trace; null if it is not shared",
      params: schema.runParams,
      out: { 200: schema.share.nullable() },
      async handler({ params, principal }) {
        const scope = RunScope.of(principal);
        const key = await locateRun(deps, scope, params.run_id);
        const share_token = (await findShares(sql, scope.tenantId, [key.trace_id])).get(key);
        return rawJson(share_token === undefined ? "null" : JSON.stringify({ run_id: params.run_id, share_token }));
      },
    }),
    route({
      ...shared,
      ...v1("/runs/:run_id/share"),
      method: "DELETE",
      summary: "Stop sharing the trace of a run",
      params: schema.runParams,
      out: { 200: z.object({}) },
      async handler({ params, principal, c }) {
        const scope = RunScope.of(principal);
        const { trace_id, project_id } = await locateRun(deps, scope, params.run_id);
        await deleteTraceShares(sql, scope.tenantId, [trace_id], [project_id]);
        return c.json({});
      },
    }),
    route({
      ...shared,
      ...v2("/runs/:run_id/share"),
      errorFamily: "problem",
      method: "POST",
      summary: "Share the trace of a run by a public link",
      params: schema.runParams,
      body: schema.shareV2Body,
      out: { 200: z.object({ share_token: z.string() }) },
      async handler({ params, principal, c }) {
        const scope = RunScope.of(principal);
        const key = await locateRun(deps, scope, params.run_id);
        return c.json({ share_token: await shareTrace(deps, scope, key) });
      },
    }),
    route({
      ...shared,
      ...v2("/runs/:run_id/share"),
      errorFamily: "problem",
      method: "DELETE",
      summary: "Stop sharing a trace, by its id or the id of any of its runs; 204 also if it was not shared",
      params: schema.runParams,
      body: schema.unshareV2Body,
      out: { 204: null },
      async handler({ params, principal, c }) {
        await unshareTrace(deps, RunScope.of(principal), params.run_id);
        return c.body(null, 204);
      },
    }),
  ];
}
