import { findRevision } from "./sql.ts";
import { lockDeployment } from "../deployments/sql.ts";
import { insertAgain } from "./insert-again.ts";
import { hasSource, isAttended, type ServingRevision, servingRevisions } from "./source.ts";
import type { WorkDeps } from "./work-deps.ts";

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Builds again what serves and has no build on this machine, as after a restore, which leaves builds out: a deployment
 * is then deployed without a request. It gets a new revision with the same source, environment and commit; it serves
 * like any other once it is healthy. A build that fails is repeated, after longer and longer pauses.
 */
export class MissingBuilds {
  readonly #deps: WorkDeps;
  readonly #attempts = new Map<string, { failed: number; notBefore: number }>();
  readonly #missing = new Map<string, string>();

  constructor(deps: WorkDeps) {
    this.#deps = deps;
  }

  async pass(): Promise<void> {
    const { sql, driver } = this.#deps;
    const missing = (await servingRevisions(sql)).filter((serving) => !driver.hasBuild(serving.artifact_id));
    this.#report(missing);
    for (const serving of missing) {
      const { failed, notBefore } = this.#attempts.get(serving.revision_id) ?? { failed: 0, notBefore: 0 };
      if (performance.now() < notBefore || !hasSource(this.#deps.directory, serving)) continue;
      if ((await isAttended(sql, serving)) || !(await this.#deps.lead.confirm())) continue;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failed, 16));
      this.#attempts.set(serving.revision_id, { failed: failed + 1, notBefore: performance.now() + pause });
      await this.#rebuild(serving);
    }
  }

  async #rebuild({ tenant_id: tenantId, deployment_id: id, revision_id: revisionId }: ServingRevision): Promise<void> {
    const created = await this.#deps.sql.begin(async (tx) => {
      const row = await lockDeployment(tx, tenantId, id);
      if (row?.status !== "READY" || row.active_revision_id !== revisionId) return undefined;
      const old = await findRevision(tx, id, revisionId);
      return old && insertAgain(this.#deps, tx, row, old, "Heddle");
    });
    if (created === undefined) return;
    const log = this.#deps.logs.open({ deploymentId: id, revisionId: created, kind: "build" });
    log.write(`Revision ${revisionId} serves, and its build is not on this machine: building it again.`);
    await log.flush();
  }

  /** Logs each deployment once when it begins to lack its build, and once when it no longer does. */
  #report(missing: ServingRevision[]): void {
    const { log, directory } = this.#deps;
    const now = new Map(missing.map((serving) => [serving.deployment_id, serving.name]));
    for (const serving of missing) {
      if (this.#missing.has(serving.deployment_id)) continue;
      const about = { deployment: serving.deployment_id, revision: serving.revision_id };
      if (hasSource(directory, serving)) log.warn(about, `the build of ${serving.name} is missing; building it again`);
      else log.error(about, `the build of ${serving.name} is missing, and its archive too: deploy the project again`);
    }
    for (const [id, name] of this.#missing)
      if (!now.has(id)) log.warn({ deployment: id }, `${name} has a build again; ${now.size} deployments have none`);
    this.#missing.clear();
    for (const [id, name] of now) this.#missing.set(id, name);
  }
}
