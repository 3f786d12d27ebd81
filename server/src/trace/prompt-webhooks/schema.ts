import { z } from "zod";

import { jsonObject, uuid } from "../../base/http/fields.ts";
import { hasEachOnce, HEADER_NAME, HEADER_VALUE, RESERVED_HEADER } from "../../base/webhooks/headers.ts";

/** Shown instead of a header's value. Sent back, it keeps the stored one. */
export const MASK = "••••••••";
export const MAX_WEBHOOKS = 100;
const MAX_PROMPTS = 1000;
const MAX_HEADERS = 50;
const MAX_HEADER_CHARS = 16 * 1024;

const trigger = z.enum(["commit", "tag:create", "tag:update"]);

const url = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^https?:\/\//i, "must be an http or https URL");

const headerName = z
  .string()
  .regex(HEADER_NAME, "must be header names")
  .refine((name) => !RESERVED_HEADER.test(name), "is set by the server itself");

const headerValue = z.string().refine((value) => value === MASK || HEADER_VALUE.test(value), {
  message: "contains characters that are not allowed in a header",
});

const headers = z
  .record(headerName, headerValue)
  .refine((all) => Object.keys(all).length <= MAX_HEADERS, `must have at most ${MAX_HEADERS} headers`)
  .refine((all) => JSON.stringify(all).length <= MAX_HEADER_CHARS, `must have at most ${MAX_HEADER_CHARS} characters`)
  .refine(hasEachOnce, "must have each header once")
  .nullish();

const prompts = z.array(uuid).max(MAX_PROMPTS).nullish();
const triggers = z.array(trigger).min(1).max(3);

const base = {
  url,
  headers,
  include_prompts: prompts.describe("Ids of prompts; absent or empty: all prompts of the workspace."),
  exclude_prompts: prompts,
};

export const createBody = z.object({
  ...base,
  triggers: triggers.default(["commit"]),
  id: uuid.nullish(),
});
export const patchBody = z.object({ ...base, url: url.nullish(), triggers: triggers.nullish() });

export const testBody = z.object({
  webhook: z.object({ ...base, triggers: triggers.optional() }),
  payload: z.object({
    prompt_id: z.string(),
    prompt_name: z.string(),
    manifest: jsonObject,
    commit_hash: z.string(),
    created_at: z.string(),
    created_by: z.string(),
    event: trigger,
    tag_name: z.string().nullish(),
  }),
});

export const webhookParams = z.object({ webhook_id: uuid });

const time = z.iso.datetime({ offset: true });

export const promptWebhook = z
  .object({
    id: z.guid(),
    tenant_id: z.guid(),
    url: z.string(),
    /** Values are masked. */
    headers: z.record(z.string(), z.string()),
    include_prompts: z.array(z.guid()).nullable(),
    exclude_prompts: z.array(z.guid()).nullable(),
    triggers: z.array(trigger),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "PromptWebhook" });

export const testResult = z.object({ status: z.string(), status_code: z.string(), error: z.string() });
