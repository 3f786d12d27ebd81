import { unprocessable } from "../../base/errors.ts";
import { type Definition, definition, type LlmDefinition } from "./definition.ts";
import { readSchema } from "./score-schema.ts";
import type { EvaluatorPatch, LlmFields } from "./wire-schema.ts";

type Given = Pick<EvaluatorPatch, "llm_evaluator" | "code_evaluator" | "subject">;

/**
 * Reads the definition of a request; missing fields keep what `known`, the present definition, says.
 * @throws 422 for an invalid or incomplete one
 */
export function readDefinition(type: "llm" | "code", given: Given, known?: Definition): Definition {
  const other = type === "llm" ? "code_evaluator" : "llm_evaluator";
  if (given[other] != null) throw unprocessable(`${other}: the evaluator's type is ${type}`);
  const subject = given.subject ?? known?.subject;
  if (type === "code") {
    const before = known?.type === "code" ? known : undefined;
    const { code, language } = given.code_evaluator ?? {};
    const source = code ?? before?.code;
    if (source == null) throw unprocessable("code_evaluator.code: required");
    return check({
      type,
      ...(subject && { subject }),
      code: source,
      language: language ?? before?.language ?? "python",
    });
  }
  const before = known?.type === "llm" ? known : undefined;
  const fields = given.llm_evaluator ?? {};
  return check({ type, ...(subject && { subject }), ...readLlm(fields, before) });
}

function readLlm(fields: LlmFields, before: LlmDefinition | undefined): object {
  const prompt = readPrompt(fields, before);
  if (!prompt) throw unprocessable("llm_evaluator: prompt_repo_handle or prompt is required");
  if (fields.scores && fields.schema) throw unprocessable("llm_evaluator: only one of scores and schema can be given");
  const read = fields.schema && readSchema(fields.schema);
  if (read && "problem" in read) throw unprocessable(`llm_evaluator.schema: ${read.problem}`);
  // a prompt of the registry that replaces messages brings its own schema
  const isOther = before !== undefined && "repo" in prompt !== "repo" in before.prompt;
  const kept = isOther ? null : before?.scores;
  return {
    prompt,
    model: fields.model ?? before?.model ?? null,
    variable_mapping: fields.variable_mapping ?? before?.variable_mapping ?? {},
    scores: fields.scores ?? read?.scores ?? kept ?? null,
    reasoning: fields.reasoning ?? read?.reasoning ?? before?.reasoning ?? true,
    few_shot: readFewShot(fields, before),
  };
}

function readPrompt(fields: LlmFields, before: LlmDefinition | undefined): object | undefined {
  const { prompt_repo_handle: handle, commit_hash_or_tag: commit, prompt, template_format: format } = fields;
  if (prompt && handle != null)
    throw unprocessable("llm_evaluator: only one of prompt and prompt_repo_handle can be given");
  if (prompt) {
    const messages = prompt.map(({ role, content }, i) => ({ role: readRole(role, i), content }));
    return { messages, ...(format != null && { template_format: format }) };
  }
  if (handle != null) return { ...readHandle(handle), ...(commit != null && { commit }) };
  const known = before?.prompt;
  if (!known) return undefined;
  if ("repo" in known) return { ...known, ...(commit != null && { commit }) };
  return { ...known, ...(format != null && { template_format: format }) };
}

const ROLES: Record<string, string> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
};

function readRole(role: string, i: number): string {
  const read = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (read === undefined) throw unprocessable(`llm_evaluator.prompt.${i}: the role must be system, human or ai`);
  return read;
}

/** Reads `repo`, `owner/repo` and both with `:commit`. */
export function readHandle(handle: string): { owner: string; repo: string; commit?: string } {
  const [path = "", commit] = handle.split(":");
  const [first = "", second] = path.split("/");
  const named = second === undefined ? { owner: "-", repo: first } : { owner: first, repo: second };
  if (named.repo === "" || named.owner === "") throw unprocessable(`prompt_repo_handle: "${handle}" is not owner/repo`);
  return { ...named, ...(commit && { commit }) };
}

function readFewShot(fields: LlmFields, before: LlmDefinition | undefined): LlmDefinition["few_shot"] {
  const { num_few_shot_examples: count, use_corrections_dataset: uses, corrections_dataset_id: dataset } = fields;
  if (count === undefined && uses === undefined && dataset === undefined) return before?.few_shot ?? null;
  if (uses === false || count === 0) return null;
  if (uses !== true && before?.few_shot == null && dataset == null) return null;
  return { dataset_id: dataset ?? before?.few_shot?.dataset_id ?? null, count: count ?? before?.few_shot?.count ?? 5 };
}

function check(value: object): Definition {
  const read = definition.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unprocessable(`${issue!.path.join(".")}: ${issue!.message}`);
}
