import { notFound, unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { findProject } from "../projects/sql.ts";
import { findRuleEvaluators, insertEvaluation, listEvaluations } from "./evaluation-sql.ts";
import { loadEvaluator } from "./load-evaluator.ts";
import { evaluatorNotFound } from "./save-evaluator.ts";
import * as schema from "./wire-schema.ts";

const tag = "Evaluators";

/** Routes that judge existing experiments. */
export function experimentEvaluationRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  const checkExperiment = async (tenantId: string, id: string): Promise<void> => {
    const project = await findProject(sql, tenantId, id);
    if (!project) throw notFound("Experiment not found");
    if (project.reference_dataset_id === null)
      throw unprocessable("experiment_id: the project is no experiment of a dataset");
  };
  const read = async (tenantId: string, id: string): Promise<Response> =>
    rawJson(`{"evaluations":${await listEvaluations(sql, tenantId, id)}}`);

  return [
    route({
      tag,
      method: "POST",
      ...v1("/runs/experiments/:experiment_id/evaluate"),
      permission: "evaluators:update",
      summary: "Judge all runs of an existing experiment by the evaluator of a rule, or by evaluators",
      params: schema.experimentParams,
      body: schema.evaluateExperimentBody,
      out: { 200: schema.evaluations },
      async handler({ params, body, principal }) {
        const { workspaceId } = principal;
        await checkExperiment(workspaceId, params.experiment_id);
        const field = body.rule_id == null ? "evaluator_ids" : "rule_id";
        const ids = body.evaluator_ids ?? (await findRuleEvaluators(sql, workspaceId, body.rule_id!));
        if (!ids) throw notFound("Rule not found");
        if (ids.length === 0) throw unprocessable("rule_id: the rule has no evaluator");
        const found = await Promise.all(ids.map((id) => loadEvaluator(deps, workspaceId, id)));
        if (found.includes(undefined)) throw evaluatorNotFound();
        const pair = found.find((evaluator) => evaluator!.definition.subject === "pair");
        if (pair) {
          throw unprocessable(
            `${field}: the evaluator "${pair.name}" compares two runs, and an experiment has one for an example. Compare two experiments (POST /api/v1/datasets/comparative), and let it judge their pairs (POST …/comparative/{id}/judges).`,
          );
        }
        for (const evaluator of found) {
          await insertEvaluation(sql, {
            tenant_id: workspaceId,
            evaluation_id: uuid7(),
            project_id: params.experiment_id,
            evaluator_id: evaluator!.id,
            version: evaluator!.version,
            rule_id: body.rule_id ?? null,
          });
        }
        deps.experimentEvaluator.wake();
        return read(workspaceId, params.experiment_id);
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/runs/experiments/:experiment_id/evaluations"),
      permission: "evaluators:read",
      summary: "List the evaluations of an experiment with their progress, newest first",
      params: schema.experimentParams,
      out: { 200: schema.evaluations },
      async handler({ params, principal }) {
        await checkExperiment(principal.workspaceId, params.experiment_id);
        return read(principal.workspaceId, params.experiment_id);
      },
    }),
  ];
}
