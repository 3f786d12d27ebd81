import type { Sql } from "../base/db/connect.ts";
import { countLiveServers } from "../agent/servers/sql.ts";
import { selectQueueDepth } from "../agent/system/sql.ts";
import { RUN_WEBHOOKS } from "../agent/webhooks/sql.ts";
import type { AgentFigures } from "../trace/alerts/agent-figures.ts";

/** Metrics of the agent servers on the trace platform's database, for alerts on the platform. */
export const agentFigures: AgentFigures = {
  queue: (sql: Sql) => selectQueueDepth(sql),
  servers: (sql: Sql) => countLiveServers(sql),
  webhooks: RUN_WEBHOOKS,
};
