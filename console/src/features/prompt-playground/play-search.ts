import { optionalText } from "../../ui/search-params.ts";

export interface PlaySearch {
  /** Id of an LLM call of a trace. */
  run?: string | undefined;
  /** `owner/name`, or the name of a prompt of the workspace. */
  prompt?: string | undefined;
  /** Hash or tag; default the latest commit. */
  commit?: string | undefined;
}

export const readPlaySearch = (search: Record<string, unknown>): PlaySearch => ({
  run: optionalText(search["run"]),
  prompt: optionalText(search["prompt"]),
  commit: optionalText(search["commit"]),
});

/** Name of what the address opens, for the stored draft. */
export function sourceName({ run, prompt, commit }: PlaySearch): string {
  if (run !== undefined) return `run:${run}`;
  return prompt === undefined ? "" : `prompt:${prompt}:${commit ?? "latest"}`;
}
