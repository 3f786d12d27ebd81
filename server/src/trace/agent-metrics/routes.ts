import { z } from "zod";

import { unprocessable } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { insertReadings } from "./clickhouse.ts";
import * as schema from "./schema.ts";

const PAST_MS = 86_400_000;
const FUTURE_MS = 600_000;

/** Route on which agent servers send their metrics, with the key with which they send traces. */
export function agentMetricRoutes({ clickhouse, projects }: TraceDeps): Route[] {
  return [
    route({
      tag: "Dashboards",
      method: "POST",
      ...v1("/agent-metrics"),
      permission: "runs:create",
      audit: "data",
      summary: "Store metrics of an agent server by minute; a minute that is sent again replaces the former",
      body: schema.readings,
      out: { 202: z.object({ message: z.string() }) },
      async handler({ body, principal: { workspaceId }, c }) {
        const now = Date.now();
        for (const { minute } of body.readings) {
          const at = Date.parse(minute);
          if (at < now - PAST_MS || at > now + FUTURE_MS)
            throw unprocessable("readings.minute: must be within the last day");
        }
        const projectId = await projects.ensureProject(workspaceId, body.project);
        await insertReadings(clickhouse, workspaceId, projectId, body);
        return c.json({ message: "accepted" }, 202);
      },
    }),
  ];
}
