import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1, v2 } from "../../base/http/aliases.ts";
import { uuid } from "../../base/http/fields.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { feedbackOfTrace } from "../feedback/public-sql.ts";
import { publicListQuery } from "../feedback/schema.ts";
import { surround, jsonFrom } from "../runs/json-stream.ts";
import { serializationContext } from "../runs/serialization-context.ts";
import { planShared } from "../runs/serialize-v1.ts";
import { planV2 } from "../runs/serialize-v2.ts";
import { serializePage, retrieveRunV2 } from "../runs/query-v2.ts";
import { serializeRuns } from "../runs/query-runs.ts";
import * as run from "../runs/query-schema.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import type { RunSelection } from "../runs/selection.ts";
import * as v2Schema from "../runs/v2-schema.ts";
import * as schema from "./schema.ts";
import { openShare } from "./share-trace.ts";
import type { Share } from "../runs/share-sql.ts";

const shared = {
  tag: "Sharing",
  permission: "public",
  publicBecause: "the share token in the path is the credential",
} as const;

/** Fields of v2 that would reveal the trace's location. */
const HIDDEN = new Set(["PROJECT_ID", "APP_PATH", "REFERENCE_EXAMPLE_ID", "REFERENCE_DATASET_ID", "IS_IN_DATASET"]);
const publicSelects = (selects: readonly string[] | undefined) => selects?.filter((name) => !HIDDEN.has(name));

export function publicRunRoutes(deps: TraceDeps): Route[] {
  const selectTrace = async ({ tenant_id, project_id, trace_id }: Share) => ({
    scope: await loadScope(deps, RunScope.ofTenant(tenant_id)),
    selection: { projects: [project_id], traces: [trace_id] } satisfies RunSelection,
  });
  return [
    route({
      ...shared,
      ...v1("/public/:share_token/run"),
      method: "GET",
      summary: "Get the root run of a shared trace",
      params: schema.publicParams,
      out: { 200: run.sharedRun },
      async handler({ params, c }) {
        const share = await openShare(deps, params.share_token);
        const { scope, selection } = await selectTrace(share);
        const context = serializationContext(deps.settings, scope, c);
        const root = { ...selection, is_head: true };
        const { items } = await serializePage(deps, scope, context, root, planShared(), {
          descending: false,
          limit: 1,
        });
        if (items.length === 0) throw notFound("Run not found");
        return rawJson(items[0]!);
      },
    }),
    route({
      ...shared,
      ...v1("/public/:share_token/run/:run_id"),
      method: "GET",
      summary: "Get a run of a shared trace",
      params: schema.publicRunParams,
      query: run.readQuery,
      out: { 200: run.sharedRun },
      async handler({ params, c }) {
        const share = await openShare(deps, params.share_token);
        const { scope, selection } = await selectTrace(share);
        const context = serializationContext(deps.settings, scope, c);
        const selected = { ...selection, ids: [params.run_id] };
        const { items } = await serializePage(deps, scope, context, selected, planShared(), {
          descending: false,
          limit: 1,
        });
        if (items.length === 0) throw notFound("Run not found");
        return rawJson(items[0]!);
      },
    }),
    route({
      ...shared,
      ...v1("/public/:share_token/runs/query"),
      method: "POST",
      summary: "List the runs of a shared trace",
      params: schema.publicParams,
      body: schema.publicQueryBody,
      out: { 200: z.object({ runs: z.array(run.sharedRun), cursors: z.object({ next: z.null(), prev: z.null() }) }) },
      async handler({ params, body, c }) {
        const share = await openShare(deps, params.share_token);
        const { scope, selection } = await selectTrace(share);
        const context = serializationContext(deps.settings, scope, c);
        const runs = { ...selection, ids: body.id ?? undefined };
        return jsonFrom(
          surround(
            '{"runs":',
            serializeRuns(deps, scope, context, runs, planShared(), { descending: false }),
            ',"cursors":{"next":null,"prev":null}}',
          ),
        );
      },
    }),
    // the JavaScript client omits the question mark
    ...["/public/:share_token/runs", "/public/:share_token/:query{runs[^/]+}"].map((path) =>
      route({
        ...shared,
        path: `/api/v1${path}`,
        aliases: [path],
        method: "GET",
        summary: "List the runs of a shared trace as an array",
        params: schema.publicParams.extend({ query: z.string().max(100_000).optional() }),
        query: z.object({ id: z.union([uuid, z.array(uuid)]).optional() }),
        out: { 200: z.array(run.sharedRun) },
        async handler({ params, query, c }) {
          const share = await openShare(deps, params.share_token);
          const { scope, selection } = await selectTrace(share);
          const context = serializationContext(deps.settings, scope, c);
          const named = new URLSearchParams(params.query?.slice("runs".length)).getAll("id");
          const ids = z
            .array(uuid)
            .max(1000)
            .parse([...named, ...(query.id === undefined ? [] : [query.id].flat())]);
          const runs = { ...selection, ids: ids.length > 0 ? ids : undefined };
          return jsonFrom(serializeRuns(deps, scope, context, runs, planShared(), { descending: false }));
        },
      }),
    ),
    route({
      ...shared,
      ...v1("/public/:share_token/feedbacks"),
      method: "GET",
      summary: "List feedback on the runs of a shared trace",
      params: schema.publicParams,
      query: publicListQuery,
      out: { 200: z.array(z.object({ id: uuid, key: z.string() }).loose()) },
      async handler({ params, query }) {
        const share = await openShare(deps, params.share_token);
        return rawJson(await feedbackOfTrace(deps.sql, share, query, query));
      },
    }),
    route({
      ...shared,
      ...v2("/public/:share_token/runs/query"),
      errorFamily: "problem",
      method: "POST",
      summary: "List the runs of a shared trace",
      params: schema.publicParams,
      body: z.object({ selects: v2Schema.selects }),
      out: { 200: z.object({ items: z.array(v2Schema.run) }) },
      async handler({ params, body, c }) {
        const share = await openShare(deps, params.share_token);
        const { scope, selection } = await selectTrace(share);
        const context = serializationContext(deps.settings, scope, c);
        const runs = serializeRuns(deps, scope, context, selection, planV2(publicSelects(body.selects)), {
          descending: false,
        });
        return jsonFrom(surround('{"items":', runs, "}"));
      },
    }),
    route({
      ...shared,
      ...v2("/public/:share_token/run/:run_id"),
      errorFamily: "problem",
      method: "GET",
      summary: "Get a run of a shared trace",
      params: schema.publicRunParams,
      query: z.object({ selects: v2Schema.querySelects, start_time: v2Schema.queryTime }),
      out: { 200: v2Schema.run },
      async handler({ params, query, c }) {
        const share = await openShare(deps, params.share_token);
        const { scope, selection } = await selectTrace(share);
        const context = serializationContext(deps.settings, scope, c);
        const selected = { ...selection, ids: [params.run_id] };
        return rawJson(await retrieveRunV2(deps, scope, context, selected, publicSelects(query.selects)));
      },
    }),
  ];
}
