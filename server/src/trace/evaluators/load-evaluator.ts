import type { TraceDeps } from "../deps.ts";
import { type Definition } from "./definition.ts";
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

export const toLoaded = (
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
  const paths = definition.type === "llm" ? Object.entries(definition.variable_mapping).flat() : [];
  const reads = (name: string): boolean => paths.some((path) => path === name || path.startsWith(`${name}.`));
  return {
    children: subject === "trace" || reads("trace") || reads("tool_calls"),
    thread: subject === "thread" || reads("thread"),
    other: subject === "pair" || reads("other"),
    reference: definition.type === "code" || reads("reference"),
  };
}
