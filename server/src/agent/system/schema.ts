import { z } from "zod";

import { queryFlag } from "../../base/http/fields.ts";

export const okQuery = z.object({ check_db: queryFlag });

export const ok = z.object({
  ok: z.literal(true),
  /** With `check_db`: what the server depends on. */
  checks: z
    .object({
      database: z.object({ ok: z.boolean(), ms: z.number() }),
      graph_hosts: z.object({ ok: z.boolean(), ready: z.int() }),
      graphs: z.record(z.string(), z.boolean()),
    })
    .optional(),
});

export const info = z.object({
  version: z.string(),
  langgraph_js_version: z.string().nullable(),
  context: z.literal("js"),
  flags: z.object({
    assistants: z.boolean(),
    crons: z.boolean(),
    webhooks: z.boolean(),
    langsmith: z.boolean(),
    langsmith_tracing_replicas: z.boolean(),
  }),
  metadata: z.record(z.string(), z.unknown()),
});
