/**
 * Legal holds prevent deletions: those by a request get 409, and retention passes over what is held. A hold of a
 * workspace covers everything in it, a hold of a project its traces and their feedback. The check belongs into a batch
 * of deletions.ts: elsewhere a hold may be placed between the check and the deletion.
 */
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { AppError } from "../../base/errors.ts";
import { activeHolds } from "./sql.ts";

/** A hold prevents a deletion. */
export class HeldError extends AppError {
  readonly #held: string;

  constructor(what: string, hold: { id: string; reason: string }) {
    const held = `${what} is under legal hold ${hold.id} (${hold.reason}).`;
    super(409, `${held} Nothing was deleted.`);
    this.#held = held;
  }

  /** Returns the error of a deletion that had begun before the hold was placed. */
  afterStart(outcome: string): AppError {
    return new AppError(409, `${this.#held} ${outcome}`);
  }
}

/** @throws 409 while the workspace, or any of its projects if `any`, is held */
export async function rejectHeldWorkspace(sql: Sql | Transaction, tenantId: string, any = false): Promise<void> {
  const hold = (await activeHolds(sql, tenantId)).find(({ project_id }) => any || project_id === null);
  if (!hold) return;
  throw new HeldError(hold.project_id === null ? "The workspace" : `Its project ${hold.project_id}`, hold);
}

/** @throws 409 while one of the projects, or their workspace, is held */
export async function rejectHeldProjects(
  sql: Sql | Transaction,
  tenantId: string,
  projects: readonly string[],
): Promise<void> {
  for (const hold of await activeHolds(sql, tenantId)) {
    if (hold.project_id === null) throw new HeldError("The workspace", hold);
    if (projects.includes(hold.project_id)) throw new HeldError(`Project ${hold.project_id}`, hold);
  }
}

/** @throws 409 while the project of the feedback, or the workspace, is held */
export async function rejectHeldFeedback(sql: Sql | Transaction, tenantId: string, feedbackId: string): Promise<void> {
  if ((await activeHolds(sql, tenantId)).length === 0) return;
  const [row] = await sql<{ session_id: string | null }[]>`
    select session_id from feedback where tenant_id = ${tenantId} and feedback_id = ${feedbackId}`;
  if (row) await rejectHeldProjects(sql, tenantId, row.session_id === null ? [] : [row.session_id]);
}
