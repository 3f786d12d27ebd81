import type { Principal } from "../../base/auth/principal.ts";
import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { modelConfiguration, type ModelConfiguration } from "../models/message-schema.ts";
import { readConstructor } from "../playground/read-manifest.ts";
import { readModelManifest } from "../playground/read-model-manifest.ts";
import type { SubjectKind } from "./definition.ts";
import { readDefinition, readHandle } from "./read-fields.ts";
import { createEvaluator } from "./save-evaluator.ts";
import { codeFields, type LlmFields, llmFields } from "./wire-schema.ts";

type Json = Record<string, unknown>;

/** Evaluators in the body of a rule (contract: EvaluatorTopLevel, CodeEvaluatorTopLevel). */
export interface EmbeddedBody {
  name: string;
  evaluators?: readonly unknown[] | null | undefined;
  code_evaluators?: readonly unknown[] | null | undefined;
  subject?: SubjectKind | undefined;
  num_few_shot_examples?: number | null | undefined;
  use_corrections_dataset?: boolean | null | undefined;
  corrections_dataset_id?: string | null | undefined;
}

/**
 * Creates the evaluator that a rule embeds. @returns its id
 * @throws 422 or 404 for none, several, or one that cannot work
 */
export async function createEmbeddedEvaluator(
  deps: Pick<TraceDeps, "sql" | "secrets" | "codeRunner" | "corrections">,
  principal: Principal,
  body: EmbeddedBody,
): Promise<string> {
  const judges = body.evaluators ?? [];
  const codes = body.code_evaluators ?? [];
  if (judges.length + codes.length !== 1) {
    throw unprocessable("evaluators, code_evaluators: a rule has one evaluator; create several rules for more");
  }
  const { name, subject } = body;
  const definition =
    codes.length > 0
      ? readDefinition("code", { subject, code_evaluator: parse(codeFields, codes[0], "code_evaluators.0") })
      : readDefinition("llm", { subject, llm_evaluator: readStructured(judges[0], body) });
  return createEvaluator(deps, principal, { name, definition });
}

function readStructured(value: unknown, body: EmbeddedBody): LlmFields {
  const where = "evaluators.0.structured";
  const structured = isObject(value) ? value["structured"] : undefined;
  if (!isObject(structured)) throw unprocessable(`${where}: required`);
  const { hub_ref: ref, prompt, template_format, schema, variable_mapping, model, ...rest } = structured;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw unprocessable(`${where}.${unknown}: is not supported`);
  const hub = typeof ref === "string" ? readHandle(ref) : undefined;
  const fields = {
    // of a prompt and a reference the reference wins: the vendor's clients send the pulled prompt beside it
    ...(hub
      ? { prompt_repo_handle: `${hub.owner}/${hub.repo}`, commit_hash_or_tag: hub.commit }
      : { prompt, template_format, schema }),
    variable_mapping,
    model: model == null ? undefined : readModel(model, `${where}.model`),
    num_few_shot_examples: body.num_few_shot_examples ?? undefined,
    use_corrections_dataset: body.use_corrections_dataset ?? undefined,
    corrections_dataset_id: body.corrections_dataset_id ?? undefined,
  };
  return parse(llmFields, fields, where);
}

/** Reads a model as a serialized model of LangChain, or as Heddle's own configuration. */
function readModel(value: unknown, where: string): ModelConfiguration {
  const manifest = readConstructor(value);
  if (manifest) return readModelManifest(manifest.name, manifest.kwargs, where).configuration;
  return parse(modelConfiguration, value, where);
}

function parse<T>(
  schema: {
    safeParse(
      value: unknown,
    ): { success: true; data: T } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
  },
  value: unknown,
  where: string,
): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unprocessable([where, ...issue!.path.map(String)].join(".") + `: ${issue!.message}`);
}

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);
