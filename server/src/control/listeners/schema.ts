import { z } from "zod";

import { queryLimit, queryOffset, storableText, uuid } from "../../base/http/fields.ts";

/** Listeners, as LangSmith's control plane has them. */

const short = storableText.max(200);
const namespaces = z.array(short.min(1)).max(1000);
const computeConfig = z.object({ k8s_namespaces: namespaces.nullish() });

export const createBody = z.object({
  version: short.nullish(),
  compute_type: z.literal("k8s"),
  compute_id: short.min(1),
  compute_config: computeConfig,
});
export type CreateBody = z.output<typeof createBody>;

export const patchBody = z.object({ version: short.nullish(), compute_config: computeConfig.nullish() });
export type PatchBody = z.output<typeof patchBody>;

export const listenerParams = z.object({ listener_id: uuid });
export const listQuery = z.object({ limit: queryLimit(20, 100), offset: queryOffset });

const LISTENER_STATUSES = ["never_connected", "connected", "away"] as const;
export type ListenerStatus = (typeof LISTENER_STATUSES)[number];

export const listener = z
  .object({
    id: z.string(),
    version: z.string().nullable(),
    compute_type: z.string(),
    compute_id: z.string(),
    compute_config: z.object({ k8s_namespaces: z.array(z.string()).nullable() }),
    created_at: z.string(),
    updated_at: z.string(),
    last_seen_at: z.string().nullable().describe("Last request of the listener itself"),
    has_credential: z.boolean().describe("Whether it has a credential that is not revoked"),
    status: z.enum(LISTENER_STATUSES).describe("away: it has not asked for work for a minute"),
  })
  .meta({ id: "Listener" });

const credential = z.string().describe("For `heddle listener --key`. Shown only once");
export const newListener = listener.extend({ credential }).meta({ id: "NewListener" });
export const newCredential = z.object({ credential }).meta({ id: "NewListenerCredential" });

export const listenersList = z.object({ resources: z.array(listener), offset: z.int() });

export const workQuery = z.object({ version: storableText.max(64).optional() });
