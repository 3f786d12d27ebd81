import { databaseNow } from "../../base/db/database-now.ts";
import { ONLY_LISTED, withOwnerLabels } from "../deployments/owner-labels.ts";
import type { SourceConfig } from "../deployments/schema.ts";
import type { LimitName } from "../drivers/driver.ts";
import { lockReady, setActiveRevision } from "../deployments/sql.ts";
import { countCrashes } from "../runtime/sql.ts";
import { minScale } from "../runtime/wanted-replicas.ts";
import { DeployError } from "./deploy-error.ts";
import { untilReadyInCluster } from "./deploy-in-cluster.ts";
import * as queue from "./queue-sql.ts";
import type { Status } from "./status.ts";
import type { Waiting } from "./waiting.ts";
import type { WorkDeps } from "./work-deps.ts";

const MAX_CRASHES = 3;

/** Waits until the revision is healthy where it runs, then lets it serve. */
export async function deployRevision(
  deps: WorkDeps,
  claimed: queue.ClaimedRevision,
  signal: AbortSignal,
  onStatus: (status: Status) => void,
): Promise<Status> {
  const { sql, table, faultPoint } = deps;
  const log = deps.logs.open({ deploymentId: claimed.deployment_id, revisionId: claimed.id, kind: "deploy" });
  const { cluster } = claimed;
  const notes = [cluster === null ? limitsNote(deps, claimed) : null, labelsNote(deps, claimed)];
  const note = notes.filter((text) => text !== null).join(" ") || null;
  if (note !== null) log.write(note, "WARNING");
  try {
    await deps.changes.watch(["instances", "cluster_targets"], async (next) => {
      if (cluster === null) await untilReadyHere(deps, claimed, { signal, next, onStatus });
      else await untilReadyInCluster(deps, { ...claimed, cluster }, { signal, next, onStatus });
    });
  } catch (error) {
    if (error instanceof DeployError) log.write(error.message, "ERROR");
    await log.flush();
    throw error;
  }
  faultPoint("control-before-switch");
  await table.switch(
    async () => {
      await sql.begin(async (tx) => {
        // lock the deployment first, as all writers of both rows do
        if (!(await lockReady(tx, claimed.deployment_id))) throw new queue.LostRevisionError();
        await queue.transition(tx, claimed, "DEPLOYING", "healthy", { message: note });
        await setActiveRevision(tx, claimed.deployment_id, claimed.id);
      });
      faultPoint("control-after-switch");
    },
    () => Promise.all([deps.settleGateways(), deps.supervisor.retireOthers(claimed.deployment_id, claimed.id)]),
  );
  log.write(`Revision ${claimed.id} is deployed.`);
  await log.flush();
  return "DEPLOYED";
}

/**
 * Waits until the required number of replicas is healthy. The supervisor starts them while the revision is DEPLOYING;
 * once it no longer is, for any reason, the supervisor stops those that do not serve.
 */
async function untilReadyHere(deps: WorkDeps, claimed: queue.ClaimedRevision, waiting: Waiting): Promise<void> {
  const { signal, next } = waiting;
  const { sql, supervisor, settings } = deps;
  const replicas = minScale(claimed);
  const seconds = settings.deployReadySeconds;
  const since = await databaseNow(sql);
  let deadline = performance.now() + seconds * 1000;
  for (; ; await next(signal, deadline - performance.now())) {
    signal.throwIfAborted();
    if (await wasUnseen(deps, claimed, waiting)) deadline = performance.now() + seconds * 1000;
    const instances = supervisor.instancesOf(claimed.id);
    const broken = instances.flatMap((instance) => instance.broken);
    if (broken.length > 0) {
      for (const instance of instances) await instance.pump();
      throw new DeployError(
        `These graphs failed to load: ${[...new Set(broken)].join(", ")}. See the deployment's log.`,
      );
    }
    if (instances.filter((instance) => instance.row.state === "ready").length >= replicas) return;
    const crashes = await countCrashes(sql, claimed.id, since);
    if (crashes >= MAX_CRASHES) throw new DeployError(`It exited ${crashes} times while starting.`);
    if (performance.now() > deadline)
      throw new DeployError(`Timeout: Deployment is not ready after ${seconds} seconds.`);
  }
}

/** Returns a note for the owner about limits that the driver cannot enforce; null when it can enforce all. */
function limitsNote({ driver }: WorkDeps, claimed: queue.ClaimedRevision): string | null {
  const enforced = driver.enforcedLimits(claimed.artifact_id!);
  const unenforced = givenLimits(claimed.source_config).filter((name) => !enforced.includes(name));
  if (unenforced.length === 0) return null;
  return (
    `${unenforced.join(" and ")} of resource_spec ${unenforced.length === 1 ? "is" : "are"} not enforced: the ` +
    "instances run as processes, and this machine offers no writable control groups. Run deployments as containers, " +
    "or delegate a group to the platform (docs/deployments.md)."
  );
}

/** Returns a note for the owner about labels that the operator's list does not contain. */
function labelsNote({ settings }: WorkDeps, { source_config: config }: queue.ClaimedRevision): string | null {
  const { dropped } = withOwnerLabels(config, settings.ownerLabels);
  return dropped.length === 0 ? null : `${dropped.join(", ")} of resource_spec are left out: ${ONLY_LISTED}.`;
}

const LIMITS = ["cpu_limit", "memory_limit_mb"] as const satisfies LimitName[];

/** Returns the limits that the deployment's owner has set. */
const givenLimits = ({ resource_spec: spec }: SourceConfig): LimitName[] =>
  LIMITS.filter((name) => spec?.[name] != null);

/**
 * Sets the revision to UNKNOWN when its instances cannot be observed for longer than usual, and waits until they can.
 * @returns whether that was so
 */
async function wasUnseen(
  { sql, driver, settings }: WorkDeps,
  claimed: queue.ClaimedRevision,
  { signal, next, onStatus }: Waiting,
): Promise<boolean> {
  const since = () => driver.unseenSince?.(claimed.artifact_id!) ?? null;
  const startedAt = since();
  if (startedAt === null || performance.now() - startedAt < settings.deployUnseenSeconds * 1000) return false;
  const message =
    "The container engine does not answer, so the state of the instances is unknown. Waiting for the engine.";
  onStatus(await queue.transition(sql, claimed, "DEPLOYING", "unseen", { message }));
  while (since() !== null) await next(signal);
  onStatus(await queue.transition(sql, claimed, "UNKNOWN", "seen_deploying"));
  return true;
}
