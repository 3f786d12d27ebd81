import type { Principal } from "../../base/auth/principal.ts";
import { forbidden, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { loadEvaluator } from "./load-evaluator.ts";
import { changeEvaluator } from "./save-evaluator.ts";

export interface CorrectionSettings {
  use_corrections_dataset?: boolean | null | undefined;
  num_few_shot_examples?: number | null | undefined;
}

/**
 * Applies a rule's settings of corrections to its judges. They are the evaluators' own: all rules of a judge share them.
 * @throws 422 when none of the evaluators is a judge, 403 when the caller may not change one that has other settings
 */
export async function shareCorrections(
  deps: TraceDeps,
  principal: Principal,
  evaluatorIds: readonly string[],
  { use_corrections_dataset: uses, num_few_shot_examples: count }: CorrectionSettings,
): Promise<void> {
  if (uses == null && count == null) return;
  const found = await Promise.all(evaluatorIds.map((id) => loadEvaluator(deps, principal.workspaceId, id)));
  const judges = found.filter((one) => one?.definition.type === "llm");
  if (judges.length === 0 && (uses || count)) {
    const field = uses ? "use_corrections_dataset" : "num_few_shot_examples";
    throw unprocessable(`${field}: the rule has no judge; name one by evaluator_id or evaluators`);
  }
  for (const judge of judges) {
    const { id, name, definition } = judge!;
    const present = definition.type === "llm" ? definition.few_shot : null;
    if (present === null && uses !== true) continue;
    if (present !== null && uses !== false && (count == null || count === present.count)) continue;
    if (!principal.permissions.has("evaluators:update")) {
      throw forbidden(`Forbidden: the permission evaluators:update is required to change the evaluator "${name}".`);
    }
    await changeEvaluator(deps, principal, id, {
      llm_evaluator: { use_corrections_dataset: uses ?? true, num_few_shot_examples: count ?? undefined },
    });
  }
}
