import type { TraceDeps } from "../deps.ts";
import { type Definition } from "./definition.ts";
import { parsePath } from "./read-path.ts";
import type { LoadedEvaluator } from "./schema.ts";
import { findVersion } from "./sql.ts";

/** Loads a version of an evaluator, by default the newest; undefined for an unknown one. */
export async function loadEvaluator(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  evaluatorId: string,
  version?: number,
): Promise<LoadedEvaluator | undefined> {
  const row = await findVersion(sql, tenantId, evaluatorId, version);
  return row && toLoaded(tenantId, row);
}

const toLoaded = (
  tenantId: string,
  row: { id: string; name: string; version: number; definition: Definition; feedback_keys: string[] },
): LoadedEvaluator => ({
  id: row.id,
  tenant_id: tenantId,
  name: row.name,
  version: row.version,
  definition: row.definition,
  feedback_keys: row.feedback_keys,
  needs: needsOf(row.definition),
});

/** Determines what subjects must contain beside the run. Code sees everything of its kind of subject. */
export function needsOf(definition: Definition): LoadedEvaluator["needs"] {
  const { subject } = definition;
  const paths = definition.type === "llm" ? Object.values(definition.variable_mapping) : [];
  const roots = new Set(paths.map((path) => parsePath(path)?.root));
  return {
    children: subject === "trace" || ["trace", "tool_calls", "context"].some((root) => roots.has(root)),
    thread: subject === "thread" || roots.has("thread"),
    other: subject === "pair" || roots.has("other"),
    reference: definition.type === "code" || [...roots].some((root) => root?.startsWith("reference")),
  };
}
