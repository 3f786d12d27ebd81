import type { FlagSpec } from "./flags.ts";

/** Flags of commands that call a trace platform. */
export const TRACE_FLAGS = {
  url: {
    type: "text",
    placeholder: "URL",
    env: ["HEDDLE_TRACE_URL"],
    default: "http://127.0.0.1:1984",
    description: "URL of the trace platform.",
  },
  "api-key": { type: "text", placeholder: "KEY", env: ["HEDDLE_API_KEY"], description: "API key." },
} as const satisfies Record<string, FlagSpec>;
