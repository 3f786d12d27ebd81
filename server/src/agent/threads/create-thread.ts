import type { HostCalls } from "../../../../host-kit/src/host-protocol.ts";
import type { AccessCondition } from "../../base/auth/principal.ts";
import type { FairQueue } from "../../base/fair-queue.ts";
import { retryWhileUnavailable } from "../../base/db/retry.ts";
import { AppError, conflict, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { ALL } from "../custom-auth/conditions.ts";
import type { AgentDeps } from "../deps.ts";
import { defaultTtl } from "./default-ttl.ts";
import type { ThreadCreate, ThreadTtl } from "./schema.ts";
import { deleteCheckpoints, findPermittedThread, findThread, insertThread, settleUpdatedState } from "./sql.ts";
import { UPDATE_TIMEOUT_MS } from "./update-state.ts";

type Supersteps = HostCalls["state.update"]["params"]["supersteps"];

/** @returns the thread's JSON */
export async function createThread(
  deps: Pick<AgentDeps, "sql" | "hosts" | "project">,
  updates: FairQueue,
  body: ThreadCreate,
  sees: readonly AccessCondition[] = ALL,
): Promise<string> {
  const id = body.thread_id ?? uuid7();
  const metadata = threadMetadata(body);
  const ttl = body.ttl ?? defaultTtl(deps.project);
  const supersteps = (body.supersteps ?? []) as Supersteps;
  const created =
    supersteps.length > 0
      ? await updates.run(() => insertWithState(deps, id, metadata, supersteps, ttl))
      : await insertThread(deps.sql, id, metadata, ttl);
  if (created !== undefined) return created;
  const existing = body.if_exists === "do_nothing" ? await findPermittedThread(deps.sql, id, sees) : undefined;
  if (existing === undefined) throw conflict("Thread already exists");
  return existing;
}

function threadMetadata(body: ThreadCreate): Record<string, unknown> {
  const metadata = body.metadata ?? {};
  if (typeof body.graph_id !== "string") return metadata;
  const named = metadata["graph_id"];
  if (named !== undefined && named !== null && named !== body.graph_id) {
    throw unprocessable(`graph_id "${body.graph_id}" differs from metadata.graph_id ${JSON.stringify(named)}`);
  }
  return { ...metadata, graph_id: body.graph_id };
}

/**
 * Inserts the thread and its state in one transaction, so that it becomes visible only with its state. The host writes
 * checkpoints over its own connection; they are deleted when the rest fails.
 */
async function insertWithState(
  deps: Pick<AgentDeps, "sql" | "hosts">,
  id: string,
  metadata: Record<string, unknown>,
  supersteps: Supersteps,
  ttl: ThreadTtl | null,
): Promise<string | undefined> {
  const graphId = metadata["graph_id"];
  if (typeof graphId !== "string") throw new AppError(400, `Thread ${id} has no graph ID`);
  deps.hosts.checkGraph(graphId);
  let inserted = false;
  try {
    return await deps.sql.begin(async (tx) => {
      if ((await insertThread(tx, id, metadata, ttl)) === undefined) return undefined;
      inserted = true;
      const params = { graph_id: graphId, thread_id: id, config: {}, creates: true, supersteps };
      const result = await deps.hosts.call("state.update", params, { timeoutMs: UPDATE_TIMEOUT_MS });
      await settleUpdatedState(tx, id, result.toString());
      return findThread(tx, id);
    });
  } catch (error) {
    if (inserted) await retryWhileUnavailable(() => deleteCheckpoints(deps.sql, id));
    throw error;
  }
}
