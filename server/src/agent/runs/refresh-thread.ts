import type { HostCalls, RunResult } from "../../../../host-kit/src/host-protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import { unavailable } from "../../base/errors.ts";
import type { GraphHosts } from "../hosts/graph-hosts.ts";
import { selectThreadGraph, updateThreadHead } from "./sql.ts";

/** Attempts to read a thread whose newest checkpoint changes between the read and the write of its row. */
const READS = 5;

/**
 * Sets a thread's row to the state of its newest checkpoint. Reads again when a newer checkpoint was committed
 * meanwhile, so that a row never goes back. 503 when that happens in each of several reads.
 */
export async function refreshThreadHead(
  sql: Sql,
  hosts: GraphHosts,
  threadId: string,
  graphId?: string,
): Promise<void> {
  const graph = graphId ?? (await selectThreadGraph(sql, threadId));
  if (!graph) return;
  for (let read = 0; read < READS; read++) if (await refreshOnce(sql, hosts, threadId, graph)) return;
  throw unavailable(`The state of thread ${threadId} changes faster than it can be read. Try again.`);
}

/** @returns false when a newer checkpoint was committed after the read */
async function refreshOnce(sql: Sql, hosts: GraphHosts, threadId: string, graph: string): Promise<boolean> {
  const head = await readHead(hosts, threadId, graph);
  return head === undefined || updateThreadHead(sql, threadId, head.of ?? "", JSON.stringify(head));
}

/** Reads the state of the newest checkpoint through a host; undefined when there is no state. */
export async function readHead(hosts: GraphHosts, threadId: string, graph: string): Promise<RunResult | undefined> {
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
    checkpoint_id?: string | null;
  } | null;
  if (!state) return undefined;
  const interrupts = Object.fromEntries((state.tasks ?? []).map((task) => [task.id, task.interrupts ?? []]));
  const { values = null, next = [], checkpoint_id: of } = state;
  return { values, next, interrupts: interrupts as Record<string, unknown[]>, ...(of && { of }) };
}
