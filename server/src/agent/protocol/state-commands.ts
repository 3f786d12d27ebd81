/** Commands that read: the state, its history, the tree of the graphs that ran. */
import type { JsonText } from "../../base/http/route.ts";
import type { AgentDeps } from "../deps.ts";
import { AppError } from "../../base/errors.ts";
import { readHistory, readState } from "../threads/read-state.ts";
import type { Caller } from "./caller.ts";
import { parseParams } from "./parse-params.ts";
import { ProtocolError } from "./protocol-error.ts";
import { listCheckpointsParams, stateParams, treeParams } from "./schema.ts";
import { selectLifecycle, selectProtocolRun } from "./sql.ts";

interface State {
  values: Record<string, unknown>;
  checkpoint: { checkpoint_id: string; checkpoint_ns: string } | null;
  metadata?: Record<string, unknown> | null;
  created_at: string | null;
  next: string[];
}

const LIST_LIMIT = 10;

export async function stateGet(deps: AgentDeps, caller: Caller, rawParams: unknown): Promise<Record<string, unknown>> {
  caller.demand("threads:read");
  const { namespace, keys } = parseParams(stateParams, rawParams);
  const checkpoint = checkpointFor(namespace);
  const text = await orNone(caller, readState(deps, caller.threadId, { ...checkpoint, subgraphs: false }));
  const { values, checkpoint: at } = JSON.parse(text) as State;
  if (checkpoint.checkpoint && !at) throw noNamespace(namespace);
  const selectedValues = keys
    ? Object.fromEntries(keys.filter((key) => key in values).map((key) => [key, values[key]]))
    : values;
  return { values: selectedValues, ...(at && { checkpoint: { id: at.checkpoint_id, ns: at.checkpoint_ns } }) };
}

/** Lists checkpoints, newest first. */
export async function stateListCheckpoints(
  deps: AgentDeps,
  caller: Caller,
  rawParams: unknown,
): Promise<Record<string, unknown>> {
  caller.demand("threads:read");
  const { namespace, limit, before } = parseParams(listCheckpointsParams, rawParams);
  const text = await orNone(
    caller,
    readHistory(deps, caller.threadId, {
      limit: limit ?? LIST_LIMIT,
      ...checkpointFor(namespace),
      ...(before && { before: { checkpoint_id: before } }),
    }),
  );
  return { checkpoints: (JSON.parse(text) as State[]).flatMap(summarizeState) };
}

function summarizeState({ checkpoint, created_at, metadata }: State): object[] {
  if (!checkpoint) return [];
  const { step, ...rest } = metadata ?? {};
  const id = checkpoint.checkpoint_id;
  return [{ id, timestamp: created_at, step: typeof step === "number" ? step : -1, metadata: rest }];
}

function checkpointFor(namespace: string[] | null | undefined) {
  return namespace && namespace.length > 0 ? { checkpoint: { checkpoint_ns: namespace.join("|") } } : {};
}

const noNamespace = (namespace: string[] | null | undefined): ProtocolError =>
  new ProtocolError("no_such_namespace", `The thread has no state in the namespace ${JSON.stringify(namespace)}.`);

/** Maps 404 to the protocol's own error codes. */
async function orNone(caller: Caller, reading: Promise<JsonText>): Promise<string> {
  try {
    return (await reading).toString();
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
    if (error.message.startsWith("Thread"))
      throw new ProtocolError("no_such_run", `Thread ${caller.threadId} not found.`);
    throw new ProtocolError("no_such_namespace", error.message);
  }
}

interface Node {
  namespace: string[];
  status: string;
  graph_name: string;
  children?: Node[];
}

const STATUSES: Record<string, string> = {
  success: "completed",
  error: "failed",
  timeout: "failed",
  interrupted: "interrupted",
};

/** Tree of the named run or of the thread's newest run, built from its events for as long as they are kept. */
export async function agentGetTree(
  deps: AgentDeps,
  caller: Caller,
  rawParams: unknown,
): Promise<Record<string, unknown>> {
  const { run_id } = parseParams(treeParams, rawParams);
  const run = await selectProtocolRun(deps.sql, caller.threadId, run_id ?? undefined);
  if (!run) throw new ProtocolError("no_such_run", "No active run is bound to this thread.");
  const root: Node = { namespace: [], status: STATUSES[run.status] ?? "running", graph_name: run.graph_id };
  const nodes = new Map<string, Node>([["[]", root]]);
  for (const text of await selectLifecycle(deps.sql, run.run_id)) {
    const { namespace, data } = JSON.parse(text) as {
      namespace: string[];
      data: { event: string; graph_name: string };
    };
    // not a lifecycle status
    if (data.event === "incomplete") continue;
    const known = nodes.get(JSON.stringify(namespace));
    if (known) known.status = data.event;
    else nodes.set(JSON.stringify(namespace), { namespace, status: data.event, graph_name: data.graph_name });
  }
  for (const node of nodes.values()) {
    if (node === root) continue;
    const parent = nodes.get(JSON.stringify(node.namespace.slice(0, -1))) ?? root;
    (parent.children ??= []).push(node);
  }
  return { tree: root };
}
