import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { checkWebhook } from "../../base/webhooks/check-webhook.ts";
import { findQueue } from "../annotation-queues/sql.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { findVersion } from "../evaluators/sql.ts";
import { limitConditions } from "../filter/limit-conditions.ts";
import { findProject } from "../projects/sql.ts";
import { RULES } from "../prompt-webhooks/prompt-webhooks.ts";
import { readRuleFilters } from "../rule-candidates/rule-filters.ts";
import type { PatchBody } from "./schema.ts";

type Deps = Pick<TraceDeps, "sql" | "outbound">;

/**
 * Checks what a rule names: it must be of the workspace, the URLs of webhooks allowed, and the filters must compile.
 * @throws 404 for an unknown project, dataset, queue or evaluator; 422 for an invalid filter or URL
 */
export async function checkRule({ sql, outbound }: Deps, tenantId: string, body: Partial<PatchBody>): Promise<void> {
  const { session_id, dataset_id, add_to_dataset_id, add_to_annotation_queue_id: queue, evaluator_id } = body;
  checkFilters(body);
  for (const { url } of body.webhooks ?? []) checkWebhook(RULES, outbound, url);
  if (session_id != null && dataset_id != null) {
    throw unprocessable("session_id, dataset_id: a rule has a project or a dataset, not both");
  }
  if (session_id != null) {
    const project = await findProject(sql, tenantId, session_id);
    if (!project) throw notFound(`Session not found: ${session_id}`);
  }
  for (const id of new Set([dataset_id, add_to_dataset_id])) {
    if (id != null && !(await findDatasetRow(sql, tenantId, id))) throw notFound(`Dataset not found: ${id}`);
  }
  if (queue != null && (await findQueue(sql, tenantId, queue)) === undefined) {
    throw notFound(`Annotation queue not found: ${queue}`);
  }
  if (evaluator_id != null) {
    const evaluator = await findVersion(sql, tenantId, evaluator_id);
    if (!evaluator) throw notFound(`Evaluator not found: ${evaluator_id}`);
    if (evaluator.definition.subject === "pair") {
      throw unprocessable(
        `evaluator_id: the evaluator "${evaluator.name}" compares two runs, and a rule judges one; use it in the comparison of two experiments`,
      );
    }
  }
}

/** @throws 422 that names the field of an invalid filter, or for too many conditions */
function checkFilters(body: Pick<Partial<PatchBody>, "filter" | "trace_filter" | "tree_filter">): void {
  const texts = { filter: null, trace_filter: null, tree_filter: null };
  for (const field of ["filter", "trace_filter", "tree_filter"] as const) {
    try {
      readRuleFilters({ ...texts, [field]: body[field] ?? null });
    } catch (error) {
      if (error instanceof AppError) throw unprocessable(`${field}: ${error.message}`);
      throw error;
    }
  }
  const { filter = null, trace_filter = null, tree_filter = null } = body;
  limitConditions(Object.values(readRuleFilters({ filter, trace_filter, tree_filter })));
}
