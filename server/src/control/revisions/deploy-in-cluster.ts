import { findTarget, type TargetRow } from "../kubernetes/targets-sql.ts";
import { DeployError } from "./deploy-error.ts";
import * as queue from "./queue-sql.ts";
import type { Waiting } from "./waiting.ts";
import type { WorkDeps } from "./work-deps.ts";

/**
 * Waits until a cluster reports that all pods belong to the revision and are ready. The planner assigns the revision to
 * the cluster while it is DEPLOYING; once it no longer is, for any reason, the planner assigns the serving one again.
 */
export async function untilReadyInCluster(
  deps: WorkDeps,
  claimed: queue.ClaimedRevision & { cluster: string },
  waiting: Waiting,
): Promise<void> {
  const { signal, next } = waiting;
  const { sql, settings, clusters } = deps;
  const seconds = settings.deployReadySeconds;
  let deadline = performance.now() + seconds * 1000;
  let startedAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const problem = clusters.planner.problem(claimed.id);
    if (problem !== undefined) throw new DeployError(problem);
    const target = await findTarget(sql, claimed.deployment_id, claimed.cluster);
    if (isUnseen(target, startedAt, settings.deployUnseenSeconds)) {
      await untilSeen(deps, claimed, waiting);
      startedAt = performance.now();
      deadline = startedAt + seconds * 1000;
      continue;
    }
    const isMine = target?.revision_id === claimed.id;
    if (isMine && target.state === "ready") return;
    if (isMine && target.state === "failed")
      throw new DeployError(target.message ?? "The cluster could not run the revision.");
    if (performance.now() > deadline) {
      const reason = isMine && target.message !== null ? ` ${target.message}` : "";
      throw new DeployError(`Timeout: Deployment is not ready after ${seconds} seconds.${reason}`);
    }
    await next(signal, Math.min(deadline - performance.now(), lookMs(settings)));
  }
}

/** A report without changes is not announced: a look must fall into the time for which it counts. */
const lookMs = ({ deployUnseenSeconds }: WorkDeps["settings"]): number => deployUnseenSeconds * 500;

/** Whether the cluster has not reported for `seconds`, counted from its last report or, if later, from the start. */
function isUnseen(target: TargetRow | undefined, startedAt: number, seconds: number): boolean {
  const waited = performance.now() - startedAt;
  return Math.min(waited, target?.unseen_ms ?? Infinity) > seconds * 1000;
}

/** Sets the revision to UNKNOWN until its cluster reports again. */
async function untilSeen(
  { sql, settings }: WorkDeps,
  claimed: queue.ClaimedRevision & { cluster: string },
  { signal, next, onStatus }: Waiting,
): Promise<void> {
  const cluster = claimed.cluster === "own" ? "The cluster's API server" : `The listener ${claimed.cluster}`;
  const message =
    `${cluster} has not reported for ${settings.deployUnseenSeconds} s, so the state of the pods is unknown. ` +
    "Waiting for it.";
  onStatus(await queue.transition(sql, claimed, "DEPLOYING", "unseen", { message }));
  for (;;) {
    const target = await findTarget(sql, claimed.deployment_id, claimed.cluster);
    if (target?.unseen_ms != null && target.unseen_ms < settings.deployUnseenSeconds * 1000) break;
    await next(signal, lookMs(settings));
  }
  onStatus(await queue.transition(sql, claimed, "UNKNOWN", "seen_deploying"));
}
