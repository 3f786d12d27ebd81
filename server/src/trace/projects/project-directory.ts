import { AgedCache } from "../../base/aged-cache.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { IncompleteHours } from "../run-rows/clickhouse.ts";
import * as rows from "./sql.ts";

/** Project of runs that name none. */
export const DEFAULT_PROJECT = "default";

const AGES = { maxAgeMs: 1000, maxEntries: 10_000 };

/**
 * Resolves the projects of runs for ingest, without a query per run.
 *
 * Entries are cached for a second, so a project deleted by another replica accepts no runs after that second. The sweep
 * deletes the runs accepted before (retention/retention-sweep.ts). Creation needs no lock: names are unique in a
 * workspace, and the loser of a race reads the winner's row.
 */
export class ProjectDirectory {
  readonly #sql: Sql;
  /** Absences are not kept: the next run looks again. */
  readonly #projects = new AgedCache<string | undefined>({ ...AGES, keeps: (id) => id !== undefined });
  readonly #incompleteHours = new AgedCache<IncompleteHours>(AGES);

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the id of the workspace's project with that name, creating it if necessary. */
  async ensureProject(tenantId: string, name: string = DEFAULT_PROJECT): Promise<string> {
    const id = await this.#projects.get(`${tenantId} name ${name}`, () =>
      rows.ensureProject(this.#sql, tenantId, name),
    );
    return id!;
  }

  /** Returns true if the workspace has a project of this id. */
  async hasProject(tenantId: string, projectId: string): Promise<boolean> {
    const find = async () => (await rows.findProject(this.#sql, tenantId, projectId))?.id;
    return (await this.#projects.get(`${tenantId} id ${projectId}`, find)) !== undefined;
  }

  /** Returns the hours of the workspace's projects that have their own. */
  incompleteHours(tenantId: string): Promise<IncompleteHours> {
    return this.#incompleteHours.get(tenantId, () => rows.findIncompleteHours(this.#sql, tenantId));
  }

  /** Clears the cache after a change or deletion, with immediate effect in this process. */
  forget(): void {
    this.#projects.clear();
    this.#incompleteHours.clear();
  }
}
