import { AppError } from "../../base/errors.ts";
import { platform } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { addAlignment } from "./add-alignment.ts";
import { findEvaluator, listEvaluators, listVersions } from "./list-sql.ts";
import { readDefinition } from "./read-fields.ts";
import { readSpending } from "./read-spending.ts";
import { changeEvaluator, createEvaluator, evaluatorNotFound, removeEvaluator } from "./save-evaluator.ts";
import { tryEvaluator } from "./try-evaluator.ts";
import * as schema from "./wire-schema.ts";

const tag = "Evaluators";

/** Routes of evaluators. */
export function evaluatorRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const read = async (tenantId: string, id: string): Promise<string> => {
    const item = await findEvaluator(sql, tenantId, id);
    if (item === undefined) throw evaluatorNotFound();
    return item;
  };
  const wrap = (item: string, status = 200) => rawJson(`{"evaluator":${item}}`, {}, status);

  return [
    route({
      tag,
      method: "GET",
      ...platform("/evaluators"),
      permission: "evaluators:read",
      summary: "List evaluators with their rules and spending",
      query: schema.listQuery,
      out: { 200: schema.evaluators },
      async handler({ query, principal, c }) {
        const list = await listEvaluators(sql, principal.workspaceId, query);
        return query.include_alignment ? c.json(await addAlignment(deps, principal.workspaceId, list)) : rawJson(list);
      },
    }),
    route({
      tag,
      method: "POST",
      ...platform("/evaluators"),
      permission: "evaluators:create",
      summary: "Create an evaluator: a judge or code",
      auditFields: ["name", "type"],
      body: schema.createBody,
      out: { 201: schema.wrapped },
      async handler({ body, principal }) {
        const { name, description, type } = body;
        const definition = readDefinition(type, body);
        const id = await createEvaluator(deps, principal, { name, description, definition });
        return wrap(await read(principal.workspaceId, id), 201);
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...platform("/evaluators"),
      permission: "evaluators:delete",
      summary: "Delete evaluators; their feedback stays",
      query: schema.deleteManyQuery,
      out: { 200: schema.deletedMany },
      async handler({ query, principal, c }) {
        const succeeded: string[] = [];
        const failed: { id: string; error: string }[] = [];
        for (const id of query.evaluator_ids) {
          try {
            await removeEvaluator(deps, principal.workspaceId, id, query.delete_run_rules ?? false);
            succeeded.push(id);
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
            failed.push({ id, error: error.message });
          }
        }
        return c.json({ succeeded, failed });
      },
    }),
    route({
      tag,
      method: "POST",
      ...platform("/evaluators/try"),
      permission: "evaluators:create",
      audit: "data",
      summary: "Judge some runs by an evaluator, saved or not; nothing is stored but the judge's traces",
      body: schema.tryBody,
      out: { 200: schema.tried },
      errors: [404],
      handler: async ({ body, principal, c }) => c.json(await tryEvaluator(deps, principal, body, c.req.raw.signal)),
    }),
    // before /evaluators/:evaluator_id, which would match "spend" as an id
    route({
      tag,
      method: "GET",
      ...platform("/evaluators/spend"),
      permission: "evaluators:read",
      summary: "Get what evaluators spent in a week, by day",
      query: schema.spendQuery,
      out: { 200: schema.spending },
      handler: async ({ query, principal, c }) => c.json(await readSpending(deps, principal.workspaceId, query)),
    }),
    route({
      tag,
      method: "GET",
      ...platform("/evaluators/:evaluator_id"),
      permission: "evaluators:read",
      summary: "Get an evaluator in its newest version",
      params: schema.params,
      out: { 200: schema.evaluator },
      handler: async ({ params, principal }) => rawJson(await read(principal.workspaceId, params.evaluator_id)),
    }),
    route({
      tag,
      method: "PATCH",
      ...platform("/evaluators/:evaluator_id"),
      permission: "evaluators:update",
      summary: "Update an evaluator; a change of what it does is a new version",
      params: schema.params,
      body: schema.patchBody,
      out: { 200: schema.wrapped },
      errors: [404, 409],
      async handler({ params, body, principal }) {
        await changeEvaluator(deps, principal, params.evaluator_id, body);
        return wrap(await read(principal.workspaceId, params.evaluator_id));
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...platform("/evaluators/:evaluator_id"),
      permission: "evaluators:delete",
      summary: "Delete an evaluator; its feedback stays",
      params: schema.params,
      query: schema.deleteQuery,
      out: { 204: null },
      errors: [404, 409],
      async handler({ params, query, principal, c }) {
        await removeEvaluator(deps, principal.workspaceId, params.evaluator_id, query.delete_run_rules ?? false);
        return c.body(null, 204);
      },
    }),
    route({
      tag,
      method: "GET",
      ...platform("/evaluators/:evaluator_id/versions"),
      permission: "evaluators:read",
      summary: "List the versions of an evaluator, newest first",
      params: schema.params,
      out: { 200: schema.versions },
      async handler({ params, principal }) {
        await read(principal.workspaceId, params.evaluator_id);
        const items = await listVersions(sql, principal.workspaceId, params.evaluator_id);
        return rawJson(`{"versions":${items}}`);
      },
    }),
  ];
}
