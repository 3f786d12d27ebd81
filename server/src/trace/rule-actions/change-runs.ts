/** Actions on the runs themselves: tags, feedback and retention. Each can be repeated without a further effect. */
import { uuid5 } from "../../base/ids.ts";
import { storeFeedback } from "../feedback/create-feedback.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import { createBody } from "../feedback/schema.ts";
import { ingestRuns, onlyRuns } from "../ingest/ingest-runs.ts";
import { readSingle } from "../ingest/read-messages.ts";
import type { RuleActions } from "../rules/schema.ts";
import { type ActionContext, type Item, MATCH_NAMESPACE, record, success } from "./action-context.ts";

/** Adds tags to the runs, as an update by a client would. */
export async function tagRuns(context: ActionContext, tags: readonly string[], items: readonly Item[]): Promise<void> {
  const patches = items.flatMap(({ run }) => {
    const all = [...new Set([...run.tags, ...tags])];
    return all.length === run.tags.length ? [] : [readSingle(JSON.stringify({ id: run.id, tags: all }), "patch")];
  });
  if (patches.length > 0) await ingestRuns(context.deps, context.principal, onlyRuns(patches));
  context.fault("rule-after-tags");
  await record(
    context,
    "tags",
    items.map((item) => [item, success({ tags })] as const),
  );
}

/** Gives the runs feedback, whose ids follow from the matches. */
export async function giveFeedback(
  context: ActionContext,
  feedback: NonNullable<RuleActions["add_feedback"]>,
  items: readonly Item[],
): Promise<void> {
  const { deps, batch, rule } = context;
  const idOf = ({ match }: Item, place: number) => uuid5(`feedback ${match.match_id} ${place}`, MATCH_NAMESPACE);
  const inputs = items.flatMap((item) =>
    feedback.map(({ key, score, value, comment }, place) =>
      createBody.parse({
        id: idOf(item, place),
        key,
        run_id: item.match.run_id,
        trace_id: item.match.trace_id,
        session_id: item.match.project_id,
        score: score ?? null,
        value: value ?? null,
        comment: comment ?? null,
        feedback_source: {
          type: "api",
          metadata: { rule_id: rule.rule_id, rule_name: rule.display_name, match_id: item.match.match_id },
        },
      }),
    ),
  );
  await storeFeedback(deps, { tenantId: batch.tenant_id, userId: null }, inputs);
  // it is durable; filters see it when it is mirrored
  void deps.feedback.flush();
  context.fault("rule-after-feedback");
  await record(
    context,
    "feedback",
    items.map((item) => [item, success({ feedback_ids: feedback.map((_, place) => idOf(item, place)) })] as const),
  );
}

/** Moves the traces to the longer tier. */
export async function extendRetention(context: ActionContext, items: readonly Item[]): Promise<void> {
  await extendTraces(
    context.deps,
    context.batch.tenant_id,
    items.map(({ match }) => match),
  );
  context.fault("rule-after-extend_only");
  await record(
    context,
    "extend_only",
    items.map((item) => [item, success()] as const),
  );
}
