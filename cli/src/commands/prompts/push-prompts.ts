import { describeDifference, readVersion, type Selection } from "./compare.ts";
import { RejectedError } from "../../core/reach.ts";
import {
  createCommit,
  createPrompt,
  findPrompt,
  fullName,
  latestCommitId,
  type PromptName,
  readCommit,
  setTag,
  updateReadme,
} from "./prompt-api.ts";
import {
  contentHash,
  type Lock,
  type PromptFile,
  readLock,
  readPromptFile,
  readReadme,
  writeLock,
} from "./prompt-files.ts";

interface PushOptions {
  message: string | undefined;
  force: boolean;
  dryRun: boolean;
}

/**
 * Commits the files that differ from the latest commit, and sets the tag on what is then the latest commit.
 * @throws when the prompt has a commit that the file was not pulled from, with the differences
 */
export async function pushPrompts(selection: Selection, prompts: PromptName[], options: PushOptions): Promise<void> {
  const lock = readLock(selection.directory);
  for (const prompt of prompts) await pushPrompt(selection, prompt, lock, options);
}

async function pushPrompt(
  { api, directory, tag, print }: Selection,
  prompt: PromptName,
  lock: Lock,
  { message, force, dryRun }: PushOptions,
): Promise<void> {
  const { name } = prompt;
  const file = readPromptFile(directory, name);
  if (!file) throw new Error(`There is no ${name}.json and no ${name}.yaml in ${directory}.`);
  const readme = readReadme(directory, name);
  const found = await findPrompt(api, prompt);
  const latest = found && (await readVersion(api, prompt, found, undefined));
  const content = contentHash(file.manifest);
  const isChanged = !latest || contentHash(latest.manifest) !== content;
  if (isChanged && latest && latest.hash !== lock[name]?.commit && !force) throw newerCommit(prompt, latest, file);

  const tagged = tag === undefined ? "" : `, ${dryRun ? "would be " : ""}tagged ${tag}`;
  const verb = !isChanged ? "is up to date" : dryRun ? "would be committed" : "committed";
  if (dryRun) return print(`${fullName(prompt)}  ${verb}${tagged}`);

  if (!found) await createPrompt(api, name, readme);
  else if (readme !== undefined && readme !== (found.readme ?? "").trimEnd()) await updateReadme(api, prompt, readme);
  let commit: { id?: string; hash: string };
  if (isChanged) {
    const parent = latest?.hash ?? null;
    try {
      commit = await createCommit(api, prompt, { manifest: file.manifest, parent, message });
    } catch (error) {
      // committed by another since it was read
      if (!(error instanceof RejectedError && error.status === 409)) throw error;
      throw newerCommit(prompt, await readCommit(api, prompt, "latest"), file);
    }
  } else {
    commit = latest;
  }
  // before the tag: a failure to tag must not turn the own commit into a newer one
  lock[name] = { owner: prompt.owner, commit: commit.hash, content };
  writeLock(directory, lock);
  if (tag !== undefined) await setTag(api, prompt, tag, commit.id ?? (await latestCommitId(api, prompt)));
  print(`${fullName(prompt)}  ${commit.hash.slice(0, 8)}  ${verb}${tagged}`);
}

function newerCommit(prompt: PromptName, latest: { hash: string; manifest: string }, file: PromptFile): Error {
  const name = fullName(prompt);
  return new Error(
    `${name} has the commit ${latest.hash.slice(0, 8)}, which ${file.path} is not based on:\n\n` +
      `${describeDifference(prompt, latest, file)}\n` +
      `Take it over by heddle prompts pull ${name} --force and repeat the change, or replace it by --force.`,
  );
}
