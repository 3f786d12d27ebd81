import { isUuid } from "./uuid.ts";
import { UsageError, type FlagSpec } from "./flags.ts";

/** Flags of commands that talk to a control plane. */
export const CONTROL_FLAGS = {
  url: {
    type: "text",
    placeholder: "URL",
    env: ["HEDDLE_CONTROL_URL", "LANGGRAPH_HOST_URL"],
    default: "http://127.0.0.1:2026",
    description: "URL of the control plane.",
  },
  "api-key": {
    type: "text",
    placeholder: "KEY",
    env: ["HEDDLE_API_KEY", "LANGGRAPH_HOST_API_KEY", "LANGSMITH_API_KEY"],
    description: "API key.",
  },
} as const satisfies Record<string, FlagSpec>;

/** Validates a revision id here, because the control plane's error would name its field instead of the option. */
export function revisionId(option: string, text: string | undefined): string | undefined {
  if (text === undefined || isUuid(text)) return text;
  throw new UsageError(`${option} must be the id of a revision, not "${text}". To list ids: heddle revisions NAME`);
}
