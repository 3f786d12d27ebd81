import type { Principal } from "../../base/auth/principal.ts";
import { unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { codeDefinition } from "./definition.ts";
import { insertEvaluator } from "./sql.ts";

/** Evaluators in the body of a rule (contract: EvaluatorTopLevel, CodeEvaluatorTopLevel). */
export interface EmbeddedBody {
  name: string;
  evaluators?: readonly unknown[] | null | undefined;
  code_evaluators?: readonly unknown[] | null | undefined;
  subject?: "run" | "trace" | "thread" | undefined;
  num_few_shot_examples?: number | null | undefined;
  use_corrections_dataset?: boolean | null | undefined;
  corrections_dataset_id?: string | null | undefined;
}

/**
 * Creates the evaluator that a rule embeds. @returns its id
 * @throws 422 for none, several, or one that is not supported
 */
export async function createEmbeddedEvaluator(
  deps: Pick<TraceDeps, "sql">,
  principal: Principal,
  body: EmbeddedBody,
): Promise<string> {
  const given = [...(body.evaluators ?? []), ...(body.code_evaluators ?? [])];
  if (given.length !== 1) throw unprocessable("evaluators, code_evaluators: a rule has one evaluator");
  if (body.evaluators?.length) throw unprocessable("evaluators: is not supported yet");
  const read = codeDefinition.safeParse({ type: "code", ...(given[0] as object) });
  if (!read.success) throw unprocessable(`code_evaluators.0: ${read.error.issues[0]!.message}`);
  const id = uuid7();
  await insertEvaluator(deps.sql, {
    tenant_id: principal.workspaceId,
    evaluator_id: id,
    name: body.name,
    description: null,
    type: "code",
    feedback_keys: [],
    library_id: null,
    created_by: principal.actor.userId,
    definition: read.data,
  });
  return id;
}
