import { z } from "zod";

import { notBuilt, uuid } from "../../base/http/fields.ts";
import { hasEachOnce, HEADER_NAME, HEADER_VALUE, RESERVED_HEADER } from "../../base/webhooks/headers.ts";
import { MASK } from "./secrets.ts";

const MAX_ACTIONS = 10;
const MAX_HEADERS = 50;

const url = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^https?:\/\//i, "must be an http or https URL");
const headers = z
  .record(
    z
      .string()
      .regex(HEADER_NAME, "must be header names")
      .refine((name) => !RESERVED_HEADER.test(name), "is set by the server itself"),
    z
      .string()
      .max(8192)
      .refine((value) => value === MASK || HEADER_VALUE.test(value), "contains characters that no header may have"),
  )
  .refine((all) => Object.keys(all).length <= MAX_HEADERS, `must have at most ${MAX_HEADERS} headers`)
  .refine(hasEachOnce, "must have each header once");

const base = {
  id: uuid.nullish(),
  alert_rule_id: uuid.nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
};
const action = z.discriminatedUnion("target", [
  z.object({ ...base, target: z.literal("webhook"), config: z.object({ url, headers: headers.nullish() }) }),
  z.object({ ...base, target: z.literal("slack"), config: z.object({ url }) }),
  z.object({ ...base, target: z.literal("teams"), config: z.object({ url }) }),
  z.object({
    ...base,
    target: z.literal("pagerduty"),
    config: z.object({ routing_key: z.string().min(1).max(200) }),
  }),
  z.object({
    ...base,
    target: z.literal("email"),
    config: z.object({ to: z.array(z.email().max(320)).min(1).max(20) }),
  }),
  z.object({ ...base, target: z.literal("dynatrace"), config: notBuilt("dynatrace", "use a webhook") }),
]);
export const actions = z.array(action).max(MAX_ACTIONS);
export type ActionInput = z.output<typeof action>;

export const shownAction = z.object({
  id: z.guid(),
  alert_rule_id: z.guid(),
  target: z.enum(["webhook", "slack", "teams", "pagerduty", "email"]),
  config: z.record(z.string(), z.unknown()),
  created_at: z.string(),
  updated_at: z.string(),
});
