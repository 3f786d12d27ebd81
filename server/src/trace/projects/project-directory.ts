import type { Sql } from "../../base/db/connect.ts";
import * as rows from "./sql.ts";

/** Where runs go that name no project (contract §1.2). */
export const DEFAULT_PROJECT = "default";

const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 10_000;

/**
 * Which project a run belongs to, answered for ingest without a query a run.
 *
 * What is known is believed for a second. So a project that another replica deleted takes no more runs after
 * that second; what slipped in before is deleted with it by the sweep (delete-project.ts). Creation needs no
 * lock: the name is unique in a workspace, and whoever loses the race reads the winner's row.
 */
export class ProjectDirectory {
  readonly #sql: Sql;
  readonly #entries = new Map<string, { at: number; found: Promise<string | undefined> }>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The id of the workspace's project of that name, which is created if there is none. */
  async ensureProject(tenantId: string, name: string = DEFAULT_PROJECT): Promise<string> {
    const id = await this.#remember(`${tenantId} name ${name}`, () => rows.ensureProject(this.#sql, tenantId, name));
    return id!;
  }

  /** Whether the workspace has a project of this id. */
  async hasProject(tenantId: string, projectId: string): Promise<boolean> {
    const find = async () => (await rows.findProject(this.#sql, tenantId, projectId))?.id;
    return (await this.#remember(`${tenantId} id ${projectId}`, find)) !== undefined;
  }

  /** Called where a project was deleted or renamed: in this process nothing old is believed from here on. */
  forget(): void {
    this.#entries.clear();
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
    // neither a failure nor an absence is worth remembering: the next run asks again
    found.then((id) => id === undefined && drop(), drop);
    return found;
  }
}
