/**
 * Reviews of items. Every change of a review locks the item's queue, so that of reviewers who ask for the last free
 * place of an item at the same time exactly one gets it.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { conflict, forbidden, notFound } from "../../base/errors.ts";
import type { StatusChange } from "./item-schema.ts";
import { findItem, findNext, type ItemRow, lockQueue } from "./item-sql.ts";
import { completeReview, moveItem, noteReviewed, reopenReview, reserveItem, settleItems } from "./review-sql.ts";
import { mayReview } from "./reviewer-sql.ts";

/**
 * Reserves the reviewer's next item, or renews their reservation. @returns the item; undefined when none needs their
 * review. @throws 404 for an unknown queue, 403 for a queue of other reviewers
 */
export async function claimNext(sql: Sql, tenantId: string, me: string, queueId: string): Promise<ItemRow | undefined> {
  return (await sql.begin(async (tx) => {
    if ((await lockQueue(tx, tenantId, queueId)) === undefined) throw notFound("Annotation queue not found");
    await checkReviewer(tx, tenantId, me, queueId);
    const [next] = await findNext(tx, tenantId, me, queueId);
    if (!next) return undefined;
    await reserveItem(tx, { tenantId, itemId: next.queue_run_id, identityId: me });
    return findItem(tx, tenantId, me, next.queue_run_id);
  })) as ItemRow | undefined;
}

/**
 * Records the reviewer's status of an item: `viewed` reserves it, `completed` counts, and none takes both back. With
 * `override_added_at` the item moves in the reviewer's order.
 *
 * @returns the item as it is then
 * @throws 404 for an unknown item, 403 for a queue of other reviewers, 409 to `viewed` when others have all places
 */
export async function changeStatus(
  sql: Sql,
  tenantId: string,
  me: string,
  itemId: string,
  { status, override_added_at }: StatusChange,
): Promise<ItemRow> {
  const key = { tenantId, itemId, identityId: me };
  return (await sql.begin(async (tx) => {
    const known = await findItem(tx, tenantId, me, itemId);
    if (!known || (await lockQueue(tx, tenantId, known.queue_id)) === undefined) throw notFound(NO_ITEM);
    await checkReviewer(tx, tenantId, me, known.queue_id);
    // as it is behind the lock
    const item = await findItem(tx, tenantId, me, itemId);
    if (!item) throw notFound(NO_ITEM);
    if (status === "completed") {
      await completeReview(tx, key);
      await noteReviewed(tx, tenantId, itemId);
    } else if (status === "viewed") {
      if (item.section === "needs_others_review" && !item.completed_by.includes(me)) {
        throw conflict(
          "The run is reserved for other reviewers. Get the next one, or wait until a reservation expires.",
        );
      }
      if (item.section === "needs_my_review") await reserveItem(tx, key);
    } else {
      await reopenReview(tx, key);
    }
    if (override_added_at != null) await moveItem(tx, key, override_added_at);
    await settleItems(tx, tenantId, item.queue_id, itemId);
    return findItem(tx, tenantId, me, itemId);
  })) as ItemRow;
}

export const NO_ITEM = "Annotation queue run not found";

export async function checkReviewer(tx: Transaction, tenantId: string, me: string, queueId: string): Promise<void> {
  if (await mayReview(tx, tenantId, queueId, me)) return;
  throw forbidden("Forbidden: only the queue's assigned reviewers review its runs (reviewer_access_mode).");
}
