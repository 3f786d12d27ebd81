import type { Transaction } from "../../base/db/connect.ts";
import { insertIntoQueue } from "../annotation-queues/add-items.ts";
import { countArchived, lockQueue } from "../annotation-queues/item-sql.ts";
import { findAlignmentQueue } from "../evaluators/alignment-sql.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import { type ActionContext, actInTransaction, isFinal, type Item, skipped, success } from "./action-context.ts";

/** Runs that wait in an alignment queue: with more, the newest are left out, since people label samples. */
export const MAX_WAITING = 200;

/** Adds the runs to the alignment queues of the evaluators that judged them; those that were not judged are skipped. */
export async function addToAlignmentQueues(
  context: ActionContext,
  evaluatorIds: readonly string[],
  items: readonly Item[],
): Promise<void> {
  const { deps, batch } = context;
  const tenantId = batch.tenant_id;
  // judged again later: the next attempt adds them
  const ready = items.filter(({ match }) => isFinal(match.outcomes["evaluators"]));
  const queues: { id: string; evaluatorId: string }[] = [];
  for (const evaluatorId of evaluatorIds) {
    const id = await findAlignmentQueue(deps.sql, tenantId, evaluatorId);
    if (id !== null) queues.push({ id, evaluatorId });
  }
  await extendTraces(
    deps,
    tenantId,
    ready.filter((item) => judgedBy(item).size > 0).map(({ match }) => match),
  );
  await actInTransaction(context, "alignment_queue", ready, async (tx, held) => {
    const added = new Map<Item, string[]>(held.map((item) => [item, []]));
    for (const { id, evaluatorId } of queues) {
      const judged = held.filter((item) => judgedBy(item).has(evaluatorId));
      const taken = judged.slice(0, await countRoom(tx, tenantId, id));
      if (taken.length > 0) await insertIntoQueue(tx, tenantId, id, taken.map(toItem));
      for (const item of taken) added.get(item)!.push(id);
    }
    return held.map((item) => {
      const ids = added.get(item)!;
      if (ids.length > 0) return [item, success({ annotation_queue_ids: ids })] as const;
      return [item, skipped(describeSkip(queues.length, judgedBy(item).size))] as const;
    });
  });
}

const describeSkip = (queues: number, judgements: number): string =>
  judgements === 0
    ? "No evaluator judged the run, so the alignment queue did not get it."
    : queues === 0
      ? "The alignment queue was deleted; save the rule again to create another."
      : `${MAX_WAITING} runs wait in the alignment queue, so it did not get this one.`;

/** Ids of the evaluators that judged a run. */
function judgedBy({ match }: Item): Set<string> {
  const judgements = (match.outcomes["evaluators"]?.payload?.["judgements"] ?? []) as Record<string, unknown>[];
  return new Set(judgements.flatMap((one) => (one["error"] == null ? [String(one["evaluator_id"])] : [])));
}

/** Locks a queue. @returns how many runs it takes */
async function countRoom(tx: Transaction, tenantId: string, queueId: string): Promise<number> {
  const size = await lockQueue(tx, tenantId, queueId);
  if (size === undefined) return 0;
  return Math.max(0, MAX_WAITING - (size - (await countArchived(tx, tenantId, queueId))));
}

const toItem = ({ match }: Item) => ({
  key: { id: match.run_id, project_id: match.project_id, trace_id: match.trace_id, start_time: match.start_time },
  source_proposed_example_id: null,
});
