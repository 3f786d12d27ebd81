import type { CheckpointRef } from "../../../../host-kit/src/host-protocol.ts";
import { notFound } from "../../base/errors.ts";
import type { JsonText } from "../../base/http/route.ts";
import type { AgentDeps } from "../deps.ts";
import { selectStateRow, type StateRow } from "./sql.ts";

/** State of a thread on which no graph has run. */
const EMPTY_STATE = JSON.stringify({
  values: {},
  next: [],
  tasks: [],
  created_at: null,
  checkpoint: null,
  parent_checkpoint: null,
});

interface StateRead {
  checkpoint?: CheckpointRef | null;
  subgraphs: boolean;
  select?: string[] | null;
}

/** @returns a ThreadState as JSON text, passed through from the host unless the caller selected parts of it */
export async function readState(deps: AgentDeps, threadId: string, read: StateRead): Promise<JsonText> {
  const thread = await findThread(deps, threadId);
  const { checkpoint, subgraphs } = read;
  const state =
    thread.graph_id === null
      ? checkpoint?.checkpoint_id
        ? "null"
        : EMPTY_STATE
      : await deps.hosts.call("state.get", {
          graph_id: thread.graph_id,
          thread_id: threadId,
          config: thread.config,
          ...(checkpoint && { checkpoint }),
          subgraphs,
        });
  if (isNull(state)) throw notFound(`Checkpoint ${checkpoint?.checkpoint_id} not found`);
  return read.select && read.select.length > 0 ? pick(state, read.select) : state;
}

interface HistoryRead {
  limit: number;
  before?: CheckpointRef | null;
  filter?: Record<string, unknown> | null;
  checkpoint?: CheckpointRef | null;
}

/** @returns an array of ThreadStates as JSON text, newest first */
export async function readHistory(deps: AgentDeps, threadId: string, read: HistoryRead): Promise<JsonText> {
  const thread = await findThread(deps, threadId);
  if (thread.graph_id === null) return "[]";
  return deps.hosts.call("state.history", {
    graph_id: thread.graph_id,
    thread_id: threadId,
    config: thread.config,
    limit: read.limit,
    ...(read.before && { before: read.before }),
    ...(read.filter && { filter: read.filter }),
    ...(read.checkpoint && { checkpoint: read.checkpoint }),
  });
}

async function findThread(deps: AgentDeps, threadId: string): Promise<StateRow> {
  const row = await selectStateRow(deps.sql, threadId);
  if (!row) throw notFound(`Thread with ID ${threadId} not found`);
  return row;
}

const isNull = (json: JsonText): boolean => json.length === 4 && json.toString() === "null";

/** Selects fields of the state; `values.<key>` selects one key of the values. */
function pick(json: JsonText, names: string[]): string {
  const state = JSON.parse(json.toString()) as Record<string, unknown>;
  const picked: Record<string, unknown> = {};
  for (const name of names) if (name in state) picked[name] = state[name];
  const keys = names.filter((name) => name.startsWith("values.")).map((name) => name.slice("values.".length));
  if (keys.length > 0 && !("values" in picked)) {
    const values = (state["values"] ?? {}) as Record<string, unknown>;
    picked["values"] = Object.fromEntries(
      keys.filter((key) => Object.hasOwn(values, key)).map((key) => [key, values[key]]),
    );
  }
  return JSON.stringify(picked);
}
