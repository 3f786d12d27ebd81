import type { Project } from "../project/read-project.ts";
import type { ThreadTtl } from "./schema.ts";

/** `checkpointer.ttl` of langgraph.json, for threads created without a time to live. */
export function defaultTtl({ config }: Pick<Project, "config">): ThreadTtl | null {
  const ttl = config.checkpointer?.ttl;
  return ttl?.default_ttl ? { strategy: ttl.strategy, minutes: ttl.default_ttl } : null;
}
