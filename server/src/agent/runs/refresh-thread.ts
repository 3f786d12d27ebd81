import type { HostCalls } from "../../../../graph-host/src/protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { HostPool } from "../hosts/host-pool.ts";
import { selectThreadGraph, updateThreadHead } from "./sql.ts";

/** Sets a thread's row to what its checkpoints say. */
export async function refreshThreadHead(sql: Sql, hosts: HostPool, threadId: string, graphId?: string): Promise<void> {
  const graph = graphId ?? (await selectThreadGraph(sql, threadId));
  if (!graph) return;
  const params: HostCalls["state.get"]["params"] = {
    graph_id: graph,
    thread_id: threadId,
    config: {},
    subgraphs: false,
  };
  const text = await hosts.call("state.get", params, { timeoutMs: 5000 });
  const state = JSON.parse(text.toString()) as {
    values?: unknown;
    next?: string[];
    tasks?: { id: string; interrupts?: unknown[] }[];
  } | null;
  if (!state) return;
  const interrupts = Object.fromEntries((state.tasks ?? []).map((task) => [task.id, task.interrupts ?? []]));
  await updateThreadHead(
    sql,
    threadId,
    JSON.stringify({ values: state.values ?? null, next: state.next ?? [], interrupts }),
  );
}
