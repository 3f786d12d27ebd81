import { platform } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { checkJudge } from "./check-judge.ts";
import { createFromLibrary, listLibrary } from "./library.ts";
import { findEvaluator } from "./list-sql.ts";
import * as schema from "./wire-schema.ts";

const tag = "Evaluators";

/** Routes of the library of evaluators. */
export function evaluatorLibraryRoutes(deps: TraceDeps): Route[] {
  return [
    route({
      tag,
      method: "GET",
      ...platform("/evaluators/library"),
      permission: "evaluators:read",
      summary: "List the evaluators that ship with Heddle",
      out: { 200: schema.library },
      handler: async ({ c }) => c.json({ evaluators: listLibrary() }),
    }),
    route({
      tag,
      method: "POST",
      ...platform("/evaluators/from-library"),
      permission: "evaluators:create",
      summary: "Create an evaluator from the library",
      auditFields: ["library_id", "name"],
      body: schema.fromLibraryBody,
      out: { 201: schema.wrapped },
      async handler({ body, principal }) {
        const id = await createFromLibrary(deps, principal, body);
        const item = await findEvaluator(deps.sql, principal.workspaceId, id);
        return rawJson(`{"evaluator":${item}}`, {}, 201);
      },
    }),
    route({
      tag,
      method: "POST",
      ...platform("/evaluators/library/:library_id/check"),
      permission: "evaluators:create",
      audit: "data",
      summary: "Measure a judge of the library on its labelled examples by a model of your own",
      params: schema.libraryParams,
      body: schema.checkBody,
      out: { 200: schema.checked },
      handler: async ({ params, body, principal, c }) => {
        const order = { libraryId: params.library_id, model: body.model };
        return c.json(await checkJudge(deps, principal, order, c.req.raw.signal));
      },
    }),
  ];
}
