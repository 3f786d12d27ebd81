import type { Sql, Transaction } from "../../base/db/connect.ts";
import { AppError, type AppError as Thrown, notFound } from "../../base/errors.ts";
import { type PromptPath, promptNotFound } from "../prompts/find-prompt.ts";
import { type CommitName, type CommitRef, findCommits, pullCommit, type PulledRow } from "./sql.ts";

/** Shorter names are tags only (contract: GET /commits/{owner}/{repo}/{commit}). */
const SHORTEST_PREFIX = 8;

/** Interprets `latest`, a tag, a hash, or the beginning of a hash. */
export function readCommitName(text: string): CommitName {
  if (text === "" || text === "latest") return { kind: "latest" };
  if (text.length < SHORTEST_PREFIX || !/^[0-9a-f]{8,64}$/i.test(text)) return { kind: "tag", tag: text };
  return { kind: "hash", hash: text.toLowerCase(), tag: text };
}

const fullName = ({ owner, repo }: PromptPath) => (owner === "-" ? repo : `${owner}/${repo}`);

const noCommits = (path: PromptPath): Thrown =>
  notFound(
    `Prompt "${fullName(path)}" has no commits yet. Push one by push_prompt of the SDK or POST /api/v1/commits/${path.owner}/${path.repo}.`,
  );

const noSuchCommit = (path: PromptPath, name: string): Thrown =>
  notFound(
    `Prompt "${fullName(path)}" has no commit and no tag "${name}". List its commits by GET /api/v1/commits/${path.owner}/${path.repo}.`,
  );

const ambiguous = (name: string): Thrown =>
  new AppError(400, `"${name}" is the beginning of several commits' hashes. Give more characters of it.`);

/**
 * Reads the commit that a name means, of a prompt that the workspace may read.
 * @throws 404, differently for an unknown prompt, one without commits, and an unknown commit; 400 for an ambiguous prefix
 */
export async function readCommit(
  sql: Sql,
  tenantId: string,
  path: PromptPath,
  name: string,
  { withModel, known }: { withModel: boolean; known: string | null },
): Promise<PulledRow & { commit_hash: string }> {
  const [row, second] = await pullCommit(sql, tenantId, { ...path, name: readCommitName(name), withModel, known });
  if (!row) throw promptNotFound(path);
  if (second) throw ambiguous(name);
  if (row.commit_hash === null) throw row.num_commits === 0 ? noCommits(path) : noSuchCommit(path, name);
  return row as PulledRow & { commit_hash: string };
}

/** Finds the commit that a name means. @throws 404 without such a commit, 400 for an ambiguous prefix */
export async function resolveCommit(
  sql: Sql | Transaction,
  repoId: string,
  path: PromptPath,
  name: string,
): Promise<CommitRef> {
  const [row, second] = await findCommits(sql, repoId, readCommitName(name));
  if (second) throw ambiguous(name);
  if (!row) throw readCommitName(name).kind === "latest" ? noCommits(path) : noSuchCommit(path, name);
  return row;
}
