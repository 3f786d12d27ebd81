import { readObject } from "../../ui/json-text.ts";
import type { Setup } from "./use-run.ts";

export interface SetupDraft {
  fields: Record<string, unknown>;
  /** JSON text of the config, in addition to the form. */
  config: string;
  before: string[];
  after: string[];
  /** Whether each run stops before every node. */
  isStepping: boolean;
}

export const EMPTY_SETUP: SetupDraft = { fields: {}, config: "", before: [], after: [], isStepping: false };

/** @throws when the config is not a JSON object */
export function readSetup(
  { fields, config: text, before, after, isStepping }: SetupDraft,
  kind: "context" | "config",
): Setup {
  const config = readObject(text, "The config");
  const hasFields = Object.keys(fields).length > 0;
  if (hasFields && kind === "config") config["configurable"] = { ...(config["configurable"] as object), ...fields };
  return {
    ...(Object.keys(config).length > 0 && { config }),
    ...(hasFields && kind === "context" && { context: fields }),
    ...(before.length > 0 && { interruptBefore: before }),
    ...(after.length > 0 && { interruptAfter: after }),
    ...(isStepping && { isStepping }),
  };
}
