/** Builds the body of `POST /playground/stream` for a column. */
import { readAny } from "../../ui/schema-form/schema.ts";
import { readJson } from "../../ui/json-text.ts";
import { type Column, columnPrompt, type Draft, type ModelChoice } from "./draft.ts";
import { type Prompt, textParts } from "./prompt.ts";
import { templateProblem, type Variable } from "./template.ts";
import { isOptional, ownValues, promptVariables, writeManifest, writeTools } from "./write-manifest.ts";

/** @throws with what the user must correct */
export function buildRequest(draft: Draft, column: Column): Record<string, unknown> {
  const prompt = columnPrompt(draft, column);
  return {
    ...promptFields(prompt),
    variables: readInputs(prompt, draft.inputs),
    model: modelField(column.model),
    ...(prompt.origin && {
      commit: { owner: prompt.origin.owner, repo: prompt.origin.repo, commit: prompt.origin.commitHash },
    }),
    ...(draft.run && { source_run_id: draft.run.runId }),
  };
}

/** Returns the prompt and its options, which calls and experiments share. */
export function promptFields(prompt: Prompt): Record<string, unknown> {
  const problem = findProblem(prompt);
  if (problem !== null) throw new Error(problem);
  const tools = writeTools(prompt);
  const schema = prompt.schema.trim() === "" ? null : readJson(prompt.schema, "The output schema");
  return {
    manifest: writeManifest(prompt),
    ...(tools.length > 0 && { tools: tools.map(toOpenAi) }),
    ...(prompt.toolChoice !== "" &&
      tools.length > 0 && { tool_choice: prompt.toolChoice === "required" ? "any" : prompt.toolChoice }),
    ...(schema !== null && { response_schema: schema }),
  };
}

/** Returns a tool in the form that the server takes: Anthropic has another name for the parameters. */
function toOpenAi(tool: Record<string, unknown>): Record<string, unknown> {
  const { input_schema: parameters, ...rest } = tool;
  return parameters === undefined ? tool : { ...rest, parameters };
}

/** @throws when no model is chosen */
export function modelField({ connectionId, provider, model, parameters }: ModelChoice): Record<string, unknown> {
  if (connectionId === null && provider === null) throw new Error("Choose a connection for the model.");
  if (model.trim() === "") throw new Error("Enter the name of a model.");
  const by = connectionId === null ? { provider } : { connection_id: connectionId };
  return { ...by, model: model.trim(), parameters };
}

/** Returns what is wrong with the templates of a prompt; null if nothing is. */
export function findProblem({ messages, format, kind }: Prompt): string | null {
  if (kind !== "kept" && messages.length === 0) return "Add a message.";
  for (const [index, { role, isTemplate, content, name }] of messages.entries()) {
    if (role === "placeholder" && name.trim() === "") return `Message ${index + 1}: enter the placeholder's variable.`;
    if (!isTemplate || role === "placeholder") continue;
    for (const text of textParts(content)) {
      const problem = templateProblem(text, format);
      if (problem !== null) return `Message ${index + 1}: ${problem}`;
    }
  }
  return null;
}

/** Reads the values of a prompt's variables. @throws for the ones that have none */
export function readInputs(prompt: Prompt, inputs: Record<string, string>): Record<string, unknown> {
  const missing = missingInputs(prompt, inputs);
  if (missing.length > 0) throw new Error(`Enter a value for ${missing.join(", ")}.`);
  const entries = promptVariables(prompt).flatMap(({ name, kind }) => {
    const text = inputs[name] ?? "";
    if (text === "") return kind === "messages" ? [[name, []] as const] : [];
    return [[name, readValue(text, kind, name)] as const];
  });
  return Object.fromEntries(entries);
}

function readValue(text: string, kind: Variable["kind"], name: string): unknown {
  if (kind === "text") return text;
  const value = readAny(text);
  if (kind === "json") return value;
  if (typeof value === "string") return [{ role: "user", content: value }];
  if (!Array.isArray(value)) throw new Error(`${name} must be a list of messages, or text.`);
  return value;
}

/** Lists the variables that need a value: not placeholders, and not those with a value in the prompt. */
export function missingInputs(prompt: Prompt, inputs: Record<string, string>): string[] {
  const values = ownValues(prompt);
  const optional = new Set(prompt.messages.filter(isOptional).map(({ name }) => name));
  return promptVariables(prompt)
    .filter(({ name, kind }) => kind !== "messages" && !optional.has(name) && !Object.hasOwn(values, name))
    .map(({ name }) => name)
    .filter((name) => (inputs[name] ?? "") === "");
}
