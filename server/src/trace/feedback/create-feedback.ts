import { AppError, notFound } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { checkConfig, normalizeConfig } from "../feedback-configs/check-config.ts";
import { ensureConfig } from "../feedback-configs/sql.ts";
import type { FeedbackCreate } from "./schema.ts";
import { findComparativeExperiments, type NewFeedback } from "./sql.ts";

export interface FeedbackAuthor {
  tenantId: string;
  userId: string | null;
}

/**
 * Stores feedback, all or none, including feedback whose run has not arrived yet. A known id replaces that feedback.
 * When this resolves it is durable and, unless ClickHouse is unavailable, visible to filters.
 *
 * @returns the ids, in order
 * @throws 400 for a configuration that contradicts the key's, 404 for a project or comparison outside the workspace,
 * 409 for an id already used by feedback on another run, 422 for values that its configuration excludes
 */
export async function createFeedback(
  deps: Pick<TraceDeps, "sql" | "projects" | "feedback" | "feedbackWriter">,
  author: FeedbackAuthor,
  inputs: FeedbackCreate[],
): Promise<string[]> {
  const ids = await storeFeedback(deps, author, inputs);
  await deps.feedback.flush();
  return ids;
}

/** Stores feedback without waiting until filters see it, for callers that store several batches and wait once. */
export async function storeFeedback(
  deps: Pick<TraceDeps, "sql" | "projects" | "feedbackWriter">,
  author: FeedbackAuthor,
  inputs: FeedbackCreate[],
): Promise<string[]> {
  const { sql } = deps;
  await checkReferences(deps, author.tenantId, inputs);
  for (const input of inputs) {
    const feedbackConfig = input.feedback_config ?? input.feedbackConfig;
    if (!feedbackConfig) continue;
    const config = normalizeConfig(feedbackConfig);
    checkConfig(config, input);
    const { same } = await ensureConfig(sql, author.tenantId, input.key, config);
    if (!same) throw new AppError(400, `Feedback "${input.key}" already has another configuration.`);
  }
  const known = await knownProjects(deps, author.tenantId, inputs);
  const rows = inputs.map((input) => toRow(author, input, known));
  // the last of several with the same id wins, as in separate requests
  const distinct = [...new Map(rows.map((row) => [row.feedback_id, row])).values()];
  if (distinct.length > 0) await deps.feedbackWriter.write(distinct);
  return rows.map((row) => row.feedback_id);
}

async function checkReferences(
  { sql, projects }: Pick<TraceDeps, "sql" | "projects">,
  tenantId: string,
  inputs: FeedbackCreate[],
): Promise<void> {
  for (const { run_id, session_id } of inputs) {
    if (run_id || !session_id) continue;
    if (!(await projects.hasProject(tenantId, session_id))) throw notFound("Project not found");
  }
  const experimentIds = [...new Set(inputs.flatMap((input) => input.comparative_experiment_id ?? []))];
  if (experimentIds.length === 0) return;
  const found = await findComparativeExperiments(sql, tenantId, experimentIds);
  if (found.size < experimentIds.length) throw notFound("Comparative experiment not found");
}

/**
 * Returns the existing ones of the projects named in the input. The run's own project takes precedence, so an unknown
 * one is not an error.
 */
async function knownProjects(
  { projects }: Pick<TraceDeps, "projects">,
  tenantId: string,
  inputs: FeedbackCreate[],
): Promise<Set<string>> {
  const claimedProjects = [...new Set(inputs.flatMap((input) => input.session_id ?? []))];
  const known = await Promise.all(claimedProjects.map((id) => projects.hasProject(tenantId, id)));
  return new Set(claimedProjects.filter((_, i) => known[i]));
}

function toRow(author: FeedbackAuthor, input: FeedbackCreate, projects: Set<string>): NewFeedback {
  const { key, score, value, comment, correction, session_id, feedback_source: source } = input;
  return {
    tenant_id: author.tenantId,
    feedback_id: input.id?.toLowerCase() ?? uuid7(),
    key,
    run_id: input.run_id ?? null,
    session_id: session_id && projects.has(session_id) ? session_id : null,
    trace_id: input.trace_id ?? null,
    start_time: input.start_time ?? null,
    score,
    value,
    comment,
    correction,
    extra: input.error == null ? (input.extra ?? null) : { ...input.extra, error: input.error },
    source_type: source?.type ?? "api",
    source_metadata: source?.metadata ?? null,
    user_id: author.userId,
    comparative_experiment_id: input.comparative_experiment_id ?? null,
    feedback_group_id: input.feedback_group_id ?? null,
    token_id: null,
    token_parameters: null,
    created_at: input.created_at ?? null,
    extends_retention: input.extend_trace_retention ?? true,
  };
}
