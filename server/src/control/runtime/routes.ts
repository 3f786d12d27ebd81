import { z } from "zod";

import { queryLimit } from "../../base/http/fields.ts";
import { route, type Route } from "../../base/http/route.ts";
import { hosted } from "../api-host.ts";
import { unknownDeployment } from "../deployments/not-found.ts";
import { deploymentParams } from "../deployments/schema.ts";
import { findDeployment } from "../deployments/sql.ts";
import type { ControlDeps } from "../deps.ts";
import { type InstanceReport, listInstances } from "./sql.ts";

const instance = z.object({
  id: z.string(),
  revision_id: z.string(),
  replica: z.int(),
  state: z.enum(["starting", "ready", "draining", "ended"]),
  started_at: z.string(),
  ready_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  end_reason: z.string().nullable(),
  memory_bytes: z.number().nullable(),
  cpu_percent: z
    .number()
    .nullable()
    .describe("Percent of one core, since the previous request; of a pod, in the last interval of its metrics API"),
  usage_message: z.string().nullable().describe("Why a running pod has no memory_bytes and cpu_percent"),
});

/** Endpoint for a deployment's instances: our extension of the contract. */
export function instanceRoutes(deps: ControlDeps): Route[] {
  const usageHere = async (id: string) => ({
    ...((await deps.supervisor.usage(id)) ?? { memory_bytes: null, cpu_percent: null }),
    usage_message: null,
  });
  const print = async (row: InstanceReport) => ({
    id: row.id,
    revision_id: row.revision_id,
    replica: row.replica,
    state: row.state,
    started_at: row.started_at.toISOString(),
    ready_at: row.ready_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    end_reason: row.end_reason,
    ...(row.pod === null ? await usageHere(row.id) : podUsage(row)),
  });
  return [
    route({
      ...hosted("/v2/deployments/:deployment_id/instances"),
      tag: "Deployments",
      errorFamily: "validation",
      method: "GET",
      permission: "deployments:read",
      summary: "List a deployment's agent servers, running ones first, with their memory and CPU time",
      params: deploymentParams,
      query: z.object({ limit: queryLimit(20, 100) }),
      out: { 200: z.object({ resources: z.array(instance) }) },
      async handler({ params, query, principal, c }) {
        const { deployment_id: id } = params;
        if (!(await findDeployment(deps.sql, principal.workspaceId, id))) throw unknownDeployment(id);
        const rows = await listInstances(deps.sql, id, query.limit);
        return c.json({ resources: await Promise.all(rows.map(print)) });
      },
    }),
  ];
}

function podUsage({ state, memory_bytes, cpu_percent, usage_problem: problem }: InstanceReport): PodMetrics {
  if (state === "ended" || memory_bytes !== null) return { memory_bytes, cpu_percent, usage_message: null };
  const message = problem ?? "The cluster's metrics API has not reported this pod within the last 90 s.";
  return { memory_bytes, cpu_percent, usage_message: message };
}

type PodMetrics = Pick<z.output<typeof instance>, "memory_bytes" | "cpu_percent" | "usage_message">;
