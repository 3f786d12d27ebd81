import { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { notFound } from "../../base/errors.ts";
import {
  failingReceiver,
  receiverBody,
  retriedReceiver,
  retryReceiver,
  selectFailingReceivers,
} from "../../base/webhooks/receivers.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import type { AgentDeps } from "../deps.ts";
import { maskUrl } from "../../base/webhooks/check-webhook.ts";
import * as schema from "./schema.ts";
import {
  type DeliveryRow,
  requeueDelivery,
  RUN_WEBHOOKS,
  selectDeliveries,
  selectDelivery,
  selectMessage,
} from "./sql.ts";
import { permits } from "../custom-auth/conditions.ts";

const shared = { tag: "Webhooks" } as const;

const unknownDelivery = (id: string) => notFound(`Webhook delivery ${id} not found`);

/** The delivery log. A Heddle extension: the contract has no equivalent. */
export function webhookRoutes(deps: AgentDeps): AgentRoute[] {
  const { sql } = deps;

  /** A delivery is visible to callers that may read the thread of its run. */
  const threadConditions = (principal: Principal) => deps.access.ask(principal, "threads:read", { metadata: {} });

  return [
    agentRoute({
      ...shared,
      method: "GET",
      path: "/webhooks/receivers",
      permission: "runs:read",
      auth: "handler",
      summary: "List receivers of webhooks whose deliveries fail",
      out: { 200: z.array(failingReceiver) },
      async handler({ c, principal }) {
        const sees = await threadConditions(principal);
        return c.json(await selectFailingReceivers(sql, RUN_WEBHOOKS, permits(sql, "d.thread_metadata", sees)));
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/webhooks/receivers/retry",
      permission: "runs:create",
      audit: "change",
      auth: "handler",
      summary: "Send the waiting messages of a receiver now",
      body: receiverBody,
      out: { 202: retriedReceiver },
      errors: [404],
      async handler({ body: { origin }, c, principal }) {
        const sees = await threadConditions(principal);
        const retried = await retryReceiver(sql, RUN_WEBHOOKS, origin, permits(sql, "d.thread_metadata", sees));
        if (retried === 0) throw notFound(`No webhook waits for the receiver ${origin}.`);
        deps.webhooks.wake();
        return c.json({ retried }, 202);
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/webhooks/deliveries",
      permission: "runs:read",
      // a delivery is authorized by the metadata of its run's thread, as it was when the run ended
      auth: "handler",
      summary: "List webhook deliveries, newest first",
      query: schema.deliveriesQuery,
      out: { 200: z.array(schema.delivery) },
      async handler({ query, c, principal }) {
        const { run_id: runId, ...rest } = query;
        const rows = await selectDeliveries(sql, { runId, ...rest, sees: await threadConditions(principal) });
        return c.json(rows.map(serializeDelivery));
      },
    }),
    agentRoute({
      ...shared,
      method: "GET",
      path: "/webhooks/deliveries/:delivery_id",
      permission: "runs:read",
      auth: "handler",
      summary: "Get a webhook delivery with its attempts",
      params: schema.deliveryParams,
      out: { 200: schema.deliveryWithLog },
      async handler({ params, c, principal }) {
        const { delivery_id: id } = params;
        const sees = await threadConditions(principal);
        const [row, message] = await Promise.all([selectDelivery(sql, id, sees), selectMessage(sql, id)]);
        if (!row || message === undefined) throw unknownDelivery(id);
        return c.json({ ...serializeDelivery(row), log: row.log, payload: masked(JSON.parse(message.text)) });
      },
    }),
    agentRoute({
      ...shared,
      method: "POST",
      path: "/webhooks/deliveries/:delivery_id/replay",
      permission: "runs:create",
      audit: "change",
      auth: "handler",
      summary: "Send a webhook again, with the same id and content",
      params: schema.deliveryParams,
      out: { 202: schema.delivery },
      async handler({ params, c, principal }) {
        const { delivery_id: id } = params;
        const row = await selectDelivery(sql, id, await threadConditions(principal));
        if (!row || !(await requeueDelivery(sql, id))) throw unknownDelivery(id);
        deps.webhooks.wake();
        const queued = { status: "pending", next_attempt_at: new Date(), finished_at: null } as const;
        return c.json(serializeDelivery({ ...row, ...queued }), 202);
      },
    }),
  ];
}

/** Built field by field: rows hold more than the wire shows. */
function serializeDelivery(row: DeliveryRow) {
  const { delivery_id, run_id, thread_id, run_status, status, attempts, created_at, next_attempt_at, finished_at } =
    row;
  const times = { created_at, next_attempt_at, finished_at };
  return { delivery_id, run_id, thread_id, run_status, url: maskUrl(row.url), status, attempts, ...times };
}

function masked(message: { kwargs?: Record<string, unknown> }) {
  const { kwargs } = message;
  if (typeof kwargs?.["webhook"] !== "string") return message;
  return { ...message, kwargs: { ...kwargs, webhook: maskUrl(kwargs["webhook"]) } };
}
