import { z } from "zod";

import { jsonObject, queryLimit, queryOffset, uuid } from "../../base/http/fields.ts";
import { LONGEST_WEBHOOK } from "../../base/webhooks/check-webhook.ts";

/** `webhook` of run and cron bodies. The project's rules decide which URLs are allowed. */
export const webhook = z
  .string()
  .min(1)
  .max(LONGEST_WEBHOOK)
  .describe("Receives a POST when the run has ended: an http(s) URL, or a path of this server.");

const status = z.enum(["pending", "delivered", "failed"]);
const time = z.iso.datetime({ offset: true });

export const deliveryParams = z.object({ delivery_id: uuid });

export const deliveriesQuery = z.object({
  run_id: uuid.optional(),
  status: status.optional(),
  limit: queryLimit(10, 1000),
  offset: queryOffset,
});

export const delivery = z
  .object({
    delivery_id: z.guid(),
    run_id: z.guid(),
    thread_id: z.guid(),
    run_status: z.string(),
    /** Without its query, which may hold a secret. */
    url: z.string(),
    status,
    attempts: z.int(),
    created_at: time,
    next_attempt_at: time.nullable(),
    finished_at: time.nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export const deliveryWithLog = delivery
  .extend({
    /** Newest first. */
    log: z.array(
      z.object({
        attempt: z.int(),
        started_at: time,
        duration_ms: z.int(),
        status_code: z.int().nullable(),
        error: z.string().nullable(),
      }),
    ),
    /** The message, except for its send time. */
    payload: jsonObject,
  })
  .meta({ id: "WebhookDeliveryWithLog" });
