import { setTimeout as sleep } from "node:timers/promises";

import type { Principal } from "../../base/auth/principal.ts";
import type { Transaction } from "../../base/db/connect.ts";
import { type AppError, forbidden, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { findAlignmentQueue } from "../evaluators/alignment-sql.ts";
import { createAlignmentQueue } from "../evaluators/create-alignment-queue.ts";
import { createEmbeddedEvaluator } from "../evaluators/create-embedded.ts";
import { shareCorrections } from "../evaluators/share-corrections.ts";
import { KNOWN_AFTER_MS } from "../rule-candidates/rule-directory.ts";
import { checkRule } from "./check-rule.ts";
import { deleteRuleSecrets, putRuleSecrets, readRuleSecrets, takeSecrets } from "./rule-secrets.ts";
import { type CreateBody, IDLE_SECONDS, MAX_RULES, type PatchBody, type RuleActions } from "./schema.ts";
import * as rows from "./sql.ts";

export const unknownRule = (id: string): AppError => notFound(`Rule not found: ${id}`);

/**
 * Creates a rule. Returns when every replica knows it: each run that is sent after that is evaluated.
 * @returns its id
 * @throws 404 for something unknown that it names; 422 for an invalid filter or URL, or above the limit
 */
export async function createRule(deps: TraceDeps, principal: Principal, body: CreateBody): Promise<string> {
  const { sql, secrets } = deps;
  const tenantId = principal.workspaceId;
  await checkRule(deps, tenantId, body);
  checkBackfill(body);
  if (body.transient && body.backfill_from == null) throw unprocessable("transient: needs backfill_from");
  const values = takeSecrets(body, { webhooks: [], alerts: [] });
  const rule_id = uuid7();
  const row: rows.NewRule = {
    tenant_id: tenantId,
    rule_id,
    display_name: body.display_name,
    // a transient rule sees the runs of its back-fill, and no others
    is_enabled: body.transient ? false : (body.is_enabled ?? true),
    project_id: body.session_id ?? null,
    dataset_id: body.dataset_id ?? null,
    sampling_rate: body.sampling_rate,
    filter: body.filter ?? null,
    trace_filter: body.trace_filter ?? null,
    tree_filter: body.tree_filter ?? null,
    group_by: body.group_by ?? null,
    idle_seconds: body.idle_seconds ?? IDLE_SECONDS,
    actions: await composeActions(deps, principal, body, null, body),
    evaluator_id: body.evaluator_id ?? null,
    spend_limit_usd: body.spend_limit ? String(body.spend_limit.limit_usd) : null,
    created_by: principal.actor.userId,
  };
  await sql.begin(async (tx) => {
    if (!(await rows.insertRule(tx, row, MAX_RULES))) {
      throw unprocessable(`A workspace can have at most ${MAX_RULES} rules.`);
    }
    await putRuleSecrets(secrets, row, values, tx);
    await orderBackfill(tx, row, body);
  });
  await becomeKnown(deps, row.is_enabled);
  return rule_id;
}

/** Changes the fields that are sent; null clears. Returns when every replica knows the change. @throws 404, 422 */
export async function changeRule(deps: TraceDeps, principal: Principal, id: string, body: PatchBody): Promise<void> {
  const { sql, secrets } = deps;
  const tenantId = principal.workspaceId;
  await checkRule(deps, tenantId, body);
  checkBackfill(body);
  for (;;) {
    const before = await rows.findRule(sql, tenantId, id);
    if (!before) throw unknownRule(id);
    // all that awaits other statements comes before the transaction, which would hold a connection meanwhile
    const merge = <K extends keyof rows.NewRule>(value: rows.NewRule[K] | undefined, column: K): rows.NewRule[K] =>
      value === undefined ? before[column] : value;
    const { spend_limit: limit } = body;
    const row: rows.NewRule = {
      tenant_id: tenantId,
      rule_id: id,
      display_name: body.display_name ?? before.display_name,
      is_enabled: body.is_enabled ?? before.is_enabled,
      // a rule of a project that gets a dataset is no longer of the project, and the other way round
      project_id: body.dataset_id != null ? null : merge(body.session_id, "project_id"),
      dataset_id: body.session_id != null ? null : merge(body.dataset_id, "dataset_id"),
      sampling_rate: body.sampling_rate ?? before.sampling_rate,
      filter: merge(body.filter, "filter"),
      trace_filter: merge(body.trace_filter, "trace_filter"),
      tree_filter: merge(body.tree_filter, "tree_filter"),
      group_by: merge(body.group_by, "group_by"),
      idle_seconds: body.idle_seconds === null ? IDLE_SECONDS : (body.idle_seconds ?? before.idle_seconds),
      actions: await composeActions(deps, principal, body, before.actions, {
        display_name: body.display_name ?? before.display_name,
        group_by: merge(body.group_by, "group_by"),
        evaluator_id: merge(body.evaluator_id, "evaluator_id"),
      }),
      evaluator_id: merge(body.evaluator_id, "evaluator_id"),
      spend_limit_usd: limit === undefined ? before.spend_limit_usd : limit === null ? null : String(limit.limit_usd),
      created_by: before.created_by,
    };
    if (row.is_enabled && !before.is_enabled) await checkRule(deps, tenantId, named(row));
    const isDone = await sql.begin(async (tx) => {
      const current = await rows.findRule(tx, tenantId, id, "lock");
      if (!current) throw unknownRule(id);
      if (current.updated_at.getTime() !== before.updated_at.getTime()) return false;
      if (body.webhooks !== undefined || body.alerts !== undefined) {
        await putRuleSecrets(secrets, row, takeSecrets(body, await readRuleSecrets(secrets, id, tx)), tx);
      }
      await rows.updateRule(tx, row);
      await orderBackfill(tx, row, body);
      return true;
    });
    if (isDone) return becomeKnown(deps, row.is_enabled);
  }
}

/** Deletes a rule with its log; what it has done stays. @throws 404 */
export async function removeRule(deps: TraceDeps, tenantId: string, id: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    if (!(await rows.deleteRule(tx, tenantId, id))) throw unknownRule(id);
    await deleteRuleSecrets(deps.secrets, id, tx);
  });
  deps.ruleCandidates.directory.forget();
}

