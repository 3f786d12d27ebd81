import { isDeepStrictEqual } from "node:util";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { limitConditions } from "../filter/limit-conditions.ts";
import { readFilter } from "../filter/read-filter.ts";
import { type AlertDefinition, expressionFor, isPlatformMetric, PLATFORM_METRICS } from "./definition.ts";
import { endRule } from "./evaluate-rule.ts";
import { replaceChannels, takeChannels } from "./replace-channels.ts";
import type { ActionInput } from "./channel-schema.ts";
import { type CreateBody, MAX_RULES, type PatchBody, type RulePatch } from "./schema.ts";
import { deleteChannelSecrets, putChannelSecrets } from "./secrets.ts";
import * as rows from "./sql.ts";
import { unknownAlert } from "./unknown-alert.ts";

export type ChangeDeps = Pick<
  TraceDeps,
  "sql" | "secrets" | "outbound" | "settings" | "projects" | "alertMessages" | "alertEvaluator"
>;

/** @throws 404 for an unknown project; 409 for an id that is taken; 422 for an invalid rule or channel */
export async function createAlert(
  deps: ChangeDeps,
  { workspaceId, actor }: Principal,
  projectId: string | null,
  body: CreateBody,
): Promise<string> {
  await checkProject(deps, workspaceId, projectId);
  const { rule } = body;
  const row: rows.AlertRuleFields = {
    rule_id: rule.id ?? uuid7(),
    tenant_id: workspaceId,
    project_id: projectId,
    name: rule.name,
    definition: checkScope(composeDefinition(rule, undefined), projectId),
    severity: rule.severity ?? "error",
    is_enabled: rule.enabled ?? true,
    silenced_until: rule.silenced_until == null ? null : new Date(rule.silenced_until),
    maintenance: rule.maintenance_windows ?? [],
    actions: [],
    created_by: actor.userId,
    budget: null,
  };
  await storeRule(deps, row, body.actions, { max: MAX_RULES, noun: "alert rules" });
  return row.rule_id;
}

/** Inserts a rule or budget with its channels. @throws 409, 422 */
export async function storeRule(
  deps: ChangeDeps,
  row: rows.AlertRuleFields,
  inputs: readonly ActionInput[],
  { max, noun }: { max: number; noun: string },
): Promise<void> {
  const { actions, values } = takeChannels(deps, inputs, [], {});
  row.actions = actions;
  try {
    await deps.sql.begin(async (tx) => {
      if (!(await rows.insertAlertRule(tx, row, max))) {
        throw unprocessable(`A workspace can have at most ${max} ${noun}.`);
      }
      await putChannelSecrets(deps.secrets, row, values, tx);
    });
  } catch (error) {
    if ((error as { code?: string }).code === "23505") throw conflict(`The id ${row.rule_id} is taken.`);
    throw error;
  }
  deps.alertEvaluator.wake();
}

/**
 * Changes the fields that are sent. A rule that now means something else resolves what fires; so does a disabled one.
 * @throws 404, 422
 */
export async function changeAlert(
  deps: ChangeDeps,
  workspaceId: string,
  projectId: string | null,
  id: string,
  { rule: patch = {}, actions: inputs }: PatchBody,
): Promise<void> {
  const { sql, settings } = deps;
  await sql.begin(async (tx) => {
    const before = await rows.findAlertRule(tx, workspaceId, id, "lock");
    if (!before || before.budget || before.project_id !== projectId) throw unknownAlert(id);
    const definition = checkScope(composeDefinition(patch, before.definition), projectId);
    const row: rows.AlertRuleFields = {
      ...before,
      name: patch.name ?? before.name,
      definition,
      severity: patch.severity ?? before.severity,
      is_enabled: patch.enabled ?? before.is_enabled,
      silenced_until:
        patch.silenced_until === undefined
          ? before.silenced_until
          : patch.silenced_until === null
            ? null
            : new Date(patch.silenced_until),
      maintenance: patch.maintenance_windows === undefined ? before.maintenance : (patch.maintenance_windows ?? []),
    };
    const meaning = ({ description: _, group_by: by, ...rest }: AlertDefinition) => ({
      ...rest,
      group_by: by && [by.attribute, by.attribute === "metadata" ? by.path : null],
    });
    const isChanged = !isDeepStrictEqual(meaning(definition), meaning({ ...definition, ...before.definition }));
    const isToggled = row.is_enabled !== before.is_enabled;
    // messages about what has ended go to the channels as they were
    if (isChanged || (isToggled && !row.is_enabled)) {
      await endRule(tx, before, isChanged ? "changed" : "disabled", settings.pagerdutyUrl);
    }
    if (inputs !== undefined) await replaceChannels(deps, tx, row, inputs);
    await rows.updateAlertRule(tx, row, isChanged || isToggled);
  });
  deps.alertEvaluator.wake();
  deps.alertMessages.wake();
}

/** Deletes a rule with its incidents; waiting messages are not sent. @throws 404 */
export async function removeAlert(
  { sql, secrets }: Pick<ChangeDeps, "sql" | "secrets">,
  workspaceId: string,
  projectId: string | null,
  id: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    const rule = await rows.findAlertRule(tx, workspaceId, id, "lock");
    if (!rule || rule.budget || rule.project_id !== projectId) throw unknownAlert(id);
    await rows.deleteAlertRule(tx, workspaceId, id);
    await deleteChannelSecrets(secrets, id, tx);
  });
}

