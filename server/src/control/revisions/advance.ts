import type { FairQueue } from "../../base/fair-queue.ts";
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import { BuildError } from "../builds/build-error.ts";
import type { BuildOutcome } from "../builds/build-metrics.ts";
import type { NextChange } from "../changes/control-changes.ts";
import type { BuildParams } from "../drivers/driver.ts";
import { readEnvironment } from "../deployments/environment-secret.ts";
import { isBuilt } from "../deployments/validate.ts";
import { recordSeenCommit } from "../watches/sql.ts";
import { DeployError } from "./deploy-error.ts";
import { deployRevision } from "./deploy-revision.ts";
import { resolveCommit, withSource } from "./fetch-source.ts";
import * as queue from "./queue-sql.ts";
import { hasSource } from "./source.ts";
import { MAX_LOSSES, type Status } from "./status.ts";
import type { WorkDeps } from "./work-deps.ts";

const FAILURE_PAUSE_MS = 2_000;

/** Pause before the work continues, if it does. */
export interface Pause {
  pauseMs: number;
  message?: string;
}

/**
 * Advances a revision to a final state, or until another process ends it. Returns normally unless the database is
 * unreachable.
 */
export async function advance(
  deps: WorkDeps,
  claimed: queue.ClaimedRevision,
  signal: AbortSignal,
  builds: FairQueue,
): Promise<Pause> {
  let status: Status = claimed.status;
  const changed = (to: Status) => {
    if (to !== status) {
      const about = { revision: claimed.id, deployment: claimed.deployment_id };
      deps.log.info(about, `revision ${claimed.number} is ${to}`);
    }
    status = to;
  };
  try {
    while (!SETTLED.has(status)) {
      signal.throwIfAborted();
      changed(await step(deps, claimed, status, signal, builds, changed));
    }
    return { pauseMs: 0 };
  } catch (error) {
    if (error instanceof queue.LostRevisionError || signal.aborted) return { pauseMs: 0 };
    if (isDatabaseUnavailable(error)) return { pauseMs: 1000 };
    return fail(deps, claimed, status, error);
  }
}

/** States that this attempt leaves as they are: final ones, and INTERRUPTED, which a later claim may resume. */
const SETTLED: ReadonlySet<Status> = new Set<Status>([
  "DEPLOYED",
  "SKIPPED",
  "CREATE_FAILED",
  "BUILD_FAILED",
  "DEPLOY_FAILED",
  "INTERRUPTED",
]);

/**
 * Executes the current step of a revision. Steps of two transitions report the first one to `onStatus`.
 * @returns the status after the step
 */
async function step(
  deps: WorkDeps,
  claimed: queue.ClaimedRevision,
  status: Status,
  signal: AbortSignal,
  builds: FairQueue,
  onStatus: (status: Status) => void,
): Promise<Status> {
  const { sql, faultPoint } = deps;
  switch (status) {
    case "CREATING": {
      // again: READY is a row of the platform's database, with which a restore may not bring back the deployment's
      await deps.databases.ensure(claimed.deployment_id, claimed.tenant_id);
      await pullImage(deps, claimed, signal);
      const sha = await resolveCommit(deps, claimed, signal);
      faultPoint("control-created");
      return recordSource(deps, claimed, status, "resolved", sha);
    }
    case "QUEUED": {
      faultPoint("control-queued");
      // a revision that was lost during creation continues here
      await pullImage(deps, claimed, signal);
      if (hasBuild(deps, claimed)) return recordSource(deps, claimed, status, "build_known", null);
      return recordSource(deps, claimed, status, "build_wanted", await resolveCommit(deps, claimed, signal));
    }
    case "AWAITING_BUILD":
      return builds.run(async () => {
        signal.throwIfAborted();
        onStatus(await queue.transition(sql, claimed, "AWAITING_BUILD", "build_started"));
        const builtImage = await measured(deps, signal, () => produceArtifact(deps, claimed, signal, "build"));
        faultPoint("control-built");
        claimed.artifact_id = claimed.id;
        return queue.transition(sql, claimed, "BUILDING", "built", { artifactId: claimed.id, builtImage });
      });
    case "AWAITING_DEPLOY":
      if (!hasBuild(deps, claimed)) {
        if (hasSource(deps.directory, claimed)) return queue.transition(sql, claimed, status, "build_missing");
        throw new DeployError("Neither its build nor its archive exists any more. Deploy the project again.");
      }
      return waitForTurn(deps, claimed, signal);
    case "DEPLOYING":
      faultPoint("control-deploying");
      return deployRevision(deps, claimed, signal, onStatus);
    default:
      throw new Error(`a revision with the status ${status} has no next step`);
  }
}

/** Whether the revision's build exists. For a cluster, it is the image, which the cluster's nodes pull. */
const hasBuild = ({ driver }: WorkDeps, { artifact_id: artifact, cluster }: queue.ClaimedRevision): boolean =>
  artifact !== null && (cluster !== null || driver.hasBuild(artifact));

/** Measures a build, whatever its outcome. */
export async function measured<Result>(
  { measureBuild }: Pick<WorkDeps, "measureBuild">,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  let outcome: BuildOutcome = "failed";
  try {
    const result = await work();
    outcome = "succeeded";
    return result;
  } finally {
    measureBuild(signal.aborted ? "interrupted" : outcome, (performance.now() - startedAt) / 1000);
  }
}

