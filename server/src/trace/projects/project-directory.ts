import type { Sql } from "../../base/db/connect.ts";
import type { IncompleteHours } from "../run-rows/clickhouse.ts";
import * as rows from "./sql.ts";

/** Project of runs that name none (contract §1.2). */
export const DEFAULT_PROJECT = "default";

const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 10_000;

/**
 * Resolves the projects of runs for ingest, without a query per run.
 *
 * Entries are cached for a second, so a project deleted by another replica accepts no runs after that second. The sweep
 * deletes the runs accepted before (retention/retention-sweep.ts). Creation needs no lock: names are unique in a
 * workspace, and the loser of a race reads the winner's row.
 */
export class ProjectDirectory {
  readonly #sql: Sql;
  readonly #entries = new Map<string, { at: number; found: Promise<string | undefined> }>();
  readonly #incompleteHours = new Map<string, { at: number; found: Promise<IncompleteHours> }>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the id of the workspace's project with that name, creating it if necessary. */
  async ensureProject(tenantId: string, name: string = DEFAULT_PROJECT): Promise<string> {
    const id = await this.#remember(`${tenantId} name ${name}`, () => rows.ensureProject(this.#sql, tenantId, name));
    return id!;
  }

  /** Returns true if the workspace has a project of this id. */
  async hasProject(tenantId: string, projectId: string): Promise<boolean> {
    const find = async () => (await rows.findProject(this.#sql, tenantId, projectId))?.id;
    return (await this.#remember(`${tenantId} id ${projectId}`, find)) !== undefined;
  }

  /** Returns the hours of the workspace's projects that have their own. */
  async incompleteHours(tenantId: string): Promise<IncompleteHours> {
    const known = this.#incompleteHours.get(tenantId);
    if (known && performance.now() - known.at < MAX_AGE_MS) return known.found;
    const found = rows.findIncompleteHours(this.#sql, tenantId);
    this.#incompleteHours.delete(tenantId);
    this.#incompleteHours.set(tenantId, { at: performance.now(), found });
    if (this.#incompleteHours.size > MAX_ENTRIES)
      this.#incompleteHours.delete(this.#incompleteHours.keys().next().value!);
    found.catch(() => this.#incompleteHours.delete(tenantId));
    return found;
  }

  /** Clears the cache after a change or deletion, with immediate effect in this process. */
  forget(): void {
    this.#entries.clear();
    this.#incompleteHours.clear();
  }

  #remember(key: string, find: () => Promise<string | undefined>): Promise<string | undefined> {
    const now = performance.now();
    const known = this.#entries.get(key);
    if (known && now - known.at < MAX_AGE_MS) return known.found;
    const found = find();
    const entry = { at: now, found };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!);
    const drop = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    // failures and absences are not cached: the next run looks again
    found.then((id) => id === undefined && drop(), drop);
    return found;
  }
}
