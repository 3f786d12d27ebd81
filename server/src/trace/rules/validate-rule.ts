import type { Principal } from "../../base/auth/principal.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { createEmbeddedEvaluator } from "../evaluators/create-embedded.ts";
import { evaluate } from "../evaluators/evaluate.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import type { Subject } from "../evaluators/schema.ts";
import { checkRule } from "./check-rule.ts";
import type { ValidateBody } from "./schema.ts";
import { deleteEvaluatorOfTrial } from "./sql.ts";

/** Judges test data as the rule's judge would. Nothing is stored but the judge's trace. @throws 404, 422 */
export async function validateRule(
  deps: TraceDeps,
  principal: Principal,
  body: ValidateBody,
  signal: AbortSignal,
): Promise<Record<string, unknown>[]> {
  const tenantId = principal.workspaceId;
  if (body.code_evaluators?.length) throw unprocessable("code_evaluators: only judges can be validated");
  if (!body.evaluators?.length && !body.evaluator_id) throw unprocessable("evaluators: name a judge to validate");
  await checkRule(deps, tenantId, body);
  const results: Record<string, unknown>[] = [];
  const judge = async (id: string) => {
    const evaluator = await loadEvaluator(deps, tenantId, id);
    if (!evaluator) throw notFound(`Evaluator not found: ${id}`);
    if (evaluator.definition.type === "code") throw unprocessable("evaluator_id: only judges can be validated");
    const judgement = await evaluate(deps, principal, evaluator, subjectOfTest(body), { signal });
    if (judgement.error !== null) results.push({ error: judgement.error, judge_run_id: judgement.judge_run_id });
    const { judge_run_id, cost_usd } = judgement;
    for (const score of judgement.feedback) results.push({ ...score, judge_run_id, cost_usd });
  };
  if (body.evaluator_id) await judge(body.evaluator_id);
  for (const evaluator of body.evaluators ?? []) {
    const id = await createEmbeddedEvaluator(deps, principal, { name: body.display_name, evaluators: [evaluator] });
    try {
      await judge(id);
    } finally {
      await deleteEvaluatorOfTrial(deps.sql, tenantId, id);
    }
  }
  return results;
}

function subjectOfTest(body: ValidateBody): Subject {
  const id = uuid7();
  const now = new Date().toISOString();
  const { test_inputs: inputs = null, test_outputs: outputs = null, test_reference_outputs: reference } = body;
  return {
    kind: "run",
    run: {
      id,
      trace_id: id,
      project_id: body.session_id ?? id,
      name: body.display_name,
      run_type: "chain",
      start_time: now,
      end_time: now,
      error: null,
      inputs,
      outputs,
      metadata: {},
      tags: [],
      thread_id: null,
      reference_example_id: null,
      parent_run_id: null,
      total_tokens: null,
      total_cost: null,
    },
    reference: reference ? { inputs, outputs: reference, metadata: {} } : undefined,
  };
}
