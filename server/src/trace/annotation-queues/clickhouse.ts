import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { findRunKeys, type RunKey } from "../run-rows/clickhouse.ts";

/**
 * Finds the latest root of each thread; threads without runs are left out. Reads unmerged pieces: a run's thread and
 * trace never change.
 */
export async function findThreadRoots(
  clickhouse: ClickHouse,
  tenantId: string,
  threads: readonly { project_id: string; thread_id: string }[],
): Promise<Map<string, RunKey>> {
  if (threads.length === 0) return new Map();
  const rows = await clickhouse.rows<{ project: string; thread: string; trace: string }>({
    name: "annotation_queues.thread_roots",
    query: `select toString(project_id) as project, assumeNotNull(thread_id) as thread,
        toString(argMax(trace_id, start_time)) as trace
      from runs
      where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)} and thread_id in {threads:Array(String)}
      group by project, thread`,
    params: {
      tenant: tenantId,
      projects: [...new Set(threads.map((thread) => thread.project_id))],
      threads: [...new Set(threads.map((thread) => thread.thread_id))],
    },
  });
  const roots = await findRunKeys(
    clickhouse,
    tenantId,
    rows.map((row) => row.trace),
  );
  const byId = new Map(roots.filter((key) => !key.deleted).map((key) => [key.id, key]));
  return new Map(
    rows.flatMap(({ project, thread, trace }) => {
      const key = byId.get(trace);
      return key ? [[threadKey({ project_id: project, thread_id: thread }), key] as const] : [];
    }),
  );
}

export const threadKey = ({ project_id, thread_id }: { project_id: string; thread_id: string }): string =>
  `${project_id} ${thread_id}`;

/** Returns the roots of an experiment with their examples, the first of each example, up to a limit. */
export function findExperimentRoots(
  clickhouse: ClickHouse,
  tenantId: string,
  projectId: string,
  limit: number,
): Promise<(Omit<RunKey, "deleted"> & { example_id: string })[]> {
  return clickhouse.rows({
    name: "annotation_queues.experiment_roots",
    query: `select toString(r.reference_example_id) as example_id, toString(argMin(r.id, r.start_time)) as id,
        toString(argMin(r.trace_id, r.start_time)) as trace_id, toString(any(r.project_id)) as project_id,
        toString(min(r.start_time)) as start_time
      from runs as r final
      where r.tenant_id = {tenant:UUID} and r.project_id = {project:UUID} and r.parent_run_id is null
        and r.reference_example_id is not null
      group by r.reference_example_id order by example_id limit {limit:UInt32}`,
    params: { tenant: tenantId, project: projectId, limit },
  });
}
