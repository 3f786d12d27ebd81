import type { Sql } from "../../base/db/connect.ts";
import type { WebhookTables } from "../../base/webhooks/sql.ts";

/** Metrics of the agent server, whose tables are in the same database. */
export interface AgentFigures {
  queue(sql: Sql): Promise<{ due: number; oldest_due: number }>;
  servers(sql: Sql): Promise<number>;
  webhooks: WebhookTables;
}
