import type { z } from "zod";

import type { Principal } from "../../base/auth/principal.ts";
import { type AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { checkWebhook } from "../../base/webhooks/check-webhook.ts";
import { buildPost } from "../../base/webhooks/webhook-sender.ts";
import { postWebhook } from "../../base/webhooks/post-webhook.ts";
import { receiverOrigin } from "../../base/webhooks/receiver-origin.ts";
import type { TraceDeps } from "../deps.ts";
import { RULES } from "./prompt-webhooks.ts";
import { type createBody, MASK, MAX_WEBHOOKS, type patchBody, type testBody, type testResult } from "./schema.ts";
import * as rows from "./sql.ts";
import { deleteHeaders, putHeaders, readHeaders } from "./webhook-headers.ts";

type Deps = Pick<TraceDeps, "sql" | "secrets" | "outbound" | "settings">;
type Row = rows.PromptWebhookRow;

export const unknownWebhook = (id: string): AppError => notFound(`Prompt webhook ${id} not found.`);

/** @throws 422 for a URL that the rules forbid, or above the limit; 409 for an id that is taken */
export async function createWebhook(
  { sql, secrets, outbound }: Deps,
  { workspaceId }: Principal,
  body: z.output<typeof createBody>,
): Promise<Row> {
  checkWebhook(RULES, outbound, body.url);
  const { url, triggers, headers, include_prompts, exclude_prompts } = body;
  const row = {
    id: body.id ?? uuid7(),
    tenant_id: workspaceId,
    url,
    triggers,
    headers: Object.keys(headers ?? {}),
    include_prompts: include_prompts ?? null,
    exclude_prompts: exclude_prompts ?? null,
  };
  return (await sql.begin(async (tx) => {
    const created = await rows.insertWebhook(tx, row, MAX_WEBHOOKS);
    if (created) {
      await putHeaders(secrets, row, headers ?? {}, {}, tx);
      return created;
    }
    if ((await rows.selectWebhooks(sql, workspaceId, MAX_WEBHOOKS)).length < MAX_WEBHOOKS) {
      throw conflict(`The id ${row.id} is taken.`);
    }
    throw unprocessable(`A workspace can have at most ${MAX_WEBHOOKS} prompt webhooks.`);
  })) as Row;
}

/** Changes the fields that are sent. Null clears headers and lists of prompts. @throws 404, 422 */
export async function changeWebhook(
  { sql, secrets, outbound }: Deps,
  { workspaceId }: Principal,
  id: string,
  patch: z.output<typeof patchBody>,
): Promise<Row> {
  if (typeof patch.url === "string") checkWebhook(RULES, outbound, patch.url);
  return (await sql.begin(async (tx) => {
    const before = await rows.selectWebhook(tx, workspaceId, id, "lock");
    if (!before) throw unknownWebhook(id);
    const { headers } = patch;
    // a header goes to no other receiver than it was stored for
    const isSame = receiverOrigin(patch.url ?? before.url) === receiverOrigin(before.url);
    if (headers !== undefined) {
      await putHeaders(secrets, before, headers ?? {}, isSame ? await readHeaders(secrets, id, tx) : {}, tx);
    } else if (!isSame && before.headers.length > 0) {
      throw unprocessable("headers: were stored for another receiver. Send them with the new URL, or {} for none");
    }
    return rows.updateWebhook(tx, {
      ...before,
      url: patch.url ?? before.url,
      triggers: patch.triggers ?? before.triggers,
      headers: headers === undefined ? before.headers : Object.keys(headers ?? {}),
      include_prompts: patch.include_prompts === undefined ? before.include_prompts : patch.include_prompts,
      exclude_prompts: patch.exclude_prompts === undefined ? before.exclude_prompts : patch.exclude_prompts,
    });
  })) as Row;
}

/** Deletes a webhook; its waiting messages are not sent. @throws 404 */
export async function removeWebhook({ sql, secrets }: Deps, { workspaceId }: Principal, id: string): Promise<void> {
  await sql.begin(async (tx) => {
    if (!(await rows.deleteWebhook(tx, workspaceId, id))) throw unknownWebhook(id);
    await deleteHeaders(secrets, id, tx);
  });
}

/** Sends a message once, signed like all others, and reports what became of it. @throws 422 for a forbidden URL */
export async function testWebhook(
  { outbound, settings }: Deps,
  { webhook, payload }: z.output<typeof testBody>,
): Promise<z.output<typeof testResult>> {
  checkWebhook(RULES, outbound, webhook.url);
  const headers = webhook.headers ?? {};
  const masked = Object.keys(headers).find((name) => headers[name] === MASK);
  if (masked !== undefined) throw unprocessable(`webhook.headers: ${masked} has a masked value. Enter it again.`);
  const message = { body: JSON.stringify({ ...payload, tag_name: payload.tag_name ?? null }), headers };
  const { statusCode, error } = await postWebhook(
    outbound,
    buildPost(settings, uuid7(), webhook.url, message, new Date()),
  );
  const isDelivered = statusCode !== null && statusCode >= 200 && statusCode < 300;
  const reason = error ?? `The receiver responded with status ${statusCode}.`;
  return {
    status: isDelivered ? "delivered" : "failed",
    status_code: statusCode === null ? "" : String(statusCode),
    error: isDelivered ? "" : reason,
  };
}
