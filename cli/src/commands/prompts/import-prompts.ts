/**
 * Copies prompts, agents and skills of one workspace into another, on any two servers of the same API: names, texts,
 * commits in their order, commit tags. What the target has already is compared by content, so that an interrupted copy is
 * continued by repeating it.
 */
import type { TraceApi } from "../../core/trace-api.ts";
import { RejectedError } from "../../core/reach.ts";
import {
  createCommit,
  findPrompt,
  listCommits,
  type ListedCommit,
  type PromptName,
  promptPath,
  readCommit,
  setTag,
} from "./prompt-api.ts";
import { contentHash } from "./prompt-files.ts";

export interface Repo {
  tenant_id: string;
  repo_handle: string;
  repo_type?: string;
  description: string | null;
  readme: string | null;
  tags: string[];
  is_public: boolean;
  is_archived: boolean;
}

export interface ImportReport {
  prompts: number;
  commits: number;
  tags: number;
  /** What was not taken, with the reason. */
  left: string[];
}

interface Places {
  from: TraceApi;
  to: TraceApi;
  isDry: boolean;
  print: (line: string) => void;
}

/** A prompt with its history. */
export interface CopiedPrompt {
  repo: Repo;
  /** Oldest first; the value is a manifest's JSON text, or the files of an agent or a skill. */
  commits: { id: string; description?: string | null; value: unknown }[];
  tags: { tag_name: string; commit_id: string }[];
}

const PAGE = 100;

/** @param only names to import; all without any */
export async function importPrompts(places: Places, only: readonly string[]): Promise<ImportReport> {
  const report: ImportReport = { prompts: 0, commits: 0, tags: 0, left: [] };
  const repos = await listRepos(places.from);
  const wanted = only.length === 0 ? repos : repos.filter(({ repo_handle: name }) => only.includes(name));
  for (const name of only) {
    if (!wanted.some(({ repo_handle }) => repo_handle === name))
      report.left.push(`${name}: the source has no such prompt`);
  }
  for (const repo of wanted) {
    try {
      await writePrompt(places, await readPrompt(places.from, repo), report);
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      report.left.push(`${repo.repo_handle}: ${error.message}`);
    }
  }
  return report;
}

/** All prompts of the key's workspace, skills before the agents that link to them. */
export async function listRepos(api: TraceApi): Promise<Repo[]> {
  const { id: workspace } = await api.send<{ id: string }>("GET", "/settings");
  const found: Repo[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { repos, total } = await api.send<{ repos: Repo[]; total: number }>(
      "GET",
      `/repos?is_archived=allow&tenant_id=${workspace}&limit=${PAGE}&offset=${offset}`,
    );
    // servers also list public prompts of others
    found.push(...repos.filter(({ tenant_id: owner }) => owner === workspace));
    if (repos.length === 0 || offset + repos.length >= total) break;
  }
  const order = (repo: Repo) => (repo.repo_type === "agent" ? 1 : 0);
  return found.toSorted((a, b) => order(a) - order(b));
}

export async function readPrompt(from: TraceApi, repo: Repo): Promise<CopiedPrompt> {
  const prompt = { owner: "-", name: repo.repo_handle };
  const content = contentFor(repo);
  const commits: CopiedPrompt["commits"] = [];
  for (const { id, commit_hash: hash, description } of await listCommits(from, prompt))
    commits.push({ id, description, value: await content.read(from, hash) });
  const tags = await from.send<CopiedPrompt["tags"]>("GET", `/repos/${promptPath(prompt)}/tags`);
  return { repo, commits, tags: tags.map(({ tag_name, commit_id }) => ({ tag_name, commit_id })) };
}

/** Writes the commits that the target does not have, and the tags. */
export async function writePrompt(
  { to, isDry, print }: Omit<Places, "from">,
  { repo, commits: source, tags }: CopiedPrompt,
  report: ImportReport,
): Promise<void> {
  const prompt = { owner: "-", name: repo.repo_handle };
  const content = contentFor(repo);
  const known = await findPrompt(to, prompt);
  const target = known ? await listCommits(to, prompt) : [];
  const copied = await matchCommits(to, content, source, target);
  if (copied === undefined) {
    report.left.push(`${repo.repo_handle}: the target has commits that the source does not have; nothing was changed`);
    return;
  }
  const missing = source.slice(copied.length);
  print(`${repo.repo_handle}  ${known ? "" : "new, "}${missing.length} of ${source.length} commits to copy`);
  report.prompts += 1;
  report.commits += missing.length;
  if (isDry) return;
  if (!known) await createRepo(to, repo, report);
  for (const { value, description } of missing)
    copied.push(await content.write(to, value, copied.at(-1), description ?? undefined));
  for (const { tag_name: tag, commit_id: id } of tags) {
    const commit = copied[source.findIndex((candidate) => candidate.id === id)];
    if (commit) await setTag(to, prompt, tag, commit.id);
    else report.left.push(`${repo.repo_handle}:${tag}: its commit is not among the prompt's commits`);
    if (commit) report.tags += 1;
  }
  if (!known && repo.is_archived) await to.send("PATCH", `/repos/${promptPath(prompt)}`, { is_archived: true });
}

