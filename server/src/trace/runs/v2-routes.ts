import { z } from "zod";

import { v2 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { surround, jsonFrom } from "./json-stream.ts";
import { serializationContext } from "./serialization-context.ts";
import { planV2 } from "./serialize-v2.ts";
import { checkProjects, serializeRuns } from "./query-runs.ts";
import { readFilters, pageText, queryRunsV2, queryTraces, retrieveRunV2 } from "./query-v2.ts";
import { loadScope } from "./load-scope.ts";
import { limited } from "./limited.ts";
import { answerPage } from "./page-answer.ts";
import { RunScope } from "./run-scope.ts";
import * as schema from "./v2-schema.ts";

const shared = { tag: "Runs (v2)", permission: "runs:read", errorFamily: "problem" } as const;

export function runV2Routes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      ...v2("/runs/query"),
      method: "POST",
      summary: "Query runs of projects or of a dataset's experiments, in pages",
      body: schema.queryBody,
      out: { 200: schema.page },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, body.project_ids);
        return answerPage(
          c,
          pageText(await queryRunsV2(deps, scope, serializationContext(deps.settings, scope, c), body)),
        );
      },
    }),
    route({
      ...shared,
      ...v2("/runs/:run_id"),
      method: "GET",
      summary: "Get a run of a project",
      params: schema.runParams,
      query: schema.retrieveQuery,
      out: { 200: schema.run },
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        const selection = { ids: [params.run_id], projects: [query.project_id] };
        const context = serializationContext(deps.settings, scope, c);
        return rawJson(await retrieveRunV2(deps, scope, context, selection, query.selects));
      },
    }),
    route({
      ...shared,
      ...v2("/runs/:run_id/url"),
      method: "GET",
      summary: "Get the console's URL of a run",
      params: schema.runParams,
      query: schema.urlQuery,
      out: { 200: z.object({ url: z.string() }) },
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        const selection = { ids: [params.run_id], projects: [query.project_id], traces: [query.trace_id] };
        const context = serializationContext(deps.settings, scope, c);
        const run = await retrieveRunV2(deps, scope, context, selection, ["APP_PATH"]);
        return c.json({ url: context.consoleUrl + (JSON.parse(run) as { app_path: string }).app_path });
      },
    }),
    route({
      ...shared,
      ...v2("/traces/query"),
      method: "POST",
      summary: "Query traces of a project, in pages",
      body: schema.tracesBody,
      out: { 200: schema.tracesPage },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, [body.project_id]);
        return answerPage(
          c,
          pageText(await queryTraces(deps, scope, serializationContext(deps.settings, scope, c), body)),
        );
      },
    }),
    route({
      ...shared,
      ...v2("/traces/:trace_id/runs"),
      method: "GET",
      summary: "List the runs of a trace, ordered by start",
      params: schema.traceParams,
      query: schema.traceRunsQuery,
      out: { 200: z.object({ items: z.array(schema.run) }) },
      errors: [400],
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, [query.project_id]);
        const selection = limited({
          projects: [query.project_id],
          traces: [params.trace_id],
          since: query.min_start_time,
          until: query.max_start_time,
          filters: readFilters(query.filter),
        });
        const context = serializationContext(deps.settings, scope, c);
        const known = await loadScope(deps, scope, selection);
        const runs = serializeRuns(deps, known, context, selection, planV2(query.selects), { descending: false });
        return jsonFrom(surround('{"items":', runs, "}"));
      },
    }),
  ];
}