export async function checkProject(
  { projects }: Pick<ChangeDeps, "projects">,
  workspaceId: string,
  projectId: string | null,
): Promise<void> {
  if (projectId !== null && !(await projects.hasProject(workspaceId, projectId))) {
    throw notFound(`Session not found: ${projectId}`);
  }
}

/** Merges the fields of a body with the stored definition. @throws 422 that names the field, after the prefix */
export function composeDefinition(
  body: RulePatch,
  stored: AlertDefinition | undefined,
  prefix = "rule.",
): AlertDefinition {
  // undefined keeps, null clears
  const pick = <T>(sent: T | null | undefined, kept: T | undefined, byDefault: T): T =>
    sent === undefined ? (kept ?? byDefault) : (sent ?? byDefault);
  const text = (value: string | null | undefined) => (value?.trim() === "" ? null : value);
  const window_minutes = (body.window_minutes ?? stored?.window_minutes)!;
  const definition: AlertDefinition = {
    description: pick(body.description, stored?.description, ""),
    type: (body.type ?? stored?.type)!,
    attribute: (body.attribute ?? stored?.attribute)!,
    aggregation: (body.aggregation ?? stored?.aggregation)!,
    operator: (body.operator ?? stored?.operator)!,
    threshold: pick(body.threshold, stored?.threshold, null),
    threshold_multiplier: pick(body.threshold_multiplier, stored?.threshold_multiplier, null),
    threshold_window_minutes: pick(body.threshold_window_minutes, stored?.threshold_window_minutes, null),
    window_minutes,
    interval_minutes: pick(body.interval_minutes, stored?.interval_minutes, 1),
    delay_minutes: pick(body.delay_minutes, stored?.delay_minutes, 0),
    filter: pick(text(body.filter), stored?.filter, null),
    denominator_filter: pick(text(body.denominator_filter), stored?.denominator_filter, null),
    feedback_key: pick(body.feedback_key, stored?.feedback_key, null),
    group_by: pick(body.group_by, stored?.group_by, null),
    for_evaluations: pick(body.for_evaluations, stored?.for_evaluations, 1),
    min_runs: pick(body.min_runs, stored?.min_runs, 0),
    resolve_threshold: pick(body.resolve_threshold, stored?.resolve_threshold, null),
    no_data: pick(body.no_data, stored?.no_data, "resolve"),
  };
  checkDefinition(definition, prefix);
  return definition;
}

function checkScope(definition: AlertDefinition, projectId: string | null): AlertDefinition {
  if (projectId === null || !isPlatformMetric(definition.attribute)) return definition;
  throw unprocessable("rule.attribute: metrics of the platform are those of all projects; send session_id all");
}

function checkDefinition(rule: AlertDefinition, prefix: string): void {
  const bad = (field: string, why: string) => unprocessable(`${prefix}${field}: ${why}`);
  const { type, attribute, aggregation, threshold, resolve_threshold: end } = rule;
  const isSupported = isPlatformMetric(attribute)
    ? aggregation === PLATFORM_METRICS[attribute].aggregation
    : expressionFor(attribute, aggregation) !== undefined;
  if (!isSupported) {
    throw bad("aggregation", `${aggregation} is not supported for ${attribute}`);
  }
  if (type === "threshold" && threshold === null) throw bad("threshold", "is required for the type threshold");
  if (type === "change" && rule.threshold_multiplier === null) {
    throw bad("threshold_multiplier", "is required for the type change");
  }
  if (type === "absence" && rule.group_by !== null) throw bad("group_by", "is not supported for the type absence");
  if (isPlatformMetric(attribute)) {
    if (type !== "threshold") throw bad("type", "must be threshold for metrics of the platform");
    for (const field of ["filter", "group_by"] as const) {
      if (rule[field] !== null) throw bad(field, "is not supported for metrics of the platform");
    }
    if (rule.min_runs > 0) throw bad("min_runs", "is not supported for metrics of the platform");
  }
  if (end !== null) {
    if (type !== "threshold") throw bad("resolve_threshold", "is supported for the type threshold only");
    const isAbove = rule.operator.startsWith("g");
    if (isAbove ? end > threshold! : end < threshold!) {
      throw bad("resolve_threshold", `must not be ${isAbove ? "above" : "below"} the threshold`);
    }
  }
  if (rule.interval_minutes > rule.window_minutes) {
    throw bad("interval_minutes", "must not be longer than the window: runs between windows would not count");
  }
  if (rule.denominator_filter !== null && aggregation !== "pct") {
    throw bad("denominator_filter", "is supported for the aggregation pct only");
  }
  if (attribute === "run_count" && aggregation === "pct" && rule.denominator_filter === null) {
    throw bad("denominator_filter", "is required for the percentage of runs");
  }
  if (rule.feedback_key !== null && attribute !== "feedback_score") {
    throw bad("feedback_key", "is supported for the attribute feedback_score only");
  }
  for (const field of ["filter", "denominator_filter"] as const) {
    const text = rule[field];
    if (text === null) continue;
    try {
      limitConditions([readFilter(text)]);
    } catch (error) {
      if (error instanceof AppError) throw bad(field, error.message);
      throw error;
    }
  }
}
