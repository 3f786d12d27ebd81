import { lineDiff } from "../../core/line-diff.ts";
import type { TraceApi } from "../../core/trace-api.ts";
import { fullName, type PromptCommit, type PromptName, readCommit } from "./prompt-api.ts";
import { contentHash, type PromptFile, readableManifest } from "./prompt-files.ts";

/** Arguments of an action: the directory, and what is selected. */
export interface Selection {
  api: TraceApi;
  directory: string;
  /** Tag to read or to move. */
  tag: string | undefined;
  /** Writes a line to the standard output. */
  print(line: string): void;
}

/** Returns the changes from the commit to the file, as a unified diff; empty when the content is the same. */
export function describeDifference(
  prompt: PromptName,
  commit: PromptCommit | undefined,
  file: PromptFile | undefined,
): string {
  if (commit && file && contentHash(commit.manifest) === contentHash(file.manifest)) return "";
  const before = commit ? readableManifest(commit.manifest) : "";
  const after = file ? readableManifest(file.manifest) : "";
  const from = commit ? `${fullName(prompt)}:${commit.hash.slice(0, 8)}` : "/dev/null";
  return `--- ${from}\n+++ ${file?.path ?? "/dev/null"}\n${lineDiff(before, after)}`;
}

/** Reads the latest commit, or that of a tag; undefined if the prompt has no commit yet. */
export async function readVersion(
  api: TraceApi,
  prompt: PromptName,
  { last_commit_hash }: { last_commit_hash: string | null },
  version: string | undefined,
): Promise<PromptCommit | undefined> {
  if (version !== undefined) return readCommit(api, prompt, version);
  return last_commit_hash === null ? undefined : readCommit(api, prompt, last_commit_hash);
}
