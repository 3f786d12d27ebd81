import type { Principal } from "../../base/auth/principal.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { checkWebhook } from "../../base/webhooks/check-webhook.ts";
import type { TraceDeps } from "../deps.ts";
import { limitConditions } from "../filter/limit-conditions.ts";
import { readFilter } from "../filter/read-filter.ts";
import { RULES } from "../prompt-webhooks/prompt-webhooks.ts";
import { type AlertDefinition, expressionFor } from "./definition.ts";
import { endRule } from "./evaluate-rule.ts";
import { type ActionInput, type CreateBody, MAX_RULES, type PatchBody, type RulePatch } from "./schema.ts";
import {
  type Channel,
  type ChannelInput,
  type ChannelSecrets,
  deleteChannelSecrets,
  joinChannel,
  putChannelSecrets,
  readChannelSecrets,
  splitChannel,
  unmaskChannel,
} from "./secrets.ts";
import * as rows from "./sql.ts";

export type ChangeDeps = Pick<
  TraceDeps,
  "sql" | "secrets" | "outbound" | "settings" | "projects" | "alertMessages" | "alertEvaluator"
>;
type Deps = ChangeDeps;

export const unknownAlert = (id: string): AppError => notFound(`Alert rule ${id} not found.`);

/** @throws 404 for an unknown project; 409 for an id that is taken; 422 for an invalid rule or channel */
export async function createAlert(
  deps: Deps,
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
    definition: composeDefinition(rule, undefined),
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
  deps: Deps,
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

/** Replaces the channels of a locked rule by those of a body. */
export async function replaceChannels(
  deps: Deps,
  tx: Transaction,
  row: rows.AlertRuleFields,
  inputs: readonly ActionInput[],
): Promise<void> {
  const stored = await readChannelSecrets(deps.secrets, row.rule_id, tx);
  const { actions, values } = takeChannels(deps, inputs, row.actions, stored);
  row.actions = actions;
  await putChannelSecrets(deps.secrets, row, values, tx);
}

/**
 * Changes the fields that are sent. A rule that now means something else resolves what fires; so does a disabled one.
 * @throws 404, 422
 */
export async function changeAlert(
  deps: Deps,
  workspaceId: string,
  projectId: string | null,
  id: string,
  { rule: patch = {}, actions: inputs }: PatchBody,
): Promise<void> {
  const { sql, settings } = deps;
  await sql.begin(async (tx) => {
    const before = await rows.findAlertRule(tx, workspaceId, id, "lock");
    if (!before || before.budget || before.project_id !== projectId) throw unknownAlert(id);
    const definition = composeDefinition(patch, before.definition);
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
    const meaning = ({ description: _, ...rest }: AlertDefinition) =>
      JSON.stringify(rest, Object.keys(rest).toSorted());
    const isChanged = meaning(definition) !== meaning({ ...definition, ...before.definition });
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
  { sql, secrets }: Pick<Deps, "sql" | "secrets">,
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
  { projects }: Pick<Deps, "projects">,
  workspaceId: string,
  projectId: string | null,
): Promise<void> {
  if (projectId !== null && !(await projects.hasProject(workspaceId, projectId))) {
    throw notFound(`Session not found: ${projectId}`);
  }
}

/** Takes the channels of a body. Masked values keep the stored ones of the channel with the same id, else place. */
export function takeChannels(
  { outbound }: Pick<Deps, "outbound">,
  inputs: readonly ActionInput[],
  stored: readonly rows.AlertAction[],
  secrets: ChannelSecrets,
): { actions: rows.AlertAction[]; values: ChannelSecrets; channels: (Channel & { id: string })[] } {
  const actions: rows.AlertAction[] = [];
  const values: ChannelSecrets = {};
  const channels: (Channel & { id: string })[] = [];
  inputs.forEach((input, index) => {
    const place = `actions.${index}`;
    if (input.target === "dynatrace") {
      throw unprocessable(`${place}.target: dynatrace is not supported; use a webhook`);
    }
    const known = stored.find(({ id }) => id === input.id) ?? (input.id == null ? stored[index] : undefined);
    const given = { target: input.target, config: input.config } as ChannelInput;
    const channel = unmaskChannel(given, known && joinChannel(known, secrets[known.id]), place);
    if ("url" in channel.config) checkUrl(outbound, channel.config.url, `${place}.config.url`);
    // an id of a channel of another rule is not taken over: it identifies messages
    const id = known?.target === channel.target ? known.id : uuid7();
    if (actions.some((action) => action.id === id)) throw unprocessable(`${place}.id: occurs twice`);
    const { shown, sealed } = splitChannel(channel);
    actions.push({ id, target: channel.target, config: shown });
    channels.push({ ...channel, id });
    if (sealed) values[id] = sealed;
  });
  return { actions, values, channels };
}

function checkUrl(outbound: Deps["outbound"], url: string, place: string): void {
  try {
    checkWebhook(RULES, outbound, url);
  } catch (error) {
    if (error instanceof AppError) throw unprocessable(`${place}: ${error.message}`);
    throw error;
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

function checkDefinition(rule: AlertDefinition, prefix: string): void {
  const bad = (field: string, why: string) => unprocessable(`${prefix}${field}: ${why}`);
  const { type, attribute, aggregation, threshold, resolve_threshold: end } = rule;
  if (expressionFor(attribute, aggregation) === undefined) {
    throw bad("aggregation", `${aggregation} is not supported for ${attribute}`);
  }
  if (type === "threshold" && threshold === null) throw bad("threshold", "is required for the type threshold");
  if (type === "change" && rule.threshold_multiplier === null) {
    throw bad("threshold_multiplier", "is required for the type change");
  }
  if (type === "absence" && rule.group_by !== null) throw bad("group_by", "is not supported for the type absence");
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
