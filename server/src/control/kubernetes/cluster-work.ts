import type { Sql } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { ControlChanges } from "../changes/control-changes.ts";
import type { ClusterReport, ClusterWork, DesiredDeployment, ReportAnswer, WorkSource } from "./desired-deployment.ts";
import { recordReport } from "./record-report.ts";
import * as targets from "./targets-sql.ts";

/** Purpose of the secret that holds a target's body, which contains the deployment's environment. */
export const TARGET_SECRET = "cluster-target";

export const targetSecretId = (deploymentId: string, cluster: string): string => `${deploymentId}/${cluster}`;

export interface DatabaseWorkOptions {
  sql: Sql;
  secrets: Secrets;
  changes: ControlChanges;
  cluster: string;
  /** Time for which `next` waits for a change. */
  waitMs: number;
  /** Whether gateways may send requests to a host of pods. */
  mayReach: (host: string) => boolean;
  /** Called after each stored report. */
  onReport: () => Promise<void> | void;
}

/** Work source of one cluster in the database: for the control plane's own cluster and for the routes of listeners. */
export class DatabaseWork implements WorkSource {
  readonly #options: DatabaseWorkOptions;

  constructor(options: DatabaseWorkOptions) {
    this.#options = options;
  }

  next(version: string | null, signal: AbortSignal): Promise<ClusterWork> {
    const { sql, cluster, waitMs, changes } = this.#options;
    const deadline = performance.now() + waitMs;
    return changes.watch(["cluster_targets"], async (next) => {
      for (;;) {
        signal.throwIfAborted();
        const now = await targets.targetsVersion(sql, cluster);
        if (now !== version) return { version: now, deployments: await this.#read() };
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return { version: now, deployments: null };
        await next(signal, leftMs);
      }
    });
  }

  async #read(): Promise<DesiredDeployment[]> {
    const { sql, secrets, cluster } = this.#options;
    const found: DesiredDeployment[] = [];
    for (const row of await targets.listTargets(sql, cluster)) {
      const ref = { purpose: TARGET_SECRET, id: targetSecretId(row.deployment_id, cluster) };
      const body = await secrets.get(ref);
      if (body === null) continue;
      // a report may have raised the generation without changing the body
      const generation = Number(row.generation);
      found.push({ ...(JSON.parse(body) as DesiredDeployment), generation });
    }
    return found;
  }

  async report(report: ClusterReport): Promise<ReportAnswer> {
    const { sql, cluster, mayReach, onReport } = this.#options;
    const answer = await recordReport(sql, cluster, report, mayReach);
    await onReport();
    return answer;
  }
}
