import type { Principal } from "../../base/auth/principal.ts";
import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { checkCode } from "../code-evaluators/run-code.ts";
import type { TraceDeps } from "../deps.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { Definition, SubjectKind } from "./definition.ts";
import { prepareJudge, resolveJudgeModel } from "./prepare-judge.ts";

/** Roots of paths that only subjects of a kind have. */
const ONLY: Record<string, SubjectKind> = { thread: "thread", other: "pair" };

/**
 * Checks a definition as far as is possible without a run, and completes its variable mapping.
 * @returns the definition, and the feedback keys that it declares
 * @throws 422 or 404 for what cannot work
 */
export async function checkDefinition(
  deps: Pick<TraceDeps, "sql" | "secrets" | "codeRunner">,
  principal: Principal,
  definition: Definition,
): Promise<{ definition: Definition; keys: string[] }> {
  if (definition.type === "code") {
    const { language, code } = definition;
    // a server that cannot run the language stores it all the same: others of the installation may
    const checked = await checkCode(deps, language, code, principal.workspaceId).catch(() => null);
    if (checked?.ok === false) throw unprocessable(`code_evaluator.code: ${checked.message}`);
    return { definition, keys: [] };
  }
  const judge = await prepareJudge(deps, principal, definition);
  const { bindings, scores } = judge;
  for (const { name, path } of bindings) {
    const kind = ONLY[path.root];
    if (kind !== undefined && kind !== definition.subject) {
      throw unprocessable(`variable_mapping.${name}: "${path.root}" needs an evaluator whose subject is ${kind}`);
    }
  }
  const datasetId = definition.few_shot?.dataset_id;
  if (datasetId != null && !(await findDatasetRow(deps.sql, principal.workspaceId, datasetId))) {
    throw notFound("Dataset not found");
  }
  // the commit of a tag may bind a model later
  const mayLack = definition.model === null && "repo" in definition.prompt;
  await resolveJudgeModel(deps, principal.workspaceId, judge, definition).catch((error: unknown) => {
    // a missing secret or package can be set later
    if (mayLack || (error instanceof AppError && error.status === 424)) return;
    throw error;
  });
  const { variable_mapping: mapping } = definition;
  const complete = Object.fromEntries(
    bindings.map(({ name }) => [name, Object.hasOwn(mapping, name) ? mapping[name]! : name]),
  );
  return { definition: { ...definition, variable_mapping: complete }, keys: scores.map(({ key }) => key) };
}
