import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import type { Secrets } from "../../base/secrets/secrets.ts";
import type { ClusterReport, ClusterWork, DesiredDeployment, ReportAnswer, WorkSource } from "./desired-deployment.ts";
import { recordReport } from "./record-report.ts";
import * as targets from "./targets-sql.ts";

const POLL_MS = 300;
/** Purpose of the secret that holds a target's body, which contains the deployment's environment. */
export const TARGET_SECRET = "cluster-target";

export const targetSecretId = (deploymentId: string, cluster: string): string => `${deploymentId}/${cluster}`;

/** Work source of one cluster in the database: for the control plane's own cluster and for the routes of listeners. */
export class DatabaseWork implements WorkSource {
  readonly #sql: Sql;
  readonly #secrets: Secrets;
  readonly #cluster: string;
  readonly #onReport: () => Promise<void> | void;
  readonly #waitMs: number;
  readonly #mayReach: (host: string) => boolean;

  /** @param options `waitMs`: time for which `next` waits for a change; `onReport`: called after each stored report; `mayReach`: hosts of pods */
  constructor(options: {
    sql: Sql;
    secrets: Secrets;
    cluster: string;
    waitMs: number;
    mayReach: (host: string) => boolean;
    onReport: () => Promise<void> | void;
  }) {
    this.#mayReach = options.mayReach;
    this.#sql = options.sql;
    this.#secrets = options.secrets;
    this.#cluster = options.cluster;
    this.#waitMs = options.waitMs;
    this.#onReport = options.onReport;
  }

  async next(version: string | null, signal: AbortSignal): Promise<ClusterWork> {
    const deadline = performance.now() + this.#waitMs;
    for (;;) {
      signal.throwIfAborted();
      const now = await targets.targetsVersion(this.#sql, this.#cluster);
      if (now !== version) return { version: now, deployments: await this.#read() };
      if (performance.now() >= deadline) return { version: now, deployments: null };
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  async #read(): Promise<DesiredDeployment[]> {
    const found: DesiredDeployment[] = [];
    for (const row of await targets.listTargets(this.#sql, this.#cluster)) {
      const ref = { purpose: TARGET_SECRET, id: targetSecretId(row.deployment_id, this.#cluster) };
      const body = await this.#secrets.get(ref);
      if (body === null) continue;
      // a report may have raised the generation without changing the body
      const generation = Number(row.generation);
      found.push({ ...(JSON.parse(body) as DesiredDeployment), generation });
    }
    return found;
  }

  async report(report: ClusterReport): Promise<ReportAnswer> {
    const answer = await recordReport(this.#sql, this.#cluster, report, this.#mayReach);
    await this.#onReport();
    return answer;
  }
}
