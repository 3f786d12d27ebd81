import { z } from "zod";
import { parseJson } from "../../base/json-structure.ts";

const THREAD_STREAM_MODES = ["run_modes", "lifecycle", "state_update"] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** A single mode, a JSON array, a comma-separated list, or a repeated parameter. */
const modes = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value, context) => {
    if (value === undefined || value === "") return undefined;
    const parsed = z.array(z.enum(THREAD_STREAM_MODES)).safeParse(typeof value === "string" ? parseList(value) : value);
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: `must be among ${THREAD_STREAM_MODES.join(", ")}` });
    return z.NEVER;
  });

/** Clients send `stream_mode`; the peers' document names it `stream_modes`. */
export const threadStreamQuery = z.object({ stream_mode: modes, stream_modes: modes });

function parseList(text: string): unknown {
  if (!text.startsWith("[")) return text.split(",");
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
