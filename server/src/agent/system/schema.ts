import { z } from "zod";

import { queryFlag } from "../../base/http/fields.ts";
import { unhealthy } from "../../base/http/health-routes.ts";

export const okQuery = z.object({ check_db: queryFlag, check_graphs: queryFlag });

const part = z.looseObject({ ok: z.boolean(), reason: z.string().optional() });

/** Dependencies of the server, with `check_db`. */
const checks = z.object({
  database: part.extend({ ms: z.number().optional() }),
  graph_hosts: part.extend({ ready: z.int().optional() }),
  graphs: z.record(z.string(), z.boolean()),
  claims: part,
  lease: part,
  disk: part,
});

export const ok = z.object({ ok: z.literal(true), checks: checks.optional() });

export const unhealthyParts = unhealthy.extend({ checks: z.record(z.string(), z.unknown()).optional() });

export const info = z.object({
  version: z.string(),
  /** Present where the project has JavaScript graphs. */
  langgraph_js_version: z.string().nullable().optional(),
  /** Present where the project has Python graphs. */
  langgraph_py_version: z.string().nullable().optional(),
  /** As LangGraph's server for JavaScript reports it; absent where all graphs are Python. */
  context: z.literal("js").optional(),
  flags: z.object({
    assistants: z.boolean(),
    crons: z.boolean(),
    webhooks: z.boolean(),
    langsmith: z.boolean(),
    langsmith_tracing_replicas: z.boolean(),
    stream_namespaces: z.boolean(),
  }),
  metadata: z.record(z.string(), z.unknown()),
});
