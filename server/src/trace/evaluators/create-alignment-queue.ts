import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { addItems } from "../annotation-queues/add-items.ts";
import { createQueue } from "../annotation-queues/create-queue.ts";
import { createBody } from "../annotation-queues/schema.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { RunScope } from "../runs/run-scope.ts";
import { findAlignmentQueue, selectJudgedRuns, setAlignmentQueue } from "./alignment-sql.ts";
import { loadEvaluator } from "./load-evaluator.ts";

/**
 * Returns the queue in which people label what an evaluator judges, creating it if necessary, and adds the newest judged
 * runs to it. @throws 404 for an unknown evaluator
 */
export async function createAlignmentQueue(
  deps: TraceDeps,
  principal: Principal,
  evaluatorId: string,
  { name, limit = 50 }: { name?: string | null | undefined; limit?: number } = {},
): Promise<{ annotation_queue_id: string; added: number }> {
  const tenantId = principal.workspaceId;
  const evaluator = await loadEvaluator(deps, tenantId, evaluatorId);
  if (!evaluator) throw notFound("Evaluator not found");
  const { definition } = evaluator;
  const scores = definition.type === "llm" ? (definition.scores ?? []) : [];
  const about = (key: string) => scores.find((score) => score.key === key)?.description;
  let queueId = await findAlignmentQueue(deps.sql, tenantId, evaluatorId);
  if (queueId === null) {
    const body = createBody.parse({
      name: name ?? `Alignment of ${evaluator.name}`,
      description: `Labels that the evaluator "${evaluator.name}" is compared with.`,
      rubric_items: evaluator.feedback_keys.map((key) => ({ feedback_key: key, description: about(key) || null })),
    });
    queueId = await createQueue(deps, RunScope.of(principal), body);
    await setAlignmentQueue(deps.sql, tenantId, evaluatorId, queueId);
  }
  const ids = limit === 0 ? [] : await selectJudgedRuns(deps.sql, tenantId, evaluatorId, limit);
  const found = await findRunKeys(deps.clickhouse, tenantId, ids);
  const known = new Set(found.filter((key) => !key.deleted).map((key) => key.id));
  const runs = ids.filter((id) => known.has(id)).map((run_id) => ({ run_id }));
  if (runs.length > 0) await addItems(deps, tenantId, queueId, runs, true);
  return { annotation_queue_id: queueId, added: runs.length };
}