/** What an enabled rule names, which may have been deleted while it was disabled. */
const named = ({ project_id, dataset_id, actions, evaluator_id }: rows.NewRule): PatchBody => ({
  session_id: project_id,
  dataset_id,
  evaluator_id,
  add_to_dataset_id: actions.add_to_dataset_id ?? null,
  add_to_annotation_queue_id: actions.add_to_annotation_queue_id ?? null,
});

function checkBackfill({ backfill_from: from }: Pick<PatchBody, "backfill_from">): void {
  if (from != null && Date.parse(from) > Date.now()) throw unprocessable("backfill_from: must not be in the future");
}

async function orderBackfill(tx: Transaction, row: rows.NewRule, { backfill_from }: PatchBody): Promise<void> {
  if (backfill_from == null) return;
  const { tenant_id, rule_id } = row;
  await rows.insertBackfill(tx, { tenant_id, rule_id, backfill_id: uuid7(), backfill_from });
}

/** Replicas' answers about rules may be as old as KNOWN_AFTER_MS. */
async function becomeKnown({ ruleCandidates, ruleActor, ruleBackfills }: TraceDeps, isEnabled: boolean): Promise<void> {
  ruleCandidates.directory.forget();
  ruleBackfills.wake();
  if (isEnabled) await sleep(KNOWN_AFTER_MS);
  ruleActor.wake();
}