const contentFor = (repo: Repo): Content<unknown> => {
  const prompt = { owner: "-", name: repo.repo_handle };
  return hasFiles(repo) ? fileContent(prompt) : promptContent(prompt);
};

const hasFiles = ({ repo_type: type }: Repo): boolean => type === "agent" || type === "skill";

/** Matches the target's commits with the first ones of the source; undefined when one of them is another. */
async function matchCommits(
  to: TraceApi,
  content: Content<unknown>,
  source: CopiedPrompt["commits"],
  target: readonly ListedCommit[],
): Promise<Copied[] | undefined> {
  const copied: Copied[] = [];
  for (const commit of target) {
    const original = source[copied.length];
    if (!original) return undefined;
    const value = await content.read(to, commit.commit_hash);
    if (content.hash(original.value) !== content.hash(value)) return undefined;
    copied.push({ id: commit.id, hash: commit.commit_hash, value });
  }
  return copied;
}

interface Copied {
  id: string;
  hash: string;
  value: unknown;
}

/** How commits of a kind of repository are read and written. */
interface Content<T> {
  read: (api: TraceApi, hash: string) => Promise<T>;
  hash: (value: T) => string;
  /** Commits the value after `last`. A value that equals that of `last` is no commit of its own: its tags go to `last`. */
  write: (api: TraceApi, value: T, last: Copied | undefined, message: string | undefined) => Promise<Copied>;
}

function promptContent(prompt: PromptName): Content<unknown> {
  const hash = (manifest: unknown) => contentHash(manifest as string);
  return {
    read: async (api, version) => (await readCommit(api, prompt, version)).manifest,
    hash,
    async write(api, value, last, message) {
      if (last && hash(last.value) === hash(value)) return last;
      const commit = { manifest: value as string, parent: last?.hash ?? null, message };
      return { ...(await createCommit(api, prompt, commit)), value };
    },
  };
}

type Files = Record<string, Record<string, unknown>>;

/** Files of an agent or a skill. Links keep their names and lose their commits, which have other hashes in the target. */
function fileContent(prompt: PromptName): Content<unknown> {
  const path = `/v1/platform/hub/repos/${promptPath(prompt)}/directories`;
  const hash = (files: unknown) => contentHash(JSON.stringify(files));
  return {
    async read(api, version) {
      const { files } = await api.send<{ files: Files }>("GET", `${path}?commit=${encodeURIComponent(version)}`);
      const plain = Object.entries(files).map(([file, { type, content, repo_handle }]) => [
        file,
        type === "file" ? { type, content } : { type, repo_handle },
      ]);
      return Object.fromEntries(plain) as Files;
    },
    hash,
    async write(api, value, last, _message) {
      if (last && hash(last.value) === hash(value)) return last;
      const removed = Object.keys((last?.value as Files | undefined) ?? {}).filter(
        (file) => !(file in (value as Files)),
      );
      const files = { ...(value as Files), ...Object.fromEntries(removed.map((file) => [file, null])) };
      const body = { files, ...(last && { parent_commit: last.hash }) };
      const { commit } = await api.send<{ commit: { id: string; commit_hash: string } }>(
        "POST",
        `${path}/commits`,
        body,
      );
      return { id: commit.id, hash: commit.commit_hash, value };
    },
  };
}

async function createRepo(api: TraceApi, repo: Repo, report: ImportReport): Promise<void> {
  const { repo_handle, repo_type, description, readme, tags } = repo;
  const body = {
    repo_handle,
    is_public: repo.is_public,
    ...(repo_type !== undefined && { repo_type }),
    ...(description !== null && { description }),
    ...(readme !== null && { readme }),
    tags,
  };
  try {
    await api.send("POST", "/repos", body);
  } catch (error) {
    // a workspace without a handle has no public prompts
    if (!repo.is_public || !(error instanceof RejectedError)) throw error;
    await api.send("POST", "/repos", { ...body, is_public: false });
    report.left.push(`${repo_handle}: is private in the target: ${error.message}`);
  }
}
