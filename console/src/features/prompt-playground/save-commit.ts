/** Saves the active prompt as a commit, and moves a tag to it. */
import { ApiError } from "../../api/api-error.ts";
import { data, traceApi } from "../../api/clients.ts";
import type { PromptName } from "../prompts/queries.ts";
import type { Node } from "./prompt.ts";

export interface SavedCommit {
  id: string;
  hash: string;
  /** Whether it is an older commit with the same manifest. */
  isUnchanged: boolean;
}

/** Thrown when the prompt has a newer commit than the one that was opened. */
export class StaleError extends Error {
  readonly latestHash: string;
  constructor(latestHash: string) {
    super(`The prompt has a newer commit, ${latestHash.slice(0, 8)}.`);
    this.latestHash = latestHash;
  }
}

export interface CommitToSave {
  name: PromptName;
  manifest: Node;
  /** Hash of the commit that it follows; null for a prompt without commits. */
  parent: string | null;
  description: string;
}

/** @throws StaleError; the server's error for anything else that it refuses */
export async function saveCommit({ name, manifest, parent, description }: CommitToSave): Promise<SavedCommit> {
  const body = {
    manifest,
    ...(parent !== null && { parent_commit: parent }),
    ...(description.trim() !== "" && { description: description.trim() }),
  };
  try {
    const request = traceApi.POST("/api/v1/commits/{owner}/{repo}", { params: { path: name }, body });
    const { commit } = await data(request);
    return { id: commit.id, hash: commit.commit_hash, isUnchanged: false };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    const latest = await latestCommit(name);
    if (latest === null) throw error;
    if (parent !== null && !latest.hash.startsWith(parent)) throw new StaleError(latest.hash);
    // nothing has changed: a tag can still be moved
    return { ...latest, isUnchanged: true };
  }
}

/** Returns a prompt's latest commit; null when it has none. */
async function latestCommit(name: PromptName): Promise<Omit<SavedCommit, "isUnchanged"> | null> {
  const params = { path: name, query: { limit: "1" } };
  const { commits } = await data(traceApi.GET("/api/v1/commits/{owner}/{repo}", { params }));
  const latest = commits[0];
  return latest ? { id: latest.id, hash: latest.commit_hash } : null;
}

/** Creates a prompt of the workspace. */
export async function createPrompt(repo: string): Promise<PromptName> {
  const body = { repo_handle: repo, is_public: false, repo_type: "prompt" as const };
  const created = await data(traceApi.POST("/api/v1/repos", { body }));
  return { owner: "-", repo: created.repo.repo_handle };
}

/** Moves a tag to a commit, or creates it there. */
export async function moveTag(name: PromptName, tag: string, commitId: string, isNew: boolean): Promise<void> {
  if (isNew) {
    await traceApi.POST("/api/v1/repos/{owner}/{repo}/tags", {
      params: { path: name },
      body: { tag_name: tag, commit_id: commitId },
    });
  } else {
    await traceApi.PATCH("/api/v1/repos/{owner}/{repo}/tags/{tag_name}", {
      params: { path: { ...name, tag_name: tag } },
      body: { commit_id: commitId },
    });
  }
}