/** Merges the actions of a body with stored ones, and creates the evaluators that it embeds. */
async function composeActions(
  deps: TraceDeps,
  principal: Principal,
  body: PatchBody,
  /** Null for a new rule. */
  before: RuleActions | null,
  rule: { display_name: string; group_by?: string | null | undefined; evaluator_id?: string | null | undefined },
): Promise<RuleActions> {
  const stored = before ?? {};
  const actions: RuleActions = { ...stored };
  const set = <K extends keyof RuleActions>(key: K, value: RuleActions[K] | undefined): void => {
    if (value !== undefined) actions[key] = value;
  };
  set("add_to_annotation_queue_id", body.add_to_annotation_queue_id);
  set("add_to_dataset_id", body.add_to_dataset_id);
  set("add_to_dataset_prefer_correction", body.add_to_dataset_prefer_correction ?? undefined);
  set("extend_only", body.extend_only ?? undefined);
  set("evaluator_version", body.evaluator_version);
  set("add_tags", body.add_tags === null ? [] : body.add_tags);
  set("add_feedback", body.add_feedback === null ? [] : body.add_feedback);
  set("dataset_mapping", body.dataset_mapping);
  set("include_extended_stats", body.include_extended_stats ?? undefined);
  set("transient", body.transient ?? undefined);
  set("create_alignment_queue", body.create_alignment_queue ?? undefined);
  set("spend_window", body.spend_limit?.window);
  set(
    "alerts",
    body.alerts?.map(({ summary, severity }) => ({
      type: "pagerduty" as const,
      summary: summary ?? null,
      severity: severity ?? "warning",
    })) ?? (body.alerts as null | undefined),
  );
  set(
    "webhooks",
    body.webhooks?.map(({ url, headers }) => ({ url, headers: Object.keys(headers ?? {}) })) ??
      (body.webhooks as null | undefined),
  );
  const embedded = await embed(deps, principal, body, stored, rule);
  actions.evaluators = embedded.evaluators;
  actions.code_evaluators = embedded.code_evaluators;
  actions.embedded_ids = embedded.ids;
  actions.evaluator_ids = [...new Set([...(rule.evaluator_id ? [rule.evaluator_id] : []), ...embedded.ids])];
  await shareCorrections(deps, principal, actions.evaluator_ids, {
    // a new rule whose body has the contract's default changes nothing of a judge that others use
    use_corrections_dataset: before === null ? body.use_corrections_dataset || null : body.use_corrections_dataset,
    num_few_shot_examples: body.num_few_shot_examples,
  });
  if (actions.evaluator_ids.length === 0) {
    if (body.create_alignment_queue) throw unprocessable("create_alignment_queue: the rule has no evaluator");
    actions.create_alignment_queue = false;
  }
  if (actions.create_alignment_queue) await ensureAlignmentQueues(deps, principal, actions.evaluator_ids);
  return actions;
}

/** Creates the alignment queues of a rule's evaluators, unless they have one. */
async function ensureAlignmentQueues(deps: TraceDeps, principal: Principal, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if ((await findAlignmentQueue(deps.sql, principal.workspaceId, id)) !== null) continue;
    if (!principal.permissions.has("annotation-queues:create")) {
      throw forbidden("Forbidden: the permission annotation-queues:create is required to create an alignment queue.");
    }
    await createAlignmentQueue(deps, principal, id, { limit: 0 });
  }
}

/** Creates evaluators for those of a body, unless they are the stored ones. */
async function embed(
  deps: TraceDeps,
  principal: Principal,
  body: PatchBody,
  stored: RuleActions,
  { display_name: name, group_by }: { display_name: string; group_by?: string | null | undefined },
) {
  const evaluators = body.evaluators === undefined ? (stored.evaluators ?? null) : body.evaluators;
  const code_evaluators =
    body.code_evaluators === undefined
      ? (stored.code_evaluators ?? null)
      : (body.code_evaluators?.map(({ code, language }) => ({ code, language: language ?? "python" })) ?? null);
  const now = JSON.stringify([evaluators ?? [], code_evaluators ?? []]);
  if (now === JSON.stringify([stored.evaluators ?? [], stored.code_evaluators ?? []])) {
    return { evaluators, code_evaluators, ids: stored.embedded_ids ?? [] };
  }
  const ids: string[] = [];
  const subject = group_by ? ("thread" as const) : ("run" as const);
  const { use_corrections_dataset, num_few_shot_examples } = body;
  const corrections = { use_corrections_dataset, num_few_shot_examples };
  for (const evaluator of evaluators ?? []) {
    ids.push(
      await createEmbeddedEvaluator(deps, principal, { name, subject, ...corrections, evaluators: [evaluator] }),
    );
  }
  for (const evaluator of code_evaluators ?? []) {
    ids.push(await createEmbeddedEvaluator(deps, principal, { name, subject, code_evaluators: [evaluator] }));
  }
  return { evaluators, code_evaluators, ids };
}