/** Records the resolved source; from then on the revision supersedes older ones. */
async function recordSource(
  { sql }: WorkDeps,
  claimed: queue.ClaimedRevision,
  from: Status,
  event: "resolved" | "build_wanted" | "build_known",
  sha: string | null,
): Promise<Status> {
  const next = await sql.begin(async (tx) => {
    const { deployment_id: deploymentId, repo_ref: ref, number, artifact_id: artifactId } = claimed;
    const found = { ...(artifactId !== null && { artifactId }), ...(sha !== null && { commitSha: sha }) };
    const status = await queue.transition(tx, claimed, from, event, found);
    await queue.supersedeOlder(tx, claimed);
    if (sha !== null) await recordSeenCommit(tx, { deploymentId, ref, sha, number });
    return status;
  });
  claimed.repo_commit_sha ??= sha;
  return next;
}

/** Pulls the image of a revision that is not built: this is part of resolving its source. */
async function pullImage(deps: WorkDeps, claimed: queue.ClaimedRevision, signal: AbortSignal): Promise<void> {
  if (isBuilt(claimed.source)) return;
  if (hasBuild(deps, claimed)) return;
  // the nodes of a cluster pull images themselves
  if (claimed.cluster === null) await produceArtifact(deps, claimed, signal, "pull");
  claimed.artifact_id = claimed.id;
}

/** Builds a revision, or pulls its image. @returns the image that its cluster runs; null when it runs here */
async function produceArtifact(
  deps: WorkDeps,
  claimed: queue.ClaimedRevision,
  signal: AbortSignal,
  work: "build" | "pull",
): Promise<string | null> {
  const kind = work === "build" ? "build" : "deploy";
  const log = deps.logs.open({ deploymentId: claimed.deployment_id, revisionId: claimed.id, kind });
  try {
    if (work === "build") log.write(`Build of revision ${claimed.id}.`);
    deps.faultPoint("control-building");
    const secrets = await readEnvironment(deps.secrets, { purpose: "revision-env", id: claimed.id });
    return await withSource(deps, claimed, log, signal, async (archive) => {
      const params: BuildParams = {
        deploymentId: claimed.deployment_id,
        revisionId: claimed.id,
        attempt: claimed.attempt,
        source: claimed.source,
        config: claimed.source_config,
        configPath: claimed.langgraph_config_path ?? "",
        archive,
        imageUri: claimed.image_uri,
        secrets,
      };
      if (claimed.cluster !== null) return deps.clusterImages.build(params, log, signal);
      await deps.driver.build(params, log, signal);
      return null;
    });
  } catch (error) {
    if (error instanceof BuildError) log.write(error.message, "ERROR");
    else if (!signal.aborted) log.write(`The ${work} was interrupted: ${(error as Error).message}`, "ERROR");
    if (error instanceof BuildError || signal.aborted) throw error;
    // ENOENT of a file must not be mistaken for an unreachable database
    throw new Error((error as Error).message, { cause: error });
  } finally {
    // complete the log before the status shows clients that it has ended
    await log.flush();
  }
}

const DUPLICATE = "23505";

/** Waits for the deployment's slot: an index ensures that only one of its revisions is deployed at a time. */
function waitForTurn(deps: WorkDeps, claimed: queue.ClaimedRevision, signal: AbortSignal): Promise<Status> {
  return deps.changes.watch(["revisions"], (next) => takeTurn(deps, claimed, signal, next));
}

async function takeTurn(
  deps: WorkDeps,
  claimed: queue.ClaimedRevision,
  signal: AbortSignal,
  next: NextChange,
): Promise<Status> {
  for (;;) {
    signal.throwIfAborted();
    if (!(await queue.waitsForDeploy(deps.sql, claimed))) {
      try {
        return await queue.transition(deps.sql, claimed, "AWAITING_DEPLOY", "deploy_started");
      } catch (error) {
        // another one began in between
        if ((error as { code?: unknown }).code !== DUPLICATE) throw error;
      }
    } else {
      // an older one may have become UNKNOWN, which this one need not wait for
      await deps.sql.begin((tx) => queue.supersedeOlder(tx, claimed));
    }
    await next(signal);
  }
}

async function fail(deps: WorkDeps, claimed: queue.ClaimedRevision, status: Status, error: unknown): Promise<Pause> {
  const message = error instanceof Error ? error.message : String(error);
  try {
    if (!(error instanceof BuildError || error instanceof DeployError)) {
      deps.log.warn({ err: error, revision: claimed.id }, "a step of a revision failed; will retry");
      const losses = await queue.countLoss(deps.sql, claimed, status);
      if (losses < MAX_LOSSES)
        return { pauseMs: FAILURE_PAUSE_MS * 2 ** (losses - 1), message: `Retrying after an error: ${message}` };
    }
    const failed = await queue.transition(deps.sql, claimed, status, "failed", { message });
    const about = { revision: claimed.id, deployment: claimed.deployment_id, reason: message };
    deps.log.info(about, `revision ${claimed.number} is ${failed}`);
  } catch (failure) {
    if (!(failure instanceof queue.LostRevisionError)) throw failure;
  }
  return { pauseMs: 0 };
}
