import { z } from "zod";

import { isoTime, limit, queryLimit, storableText, timestamp, uuid } from "../../base/http/fields.ts";

/** Queries of logs, as LangSmith's control plane has them. */

const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
export type Level = (typeof LEVELS)[number];

const order = z.enum(["asc", "desc"]);
const level = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(LEVELS));
/** A `next_offset` from an earlier response. */
const cursor = z.string().regex(/^\d{1,18}$/, "must be a cursor from an earlier response");

export const logsBody = z
  .object({
    order: order.nullish(),
    limit: limit(50, 1000),
    offset: z.union([cursor, z.int().min(0).transform(String)]).nullish(),
    level: level.nullish(),
    query: storableText.max(1000).nullish(),
    start_time: timestamp.nullish(),
    end_time: timestamp.nullish(),
  })
  .meta({ id: "LogsQuery" });

const shared = {
  start_time: isoTime.optional(),
  end_time: isoTime.optional(),
  query: storableText.max(1000).optional(),
  level: level.optional(),
  run_id: storableText.max(200).optional(),
};

export const deploymentLogsQuery = z.object({
  ...shared,
  type: z.enum(["build", "deploy"]).optional(),
  order: order.optional(),
  limit: queryLimit(50, 1000),
  offset: cursor.optional(),
});
export const revisionLogsQuery = deploymentLogsQuery.extend({ type: z.enum(["build", "deploy"]) });

export const pagedLogsQuery = z.object({
  ...shared,
  deployment_id: uuid,
  revision_id: uuid.optional(),
  log_type: z.enum(["DEPLOY", "BUILD"]).optional(),
  sort_order: order.optional(),
  page_size: queryLimit(20, 100),
  cursor: cursor.optional(),
});

const entry = z
  .object({
    id: z.string(),
    timestamp: z.number().describe("Milliseconds since 1970"),
    level: z.string(),
    message: z.string(),
    revision_id: z.string(),
  })
  .meta({ id: "LogEntry" });

export const logs = z.object({ logs: z.array(entry), next_offset: z.string().nullable() });
export const pagedLogs = z.object({ items: z.array(entry), next_cursor: z.string().nullable() });
