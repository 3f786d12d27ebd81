import { agentRoute, type AgentRoute, onSearch } from "../custom-auth/agent-route.ts";
import { ALL } from "../custom-auth/conditions.ts";
import type { AgentDeps } from "../deps.ts";
import * as schema from "./schema.ts";
import { selectCounts, selectRunning, selectServers, selectWaiting, selectWaits } from "./sql.ts";

/** Running runs, waiting runs with their reasons, waits for timers and signals, and the servers. For people: read live, nothing is cached. */
export function queueRoutes(deps: AgentDeps): AgentRoute[] {
  const { sql, settings } = deps;
  return [
    agentRoute({
      tag: "Queue",
      method: "GET",
      path: "/queue",
      permission: "runs:read",
      auth: onSearch("threads:search", []),
      summary: "List pending runs with the reason, running runs, waits for timers and signals, and servers",
      query: schema.queueQuery,
      out: { 200: schema.queue },
      async handler({ query: { limit, run_id: runId }, c, principal: { sees = ALL } }) {
        const [counts, servers, waiting, running, waits] = await Promise.all([
          selectCounts(sql, sees),
          // only the operator may see the servers
          sees.length > 0 ? [] : selectServers(sql, deps.serverId, settings.leaseMs / 1000),
          selectWaiting(sql, { limit, runId }, sees),
          selectRunning(sql, { limit, runId }, sees),
          selectWaits(sql, { limit, runId }, sees),
        ]);
        return c.json({
          at: new Date().toISOString(),
          slots: settings.jobs,
          ...counts,
          servers,
          waiting,
          running,
          waits,
        });
      },
    }),
  ];
}
