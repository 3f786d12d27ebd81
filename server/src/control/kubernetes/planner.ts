/**
 * Plans the deployments of clusters. The leader compares the revisions that should run with the recorded target of each
 * cluster, and writes a changed target with the next generation. Reconcilers read the targets.
 */
import { createHash } from "node:crypto";

import type { Sql } from "../../base/db/connect.ts";
import { isDatabaseUnavailable } from "../../base/db/retry.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { Lead } from "../leadership/leadership.ts";
import { buildRegistry, readBuildCredentials } from "../drivers/container/build-registry.ts";
import { connectionNeed } from "../runtime/connection-need.ts";
import { hostCount } from "../runtime/instance-environment.ts";
import { type EnvironmentDeps, revisionEnvironment } from "../runtime/revision-environment.ts";
import { type ControlChanges, SAFETY_NET_MS } from "../changes/control-changes.ts";
import { TARGET_SECRET, targetSecretId } from "./cluster-work.ts";
import type { DesiredDeployment } from "./desired-deployment.ts";
import { withOwnerLabels } from "../deployments/owner-labels.ts";
import { OWN_CLUSTER } from "./placement.ts";
import { type PlannedVariables, planRevision } from "./plan-deployment.ts";
import * as targets from "./targets-sql.ts";

const RETRY_MS = 500;

export interface PlannerOptions extends EnvironmentDeps {
  sql: Sql;
  log: Log;
  lead: Lead;
  changes: ControlChanges;
}

export class ClusterPlanner {
  readonly #options: PlannerOptions;
  /** Last planned rows and the fingerprints of their targets, by deployment and cluster. */
  readonly #planned = new Map<string, { row: string; fingerprint: string }>();
  readonly #problems = new Map<string, string>();
  readonly #poller: Poller;

  constructor(options: PlannerOptions) {
    this.#options = options;
    const failing = "could not plan the deployments in clusters; will retry";
    const pass = () => this.#pass();
    this.#poller = new Poller({ pass, everyMs: SAFETY_NET_MS, retryMs: RETRY_MS, log: options.log, failing });
    options.changes.follow(["deployments", "revisions", "cluster_targets"], () => this.wake());
  }

  get failure(): RepeatedFailure {
    return this.#poller.failure;
  }

  /** Starts planning when this control plane becomes the leader. */
  start(): void {
    this.#planned.clear();
    this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  wake(): void {
    if (this.#poller.isStarted) this.#poller.wake();
  }

  /** Returns the reason why a revision cannot run in its cluster; undefined when it can. */
  problem(revisionId: string): string | undefined {
    return this.#problems.get(revisionId);
  }

  async #pass(): Promise<void> {
    const { sql, lead, log } = this.#options;
    if (!(await lead.confirm())) return;
    const rows = await targets.plannedDeployments(sql);
    const wanted = new Set(rows.map(({ revision_id: id }) => id));
    for (const id of this.#problems.keys()) if (!wanted.has(id)) this.#problems.delete(id);
    for (const row of rows) {
      if (!this.#poller.isStarted) return;
      try {
        await this.#plan(row);
        if (row.revision_id !== null) this.#problems.delete(row.revision_id);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        if (row.revision_id === null) throw error;
        if (!this.#problems.has(row.revision_id)) {
          log.warn({ err: error, revision: row.revision_id }, "a revision cannot run in its cluster");
        }
        const isKnown = this.#problems.get(row.revision_id) === (error as Error).message;
        this.#problems.set(row.revision_id, (error as Error).message);
        if (!isKnown) this.#options.changes.announce("cluster_targets");
      }
    }
  }

  async #plan(row: targets.PlannedRow): Promise<void> {
    const key = targetSecretId(row.deployment_id, row.cluster);
    const { fingerprint: recorded } = row;
    const rowText = JSON.stringify({ ...row, generation: null, fingerprint: null });
    const known = this.#planned.get(key);
    if (known?.row === rowText && known.fingerprint === recorded) return;
    // nothing to run, and nothing to remove
    if (row.revision_id === null && recorded === null) return;
    const revision = hasRevision(row) ? await this.#revision(row) : null;
    const body = { deploymentId: row.deployment_id, name: row.name, namespace: row.namespace, revision };
    const fingerprint = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    if (fingerprint !== recorded) await this.#write(row, body, fingerprint);
    this.#planned.set(key, { row: rowText, fingerprint });
  }

  async #revision(stored: targets.PlannedRow & { revision_id: string }): Promise<DesiredDeployment["revision"]> {
    const { settings, databases, log } = this.#options;
    const { config, dropped } = withOwnerLabels(stored.source_config, settings.ownerLabels);
    if (dropped.length > 0) {
      const { deployment_id: deployment } = stored;
      log.warn(
        { deployment, keys: dropped },
        "labels and annotations that HEDDLE_DEPLOYMENT_LABELS does not list are left out",
      );
    }
    const row = { ...stored, source_config: config };
    const variables = await revisionEnvironment(this.#options, row);
    const registryLogin = await this.#registryLogin(row);
    const revision = planRevision(row, { ...variables, registryLogin }, settings);
    // during a rollout, pods of two revisions run
    const servers = 2 * Math.max(1, revision.replicas.max);
    const hosts = hostCount(row.source_config, variables.own);
    await databases.limitConnections(
      row.deployment_id,
      servers * connectionNeed(hosts, settings.deploymentConnections),
    );
    return revision;
  }

  /** Returns the credentials to pull a built image: never for listeners, whose operators are not this installation's. */
  async #registryLogin(row: targets.PlannedRow): Promise<PlannedVariables["registryLogin"]> {
    const { settings } = this.#options;
    const registry = buildRegistry(settings);
    const isProvided = row.cluster === OWN_CLUSTER && settings.kubernetesPullSecret === undefined;
    if (row.built_image === null || registry === null || !isProvided) return null;
    const credentials = await readBuildCredentials(settings);
    return credentials && { registry: registry.registry, credentials };
  }

  async #write(
    row: targets.PlannedRow,
    body: Omit<DesiredDeployment, "generation">,
    fingerprint: string,
  ): Promise<void> {
    const { sql, lead, secrets } = this.#options;
    const { deployment_id: deploymentId, cluster, revision_id: revisionId } = row;
    await sql.begin(async (tx) => {
      await targets.lockTarget(tx, deploymentId, cluster);
      const target = { deploymentId, cluster, revisionId, fingerprint };
      const generation = await targets.writeTarget(tx, lead.term, target);
      if (generation === undefined) return;
      const ref = { purpose: TARGET_SECRET, id: targetSecretId(deploymentId, cluster), workspaceId: row.tenant_id };
      await secrets.put(ref, JSON.stringify({ ...body, generation }), tx);
    });
  }
}

const hasRevision = (row: targets.PlannedRow): row is targets.PlannedRow & { revision_id: string } =>
  row.revision_id !== null;
