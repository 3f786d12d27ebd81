import type { Sql } from "../../base/db/connect.ts";
import { isUuid } from "../../base/ids.ts";
import type { UsageReport } from "./desired-deployment.ts";
import { clusterPlace } from "./placement.ts";

/** Records the CPU time and memory of a cluster's pods, or why the cluster reports none. */
export async function recordUsage(sql: Sql, cluster: string, { problem, pods: all }: UsageReport): Promise<void> {
  const pods = all.filter(({ uid }) => isUuid(uid));
  await sql`
    update cluster_targets set usage_problem = ${problem}
    where cluster = ${cluster} and usage_problem is distinct from ${problem}`;
  if (pods.length === 0) return;
  await sql`
    update instances i set memory_bytes = u.memory, cpu_percent = u.cpu, measured_at = now()
    from unnest(${pods.map(({ uid }) => uid)}::text[]::uuid[], ${pods.map(({ memoryBytes }) => memoryBytes)}::bigint[],
      ${pods.map(({ cpuPercent }) => cpuPercent)}::float8[]) as u (id, memory, cpu)
    where i.pod_uid = u.id and i.place = ${clusterPlace(cluster)} and i.state <> 'ended'`;
}
