import { rawMember } from "../../core/raw-member.ts";
import type { TraceApi } from "../../core/trace-api.ts";
import { RejectedError } from "../../core/reach.ts";

/** Fields of a prompt that the command reads. */
export interface PromptOnWire {
  repo_handle: string;
  readme: string | null;
  last_commit_hash: string | null;
}

/** A commit with the text of its manifest as it is stored. */
export interface PromptCommit {
  hash: string;
  manifest: string;
}

/** A prompt's name, and its owner: `-` is the workspace of the key. */
export interface PromptName {
  owner: string;
  name: string;
}

export const fullName = ({ owner, name }: PromptName): string => (owner === "-" ? name : `${owner}/${name}`);
export const promptPath = ({ owner, name }: PromptName): string =>
  `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** Returns undefined for an unknown prompt. */
export async function findPrompt(api: TraceApi, prompt: PromptName): Promise<PromptOnWire | undefined> {
  try {
    return (await api.send<{ repo: PromptOnWire }>("GET", `/repos/${promptPath(prompt)}`)).repo;
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return undefined;
    throw error;
  }
}

/** Names of all prompts of the key's workspace that are not archived. */
export async function listPrompts(api: TraceApi): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const query = `repo_type=prompt&is_archived=false&limit=100&offset=${names.length}`;
    const { repos, total } = await api.send<{ repos: PromptOnWire[]; total: number }>("GET", `/repos?${query}`);
    names.push(...repos.map(({ repo_handle }) => repo_handle));
    if (repos.length === 0 || names.length >= total) return names.toSorted();
  }
}

/**
 * Reads a commit by hash, tag or `latest`, with its model: a file in a repository is the whole prompt.
 * @throws RejectedError with 404 when there is none
 */
export async function readCommit(api: TraceApi, prompt: PromptName, version: string): Promise<PromptCommit> {
  const text = await api.sendText(
    "GET",
    `/commits/${promptPath(prompt)}/${encodeURIComponent(version)}?include_model=true`,
  );
  const { commit_hash: hash } = JSON.parse(text) as { commit_hash: string };
  return { hash, manifest: rawMember(text, "manifest")! };
}

export async function createPrompt(api: TraceApi, name: string, readme: string | undefined): Promise<void> {
  await api.send("POST", "/repos", { repo_handle: name, is_public: false, ...(readme !== undefined && { readme }) });
}

export async function updateReadme(api: TraceApi, prompt: PromptName, readme: string): Promise<void> {
  await api.send("PATCH", `/repos/${promptPath(prompt)}`, { readme });
}

/** Commits the manifest's text unchanged. @throws RejectedError with 409 when `parent` is not the latest commit */
export async function createCommit(
  api: TraceApi,
  prompt: PromptName,
  { manifest, parent, message }: { manifest: string; parent: string | null; message: string | undefined },
): Promise<{ id: string; hash: string }> {
  const rest = JSON.stringify({ parent_commit: parent, ...(message !== undefined && { description: message }) });
  const body = `{"manifest":${manifest},${rest.slice(1)}`;
  const answer = await api.sendText("POST", `/commits/${promptPath(prompt)}`, body);
  const { commit } = JSON.parse(answer) as { commit: { id: string; commit_hash: string } };
  return { id: commit.id, hash: commit.commit_hash };
}

export interface ListedCommit {
  id: string;
  commit_hash: string;
  description?: string | null;
}

/** Lists commits, oldest first. */
export async function listCommits(api: TraceApi, prompt: PromptName): Promise<ListedCommit[]> {
  const found: ListedCommit[] = [];
  for (;;) {
    const query = `limit=100&offset=${found.length}`;
    const { commits, total } = await api.send<{ commits: ListedCommit[]; total: number }>(
      "GET",
      `/commits/${promptPath(prompt)}?${query}`,
    );
    found.push(...commits);
    if (commits.length === 0 || found.length >= total) return found.toReversed();
  }
}

/** Returns the id of the latest commit. */
export async function latestCommitId(api: TraceApi, prompt: PromptName): Promise<string> {
  const { commits } = await api.send<{ commits: { id: string }[] }>("GET", `/commits/${promptPath(prompt)}?limit=1`);
  return commits[0]!.id;
}

/** Creates the tag, or moves it. */
export async function setTag(api: TraceApi, prompt: PromptName, tag: string, commitId: string): Promise<void> {
  const tags = `/repos/${promptPath(prompt)}/tags`;
  try {
    await api.send("POST", tags, { tag_name: tag, commit_id: commitId });
  } catch (error) {
    // it exists, on another commit
    if (!(error instanceof RejectedError && error.status === 409)) throw error;
    await api.send("PATCH", `${tags}/${encodeURIComponent(tag)}`, { commit_id: commitId });
  }
}
