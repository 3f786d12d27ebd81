import { z } from "zod";

import { AppError, notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { FilterError } from "../filter/filter-error.ts";
import { readFilter } from "../filter/read-filter.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { findProvisionalRoots } from "../run-rows/provisional-roots-sql.ts";
import { jsonFrom } from "./json-stream.ts";
import { planV1 } from "./serialize-v1.ts";
import { serializationContext } from "./serialization-context.ts";
import { checkProjects, queryRuns, toSelection } from "./query-runs.ts";
import { loadScope } from "./load-scope.ts";
import * as schema from "./query-schema.ts";
import { startLookups } from "./related.ts";
import { histogramOfRuns } from "./histogram.ts";
import { RunScope } from "./run-scope.ts";
import { type ShownKey, shownKey } from "./shown-keys.ts";
import { readRuns } from "./select-page.ts";
import { statsOfRuns } from "./stats-runs.ts";
import { histogram, histogramBody, stats, statsBody, timeline, timelineBody } from "./stats-schema.ts";
import { timelineOfRuns } from "./timeline.ts";

const shared = { tag: "Runs", permission: "runs:read" } as const;

/** Fields of a single run that a query does not return. */
const ONE_RUN = ["child_run_ids", "direct_child_run_ids", "inputs_preview", "outputs_preview", "s3_urls"] as const;

export function runQueryRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      ...shared,
      ...v1("/runs/query"),
      method: "POST",
      summary: "Query runs by filter, newest first, in pages",
      body: schema.queryBody,
      out: { 200: schema.queryAnswer },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, body.session);
        return jsonFrom(queryRuns(deps, scope, serializationContext(deps.settings, scope, c), body));
      },
    }),
    route({
      ...shared,
      ...v1("/runs/query/validate"),
      method: "POST",
      permission: "public",
      publicBecause: "the validity of an expression does not depend on the caller",
      summary: "Validate the filter expressions of a query, and locate errors",
      body: schema.queryBody,
      out: { 200: schema.validationAnswer },
      handler({ body, c }) {
        const fields = ["filter", "trace_filter", "tree_filter", "search_filter"] as const;
        const errors = fields.flatMap((field) => {
          const message = filterProblem(body[field]);
          return message === undefined ? [] : [{ field, message }];
        });
        const tooMany = errors.length === 0 ? tooManyConditions(body) : undefined;
        if (tooMany !== undefined) errors.push({ field: "filter", message: tooMany });
        return c.json({ valid: errors.length === 0, errors });
      },
    }),
    route({
      ...shared,
      ...v1("/runs/stats"),
      method: "POST",
      summary: "Get statistics of runs, in total or by group",
      body: statsBody,
      out: { 200: z.union([stats, z.record(z.string(), stats)]) },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, body.session);
        const selection = toSelection(body);
        return c.json(await statsOfRuns(deps, await loadScope(deps, scope, selection), selection, body));
      },
    }),
    route({
      ...shared,
      ...v1("/runs/stats/timeline"),
      method: "POST",
      summary: "Get statistics of runs in time buckets, in total or by group",
      body: timelineBody,
      out: { 200: timeline },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, body.session);
        const selection = toSelection(body);
        return c.json(await timelineOfRuns(deps, await loadScope(deps, scope, selection), selection, body));
      },
    }),
    route({
      ...shared,
      ...v1("/runs/stats/histogram"),
      method: "POST",
      summary: "Count runs by latency or cost, in logarithmic bins",
      body: histogramBody,
      out: { 200: histogram },
      errors: [400, 404],
      async handler({ body, principal, c }) {
        const scope = RunScope.of(principal);
        await checkProjects(deps, scope, body.session);
        const selection = toSelection(body);
        return c.json(await histogramOfRuns(deps, await loadScope(deps, scope, selection), selection, body));
      },
    }),
    route({
      ...shared,
      ...v1("/runs/:run_id"),
      method: "GET",
      summary: "Get a run",
      params: schema.runParams,
      query: schema.readQuery,
      out: { 200: schema.run },
      errors: [404],
      async handler({ params, query, principal, c }) {
        const scope = RunScope.of(principal);
        const projects = query.session_id === undefined ? undefined : [query.session_id];
        const plan = planV1(undefined, { more: [...ONE_RUN, ...(query.include_messages ? ["messages"] : [])] });
        const read = async (key: ShownKey) => {
          if (!(projects?.includes(key.project_id) ?? true)) return undefined;
          // begun first, since it takes longest
          const rows = readRuns(deps.clickhouse, await loadScope(deps, scope), [key], plan.columns);
          const related = startLookups(deps, scope, [key], plan.lookups);
          const [row] = await rows;
          return row && plan.print(row, await related([row]), serializationContext(deps.settings, scope, c));
        };
        const shown = shownKey(scope.tenantId, params.run_id);
        let run = shown && !deps.writer.mayBeDeleted(shown) ? await read(shown) : undefined;
        if (run === undefined) {
          const [key] = await findRunKeys(deps.clickhouse, scope.tenantId, [params.run_id]);
          if (key && !key.deleted) run = await read(key);
        }
        if (run === undefined) throw await missingRun(deps, scope, params.run_id);
        return rawJson(run);
      },
    }),
  ];
}

/** Returns the error for an id without a run, which may be that of a trace. */
async function missingRun({ sql }: Pick<TraceDeps, "sql">, scope: RunScope, id: string): Promise<AppError> {
  const [root] = await findProvisionalRoots(sql, scope.tenantId, [id]);
  if (!root) return notFound("Run not found");
  return notFound(`Run not found: the root of trace ${id} has not arrived. Run ${root.run_id} stands in for it`);
}

function tooManyConditions(body: schema.QueryBody): string | undefined {
  try {
    toSelection({ ...body, id: undefined });
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.status === 422) return error.message;
    throw error;
  }
}

function filterProblem(expression: string | undefined): string | undefined {
  if (expression === undefined) return undefined;
  try {
    readFilter(expression);
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}
