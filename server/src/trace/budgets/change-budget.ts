import type { Principal } from "../../base/auth/principal.ts";
import { type AppError, notFound } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { type ChangeDeps, checkProject, composeDefinition, storeRule } from "../alerts/change-alert.ts";
import type { AlertDefinition, BudgetDefinition } from "../alerts/definition.ts";
import { endRule } from "../alerts/evaluate-rule.ts";
import { replaceChannels } from "../alerts/replace-channels.ts";
import { deleteChannelSecrets } from "../alerts/secrets.ts";
import * as rows from "../alerts/sql.ts";
import { type CreateBody, MAX_BUDGETS, type PatchBody } from "./schema.ts";
import { deleteDays } from "./sql.ts";

/** Minutes between evaluations. */
const INTERVAL = 5;
/** The longest window of a rule; a budget has months instead. */
const WINDOW_MINUTES = 10_080;

export const unknownBudget = (id: string): AppError => notFound(`Budget ${id} not found.`);

/** @throws 404 for an unknown project; 409 for an id that is taken; 422 for invalid terms or channels */
export async function createBudget(
  deps: ChangeDeps,
  { workspaceId, actor }: Principal,
  body: CreateBody,
): Promise<string> {
  await checkProject(deps, workspaceId, body.session_id ?? null);
  const row: rows.AlertRuleFields = {
    rule_id: body.id ?? uuid7(),
    tenant_id: workspaceId,
    project_id: body.session_id ?? null,
    name: body.name,
    ...composeTerms(body, undefined),
    severity: body.severity ?? "warning",
    is_enabled: body.enabled ?? true,
    silenced_until: body.silenced_until == null ? null : new Date(body.silenced_until),
    maintenance: [],
    actions: [],
    created_by: actor.userId,
  };
  await storeRule(deps, row, body.actions ?? [], { max: MAX_BUDGETS, noun: "budgets" });
  return row.rule_id;
}

/** Changes the fields that are sent. @throws 404, 422 */
export async function changeBudget(deps: ChangeDeps, workspaceId: string, id: string, patch: PatchBody): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const before = await rows.findAlertRule(tx, workspaceId, id, "lock");
    if (!before?.budget) throw unknownBudget(id);
    const terms = composeTerms(patch, { ...before, budget: before.budget });
    const { silenced_until: silenced } = patch;
    const row: rows.AlertRuleFields = {
      ...before,
      ...terms,
      name: patch.name ?? before.name,
      severity: patch.severity ?? before.severity,
      is_enabled: patch.enabled ?? before.is_enabled,
      silenced_until: silenced === undefined ? before.silenced_until : silenced === null ? null : new Date(silenced),
    };
    const isToggled = row.is_enabled !== before.is_enabled;
    if (isToggled && !row.is_enabled) await endRule(tx, before, "disabled", deps.settings.pagerdutyUrl);
    if (patch.actions !== undefined) await replaceChannels(deps, tx, row, patch.actions);
    const counted = ({ budget, definition }: Terms) => `${budget.user_key}\n${budget.time_zone}\n${definition.filter}`;
    const isCountedAnew = counted(terms) !== counted({ ...before, budget: before.budget });
    if (isCountedAnew) await deleteDays(tx, id);
    const { budget, definition } = terms;
    const isChanged = isCountedAnew || JSON.stringify(budget) !== JSON.stringify(sorted(before.budget, budget));
    await rows.updateAlertRule(tx, { ...row, definition }, isChanged || isToggled);
  });
  deps.alertEvaluator.wake();
  deps.alertMessages.wake();
}

/** The stored object with its keys in the order of the other one; jsonb keeps none. */
const sorted = (stored: BudgetDefinition, like: BudgetDefinition) =>
  Object.fromEntries(Object.keys(like).map((key) => [key, stored[key as keyof BudgetDefinition]]));

/** Deletes a budget with its record of spend and its notices; waiting messages are not sent. @throws 404 */
export async function removeBudget(
  { sql, secrets }: Pick<ChangeDeps, "sql" | "secrets">,
  workspaceId: string,
  id: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    const budget = await rows.findAlertRule(tx, workspaceId, id, "lock");
    if (!budget?.budget) throw unknownBudget(id);
    await rows.deleteAlertRule(tx, workspaceId, id);
    await deleteChannelSecrets(secrets, id, tx);
  });
}

interface Terms {
  definition: AlertDefinition;
  budget: BudgetDefinition;
}

/** Merges the fields of a body with the stored terms. @throws 422 that names the field */
function composeTerms(body: Omit<PatchBody, "actions">, stored: Terms | undefined): Terms {
  const kept = stored?.budget;
  // undefined keeps, null restores the default
  const pick = <T>(sent: T | null | undefined, old: T | undefined, byDefault: T): T =>
    sent === undefined ? (old ?? byDefault) : (sent ?? byDefault);
  const sent = body.thresholds === undefined ? undefined : (body.thresholds ?? []);
  const budget: BudgetDefinition = {
    limit: (body.limit_usd ?? kept?.limit)!,
    per: pick(body.per, kept?.per, "total"),
    user_key: pick(body.user_key, kept?.user_key, "user_id"),
    thresholds: [...new Set(sent ?? kept?.thresholds ?? [50, 80, 100])].toSorted((a, b) => a - b),
    forecast:
      body.forecast_threshold === undefined ? (kept === undefined ? 100 : kept.forecast) : body.forecast_threshold,
    time_zone: pick(body.time_zone, kept?.time_zone, "UTC"),
  };
  // a rule on the sum of costs, as messages describe it
  const definition = composeDefinition(
    {
      description: body.description,
      type: "threshold",
      attribute: "total_cost",
      aggregation: "sum",
      operator: "gte",
      threshold: budget.limit,
      window_minutes: WINDOW_MINUTES,
      interval_minutes: INTERVAL,
      filter: body.filter,
      group_by: budget.per === "user" ? { attribute: "metadata", path: budget.user_key } : null,
    },
    stored?.definition,
    "",
  );
  return { definition, budget };
}
