import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import {
  failingReceiver,
  receiverBody,
  retriedReceiver,
  retryReceiver,
  selectFailingReceivers,
} from "../../base/webhooks/receivers.ts";
import type { TraceDeps } from "../deps.ts";
import { changeWebhook, createWebhook, removeWebhook, testWebhook, unknownWebhook } from "./change-webhook.ts";
import * as schema from "./schema.ts";
import { PROMPT_WEBHOOKS, type PromptWebhookRow, selectWebhook, selectWebhooks } from "./sql.ts";

const shared = { tag: "Prompt webhooks" } as const;
const reading = { ...shared, permission: "prompts:read" } as const;
const changing = { ...shared, permission: "workspaces:manage" } as const;

/** Routes of webhooks on changes of prompts (contract: group prompt-webhooks), and of their failing receivers. */
export function promptWebhookRoutes(deps: TraceDeps): Route[] {
  const { sql } = deps;
  return [
    route({
      ...reading,
      method: "GET",
      ...v1("/prompt-webhooks"),
      summary: "List the workspace's webhooks on prompts, oldest first; the values of headers are masked",
      out: { 200: z.array(schema.promptWebhook) },
      handler: async ({ principal, c }) =>
        c.json((await selectWebhooks(sql, principal.workspaceId, schema.MAX_WEBHOOKS)).map(toWire)),
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/prompt-webhooks"),
      summary: "Create a webhook on commits and tags of prompts",
      body: schema.createBody,
      out: { 200: schema.promptWebhook },
      errors: [409, 422],
      handler: async ({ body, principal, c }) => c.json(toWire(await createWebhook(deps, principal, body))),
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/prompt-webhooks/test"),
      summary: "Send a message to a webhook once, which need not be stored",
      body: schema.testBody,
      out: { 200: schema.testResult },
      errors: [422],
      handler: async ({ body, c }) => c.json(await testWebhook(deps, body)),
    }),
    route({
      ...reading,
      method: "GET",
      ...v1("/prompt-webhooks/:webhook_id"),
      summary: "Get a webhook on prompts",
      params: schema.webhookParams,
      out: { 200: schema.promptWebhook },
      async handler({ params: { webhook_id: id }, principal, c }) {
        const row = await selectWebhook(sql, principal.workspaceId, id);
        if (!row) throw unknownWebhook(id);
        return c.json(toWire(row));
      },
    }),
    route({
      ...changing,
      method: "PATCH",
      ...v1("/prompt-webhooks/:webhook_id"),
      summary: "Change a webhook on prompts; a masked header keeps its value",
      params: schema.webhookParams,
      body: schema.patchBody,
      out: { 200: schema.promptWebhook },
      errors: [422],
      handler: async ({ params: { webhook_id: id }, body, principal, c }) =>
        c.json(toWire(await changeWebhook(deps, principal, id, body))),
    }),
    route({
      ...changing,
      method: "DELETE",
      ...v1("/prompt-webhooks/:webhook_id"),
      summary: "Delete a webhook on prompts; its waiting messages are not sent",
      params: schema.webhookParams,
      out: { 200: z.object({ message: z.string() }) },
      async handler({ params: { webhook_id: id }, principal, c }) {
        await removeWebhook(deps, principal, id);
        return c.json({ message: "Prompt webhook deleted" });
      },
    }),
    route({
      ...reading,
      method: "GET",
      ...v1("/webhooks/receivers"),
      summary: "List receivers of the workspace's webhooks whose deliveries fail",
      out: { 200: z.array(failingReceiver) },
      async handler({ principal, c }) {
        const own = sql`d.tenant_id = ${principal.workspaceId}`;
        return c.json(await selectFailingReceivers(sql, PROMPT_WEBHOOKS, own));
      },
    }),
    route({
      ...changing,
      method: "POST",
      ...v1("/webhooks/receivers/retry"),
      summary: "Send the workspace's waiting messages of a receiver now",
      body: receiverBody,
      out: { 202: retriedReceiver },
      errors: [404],
      async handler({ body: { origin }, principal, c }) {
        const own = sql`d.tenant_id = ${principal.workspaceId}`;
        const retried = await retryReceiver(sql, PROMPT_WEBHOOKS, origin, own);
        if (retried === 0) throw notFound(`No webhook waits for the receiver ${origin}.`);
        deps.promptWebhooks.wake();
        return c.json({ retried }, 202);
      },
    }),
  ];
}

const toWire = (row: PromptWebhookRow) => ({
  ...row,
  headers: Object.fromEntries(row.headers.map((name) => [name, schema.MASK])),
});
