import { isDeepStrictEqual } from "node:util";

import type { Principal } from "../../base/auth/principal.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { checkDefinition } from "./check-definition.ts";
import { recordEarlierCorrections } from "./correction-sql.ts";
import { withCorrectionsDataset } from "./corrections-dataset.ts";
import type { Definition } from "./definition.ts";
import { deleteEvaluator, deleteRulesOf, insertVersion, rulesOfEvaluator, updateEvaluator } from "./list-sql.ts";
import { configureKeys } from "./feedback-config.ts";
import { readDefinition } from "./read-fields.ts";
import { findVersion, insertEvaluator } from "./sql.ts";
import type { EvaluatorPatch } from "./wire-schema.ts";

type Deps = Pick<TraceDeps, "sql" | "secrets" | "codeRunner" | "corrections">;

export const evaluatorNotFound = () => notFound("Evaluator not found");

/** Creates an evaluator. @returns its id. @throws 422 or 404 for a definition that cannot work */
export async function createEvaluator(
  deps: Deps,
  principal: Principal,
  order: { name: string; description?: string | null | undefined; definition: Definition; libraryId?: string },
): Promise<string> {
  const { definition: checked, keys } = await checkDefinition(deps, principal, order.definition);
  const id = uuid7();
  const named = { id, name: order.name };
  const definition = await withCorrectionsDataset(deps.sql, principal.workspaceId, named, checked);
  await insertEvaluator(deps.sql, {
    tenant_id: principal.workspaceId,
    evaluator_id: id,
    name: order.name,
    description: order.description ?? null,
    type: definition.type,
    feedback_keys: keys,
    library_id: order.libraryId ?? null,
    created_by: principal.actor.userId,
    definition,
  });
  await configureKeys(deps.sql, principal.workspaceId, definition);
  return id;
}

/**
 * Changes an evaluator. A change of what it does is a new version; the same definition again is none.
 * @throws 404 for an unknown one, 409 when it was changed at the same time
 */
export async function changeEvaluator(
  deps: Deps,
  principal: Principal,
  id: string,
  patch: EvaluatorPatch,
): Promise<void> {
  const tenantId = principal.workspaceId;
  const row = await findVersion(deps.sql, tenantId, id);
  if (!row) throw evaluatorNotFound();
  const isNew = patch.llm_evaluator != null || patch.code_evaluator != null || patch.subject != null;
  const read = isNew ? readDefinition(row.type, patch, row.definition) : row.definition;
  const checked = isNew ? await checkDefinition(deps, principal, read) : { definition: read, keys: [] };
  const definition = await withCorrectionsDataset(deps.sql, tenantId, row, checked.definition);
  const learns = definition !== checked.definition;
  await configureKeys(deps.sql, tenantId, definition);
  await deps.sql.begin(async (tx) => {
    if (!isDeepStrictEqual(definition, row.definition)) {
      const inserted = await insertVersion(tx, {
        tenant_id: tenantId,
        evaluator_id: id,
        expected: row.newest_version,
        definition,
        // keys that code has given stay known
        keys: row.type === "code" ? row.feedback_keys : checked.keys,
        created_by: principal.actor.userId,
      });
      if (!inserted)
        throw conflict("The evaluator was changed at the same time. Read it again, then repeat the change.");
    }
    // a correction that was processed meanwhile has found the earlier version
    if (learns) await recordEarlierCorrections(tx, tenantId, id);
    await updateEvaluator(tx, tenantId, id, { name: patch.name ?? null, description: patch.description });
  });
  if (learns) deps.corrections.wake();
}

/** Deletes an evaluator. @throws 404, or 409 while rules use it, unless they are to be deleted too */
export async function removeEvaluator(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  id: string,
  withRules: boolean,
): Promise<void> {
  await sql.begin(async (tx) => {
    if (withRules) await deleteRulesOf(tx, tenantId, id);
    const rules = await rulesOfEvaluator(tx, tenantId, id);
    if (rules.length > 0) {
      const names = rules.map((name) => `"${name}"`).join(", ");
      throw conflict(`Rules use this evaluator: ${names}. Delete them, or send delete_run_rules=true.`);
    }
    if (!(await deleteEvaluator(tx, tenantId, id))) throw evaluatorNotFound();
  });
}
