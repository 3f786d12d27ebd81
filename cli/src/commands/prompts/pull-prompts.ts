import { readVersion, type Selection } from "./compare.ts";
import { findPrompt, fullName, type PromptName } from "./prompt-api.ts";
import { contentHash, readLock, readPromptFile, writeLock, writePromptFile, writeReadme } from "./prompt-files.ts";

/**
 * Writes prompts into files: the latest commit, or that of the version or tag. @throws when a file has changes that were
 * not pushed, before it writes that file
 */
export async function pullPrompts(
  { api, directory, tag, print }: Selection,
  prompts: (PromptName & { version?: string | undefined })[],
  { format, force, dryRun }: { format: "json" | "yaml"; force: boolean; dryRun: boolean },
): Promise<void> {
  const lock = readLock(directory);
  for (const { version = tag, ...prompt } of prompts) {
    const { name } = prompt;
    const found = await findPrompt(api, prompt);
    if (!found) throw new Error(`There is no prompt "${fullName(prompt)}" in the workspace.`);
    const commit = await readVersion(api, prompt, found, version);
    if (!commit) {
      print(`${fullName(prompt)}  has no commit yet`);
      continue;
    }
    const file = readPromptFile(directory, name);
    const content = contentHash(commit.manifest);
    const local = file && contentHash(file.manifest);
    if (local !== undefined && local !== content && local !== lock[name]?.content && !force) {
      throw new Error(
        `${file!.path} has changes that are not pushed. Push them, or discard them by heddle prompts pull ${fullName(prompt)} --force.`,
      );
    }
    const verb = local === content ? "is up to date" : dryRun ? "would be written" : "written";
    print(`${fullName(prompt)}  ${commit.hash.slice(0, 8)}  ${verb}`);
    if (dryRun) continue;
    writePromptFile(directory, name, commit.manifest, { format, file });
    if (found.readme) writeReadme(directory, name, found.readme);
    lock[name] = { owner: prompt.owner, commit: commit.hash, content };
    writeLock(directory, lock);
  }
}
