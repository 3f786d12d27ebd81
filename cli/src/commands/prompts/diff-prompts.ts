import { describeDifference, readVersion, type Selection } from "./compare.ts";
import { findPrompt, type PromptName } from "./prompt-api.ts";
import { readPromptFile } from "./prompt-files.ts";

/** Prints the differences between the latest commits, or those of the tag, and the files. @returns whether there are any */
export async function diffPrompts(
  { api, directory, tag, print }: Selection,
  prompts: (PromptName & { version?: string | undefined })[],
): Promise<boolean> {
  let isDifferent = false;
  for (const { version = tag, ...prompt } of prompts) {
    const file = readPromptFile(directory, prompt.name);
    const found = await findPrompt(api, prompt);
    const commit = found && (await readVersion(api, prompt, found, version));
    if (!commit && !file)
      throw new Error(`There is no prompt "${prompt.name}", neither in the workspace nor in ${directory}.`);
    const difference = describeDifference(prompt, commit, file);
    if (difference === "") continue;
    isDifferent = true;
    print(difference.trimEnd());
  }
  return isDifferent;
}
