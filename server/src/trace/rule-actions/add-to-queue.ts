import { insertIntoQueue } from "../annotation-queues/add-items.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import { type ActionContext, actInTransaction, type Item, success } from "./action-context.ts";

/** Adds the runs to an annotation queue. A run that the queue has stays where it is. */
export async function addToQueue(context: ActionContext, queueId: string, items: readonly Item[]): Promise<void> {
  const { deps, batch } = context;
  await extendTraces(
    deps,
    batch.tenant_id,
    items.map(({ match }) => match),
  );
  await actInTransaction(context, "add_to_annotation_queue", items, async (tx, held) => {
    const runs = held.map(({ match }) => ({
      key: {
        id: match.run_id,
        project_id: match.project_id,
        trace_id: match.trace_id,
        start_time: match.start_time,
      },
      source_proposed_example_id: null,
    }));
    await insertIntoQueue(tx, batch.tenant_id, queueId, runs);
    return held.map((item) => [item, success({ annotation_queue_id: queueId })] as const);
  });
}
