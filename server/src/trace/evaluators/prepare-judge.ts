import type { Principal } from "../../base/auth/principal.ts";
import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { type PreparedPrompt, preparePrompt } from "../playground/prepare-prompt.ts";
import { promptVariables, renderPrompt } from "../playground/prompt.ts";
import { resolveModel } from "../playground/run-prompt.ts";
import { renderBody } from "../playground/schema.ts";
import type { ReadyConnection } from "../models/resolve-connection.ts";
import { type Binding, bindingsOf } from "./bind-variables.ts";
import type { LlmDefinition, ScoreKey } from "./definition.ts";
import { answerSchema, readSchema } from "./score-schema.ts";

/** A judge's prompt and schema, independent of what it judges. */
export interface PreparedJudge {
  prepared: PreparedPrompt;
  bindings: Binding[];
  scores: ScoreKey[];
  schema: Record<string, unknown>;
}

/** @throws 422 for an invalid prompt, schema or mapping; 404 for an unknown commit */
export async function prepareJudge(
  deps: Pick<TraceDeps, "sql">,
  principal: Principal,
  definition: LlmDefinition,
): Promise<PreparedJudge> {
  const { prompt, variable_mapping: mapping } = definition;
  const body = renderBody.parse("messages" in prompt ? prompt : { commit: prompt });
  const prepared = await preparePrompt(deps, principal, body);
  const { scores, reasoning } = scoresOf(definition, prepared);
  const names = promptVariables(prepared.prompt);
  const { bindings, problem } = bindingsOf(names, mapping);
  if (problem !== null) throw unprocessable(problem);
  // finds what only rendering shows, such as a section that is not closed or a name below a text
  renderPrompt(prepared.prompt, Object.fromEntries(names.map((name) => [name, "text"])));
  return { prepared, bindings, scores, schema: answerSchema(scores, reasoning) };
}

function scoresOf({ scores, reasoning }: LlmDefinition, { responseSchema }: PreparedPrompt) {
  if (scores) return { scores, reasoning };
  if (!responseSchema) throw unprocessable("scores: required, since the prompt has no schema");
  const read = readSchema(responseSchema);
  if ("problem" in read) throw unprocessable(`prompt.schema: ${read.problem}`);
  return read;
}

/** Resolves the judge's model. @throws 404, 422, 424 like calls of the playground */
export const resolveJudgeModel = (
  deps: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  { prepared }: PreparedJudge,
  { model }: LlmDefinition,
): Promise<ReadyConnection> => resolveModel(deps, tenantId, prepared, model ?? undefined);
