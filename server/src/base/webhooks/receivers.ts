/** Receivers whose deliveries fail: listed with their last error, and retried on request. */
import type { PendingQuery, Row } from "postgres";
import { z } from "zod";

import type { Sql } from "../db/connect.ts";
import type { WebhookTables } from "./sql.ts";

/** Limit on the waiting messages that are read per receiver, and so on `waiting`. */
const MOST_WAITING = 1000;
const MOST_RECEIVERS = 100;

export const receiverBody = z.object({
  origin: z.string().min(1).max(300).describe("Scheme, host and port, as GET /webhooks/receivers returns it."),
});

export const failingReceiver = z
  .object({
    /** Scheme, host and port; `self` for the server's own paths. */
    origin: z.string(),
    last_error: z.string().nullable(),
    /** Consecutive failures to respond. */
    failures: z.int(),
    next_attempt_at: z.iso.datetime({ offset: true }),
    /** At most 1000 are counted. */
    waiting: z.int(),
  })
  .meta({ id: "FailingReceiver" });

export const retriedReceiver = z.object({ retried: z.int() });

export interface FailingReceiverRow {
  origin: string;
  last_error: string | null;
  failures: number;
  next_attempt_at: Date;
  waiting: number;
}

type Condition = PendingQuery<Row[]>;

/**
 * Lists receivers whose last attempt failed and that have waiting messages, the last failed first. Reads the error from
 * the receiver's row, and at most 1000 messages of each.
 * @param sees condition on a delivery `d`
 */
export const selectFailingReceivers = (
  sql: Sql,
  tables: WebhookTables,
  sees: Condition,
): Promise<FailingReceiverRow[]> =>
  sql<FailingReceiverRow[]>`
    select h.receiver as origin, h.last_error, h.failures, w.waiting,
           greatest(h.paused_until, w.available_at) as next_attempt_at
    from (select * from ${sql(tables.receivers)} order by updated_at desc limit ${MOST_RECEIVERS}) h
    cross join lateral (
      select count(*)::int as waiting, min(m.available_at) as available_at
      from (select d.available_at from ${sql(tables.deliveries)} d
            where d.status = 'pending' and d.receiver = h.receiver and ${sees}
            order by d.available_at limit ${MOST_WAITING}) m
    ) w
    where w.waiting > 0
    order by h.updated_at desc`;

/**
 * Makes the receiver's waiting messages due, at most 1000, and ends its pause. Messages that are being sent are left to
 * their senders.
 * @returns the number of messages
 */
export async function retryReceiver(sql: Sql, tables: WebhookTables, origin: string, sees: Condition): Promise<number> {
  const [row] = await sql<{ retried: number }[]>`
    with due as (
      update ${sql(tables.deliveries)} set available_at = now()
      where delivery_id in (
        select d.delivery_id from ${sql(tables.deliveries)} d
        where d.status = 'pending' and d.receiver = ${origin} and ${sees}
          and (d.attempts = 0 or exists (
            select 1 from ${sql(tables.attempts)} a where a.delivery_id = d.delivery_id and a.attempt = d.attempts))
        order by d.available_at limit ${MOST_WAITING})
      returning 1
    ), resumed as (
      update ${sql(tables.receivers)} set paused_until = null
      where receiver = ${origin} and exists (select 1 from due)
    )
    select count(*)::int as retried from due`;
  return row!.retried;
}
