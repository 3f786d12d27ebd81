import type { Principal } from "../../base/auth/principal.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { type AppError, forbidden, notFound } from "../../base/errors.ts";
import { findPrompt, type PromptRow } from "./sql.ts";

/** Path of a prompt: the handle of a workspace, or `-` for the caller's, and the prompt's. */
export interface PromptPath {
  owner: string;
  repo: string;
}

/** A private prompt of another workspace is as unknown as one that does not exist. */
export const promptNotFound = ({ owner, repo }: PromptPath): AppError =>
  notFound(
    `Prompt "${owner === "-" ? repo : `${owner}/${repo}`}" not found. List prompts by GET /api/v1/repos, or create it by POST /api/v1/repos.`,
  );

/** Finds a prompt that the caller may read. @throws 404 */
export async function readablePrompt(
  sql: Sql | Transaction,
  { workspaceId }: Pick<Principal, "workspaceId">,
  path: PromptPath,
): Promise<PromptRow> {
  const row = await findPrompt(sql, workspaceId, path.owner, path.repo);
  if (!row) throw promptNotFound(path);
  return row;
}

/** Finds a prompt of the caller's workspace, and locks it. @throws 404, or 403 for a public one of another workspace */
export async function writablePrompt(
  tx: Transaction,
  { workspaceId }: Pick<Principal, "workspaceId">,
  path: PromptPath,
): Promise<PromptRow> {
  const row = await findPrompt(tx, workspaceId, path.owner, path.repo, "lock");
  if (!row) throw promptNotFound(path);
  if (row.tenant_id !== workspaceId) {
    throw forbidden(
      `Forbidden: the prompt "${path.owner}/${path.repo}" belongs to another workspace. Fork it by POST /api/v1/repos/${path.owner}/${path.repo}/fork.`,
    );
  }
  return row;
}
