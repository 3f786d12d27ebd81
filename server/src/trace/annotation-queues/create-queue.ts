import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { findConfigs } from "../feedback-configs/sql.ts";
import { findComparativeExperiments } from "../feedback/sql.ts";
import { checkProjects } from "../runs/query-runs.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { populateBody } from "./item-schema.ts";
import { populateQueue } from "./populate-queue.ts";
import { pairExperiments } from "./pair-runs.ts";
import type { RubricItem } from "./rubric-schema.ts";
import type { QueueCreate } from "./schema.ts";
import { insertQueue } from "./sql.ts";

/**
 * Creates a queue, with the roots of `session_ids`. @returns its id
 * @throws 404 for an unknown dataset or project, 409 for an id in use
 */
export async function createQueue(deps: TraceDeps, scope: RunScope, body: QueueCreate): Promise<string> {
  const { tenantId } = scope;
  await checkDataset(deps, tenantId, body.default_dataset);
  await checkProjects(deps, scope, body.session_ids ?? undefined);
  await checkConfigs(deps, tenantId, body.rubric_items);
  if (body.comparative_experiment_id != null) {
    const found = await findComparativeExperiments(deps.sql, tenantId, [body.comparative_experiment_id]);
    if (found.size === 0) throw notFound("Comparative experiment not found");
  }
  const queue_id = body.id ?? uuid7();
  const inserted = await insertQueue(deps.sql, {
    tenant_id: tenantId,
    queue_id,
    name: body.name,
    description: body.description ?? null,
    rubric_instructions: body.rubric_instructions ?? null,
    rubric_items: body.rubric_items ?? null,
    metadata: body.metadata ?? null,
    default_dataset: body.default_dataset ?? null,
    num_reviewers_per_item: body.num_reviewers_per_item,
    enable_reservations: body.enable_reservations,
    reservation_minutes: body.reservation_minutes,
    reviewer_access_mode: body.reviewer_access_mode,
    queue_type: body.queue_type,
    comparative_experiment_id: body.comparative_experiment_id ?? null,
    created_at: body.created_at ?? null,
    updated_at: body.updated_at ?? null,
  });
  if (!inserted) throw conflict(`An annotation queue with the id ${queue_id} already exists.`);
  const [first, second] = body.session_ids ?? [];
  if (body.queue_type === "pairwise" && first !== undefined && second !== undefined) {
    await pairExperiments(deps, tenantId, queue_id, [first, second]);
  } else if (body.session_ids?.length) {
    await populateQueue(deps, scope, populateBody.parse({ queue_id, session_ids: body.session_ids }));
  }
  return queue_id;
}

/** @throws 404 when the workspace has no such dataset */
export async function checkDataset(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  id: string | null | undefined,
): Promise<void> {
  if (id != null && !(await findDatasetRow(sql, tenantId, id))) throw notFound("Dataset not found");
}

/** @throws 422 when a rubric names a configuration that its key does not have */
export async function checkConfigs(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  items: readonly RubricItem[] | null | undefined,
): Promise<void> {
  const named = (items ?? []).filter((item) => item.feedback_config_id != null);
  if (named.length === 0) return;
  const keys = named.map((item) => item.feedback_key);
  const configs = await findConfigs(sql, tenantId, keys);
  const wrong = named.find((item) => configs.get(item.feedback_key)?.id !== item.feedback_config_id);
  if (wrong) {
    throw unprocessable(
      `rubric_items: "${wrong.feedback_key}" has no configuration ${wrong.feedback_config_id}. ` +
        "GET /api/v1/feedback-configs lists the configurations of keys.",
    );
  }
}
