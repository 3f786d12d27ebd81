import { notFound, unprocessable } from "../../base/errors.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { type Message, tool, type Tool } from "../models/message-schema.ts";
import type { ProviderId } from "../models/providers.ts";
import { findConnection } from "../models/sql.ts";
import { findProject } from "../projects/sql.ts";
import { type CallRow, findCall } from "./clickhouse.ts";
import { readToolChoice } from "./read-manifest.ts";
import { isObject, readMessage, readMessageList } from "./read-messages.ts";
import { readParameters } from "./read-model-manifest.ts";

type Json = Record<string, unknown>;

const PROVIDERS_BY_NAME: Record<string, ProviderId> = {
  openai: "openai",
  azure: "azure-openai",
  azure_openai: "azure-openai",
  anthropic: "anthropic",
  google_genai: "google-genai",
  google: "google-genai",
  amazon_bedrock: "bedrock",
  bedrock: "bedrock",
  mistral: "mistral",
  mistralai: "mistral",
  ollama: "ollama",
  "openai-compatible": "openai-compatible",
};

/**
 * Returns a traced call as the playground's input.
 * @throws 404 for an unknown run, 422 for one without a call to a model
 */
export async function readRun(deps: Pick<TraceDeps, "sql" | "clickhouse">, tenantId: string, runId: string) {
  const row = await findCall(deps.clickhouse, tenantId, runId);
  if (!row) throw notFound("Run not found");
  if (row.run_type !== "llm") throw unprocessable("The run calls no model, nor does one below it.");
  const notes = new Set<string>();
  const inputs = readObject(row.inputs);
  const outputs = readObject(row.outputs);
  const extra = readObject(row.extra);
  const metadata = isObject(extra["metadata"]) ? extra["metadata"] : {};
  const invocation = isObject(extra["invocation_params"]) ? extra["invocation_params"] : {};
  // clients of providers send the whole request as inputs
  const request: Json = { ...withoutMessages(inputs), ...invocation };
  const { tools, toolChoice, schema, rest } = readOptions(request, notes);
  const named = text(metadata["ls_provider"])?.toLowerCase() ?? "";
  const provider = Object.hasOwn(PROVIDERS_BY_NAME, named) ? PROVIDERS_BY_NAME[named] : undefined;
  const { model, parameters, notes: dropped } = readParameters(provider, rest);
  for (const note of dropped) notes.add(note);
  const messages = readInputs(inputs, notes);
  const connection = text(metadata["heddle_connection_id"]);
  const known = connection && isUuid(connection) ? await findConnection(deps.sql, tenantId, connection) : undefined;
  const project = await findProject(deps.sql, tenantId, row.project_id);
  return {
    run_id: row.id,
    project_id: row.project_id,
    project_name: project?.name ?? null,
    run_name: row.name,
    messages,
    template_format: "none" as const,
    tools,
    tool_choice: toolChoice ?? null,
    response_schema: schema ?? null,
    model: {
      provider: known?.provider ?? provider ?? null,
      connection_id: known?.id ?? null,
      model: text(metadata["ls_model_name"]) ?? model ?? null,
      parameters: { ...fromMetadata(metadata), ...parameters },
    },
    provider_known: provider !== undefined,
    commit: readCommit(metadata),
    output: readOutput(outputs, notes),
    error: row.error,
    ...readNumbers(row),
    notes: [...notes],
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isUuid = (value: string): boolean => UUID.test(value);

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function readObject(json: string | null): Json {
  const value = json === null ? null : parseJson(json);
  return isObject(value) ? value : value === null ? {} : { input: value };
}

const LISTS = ["messages", "input", "contents", "prompts", "prompt"] as const;

const withoutMessages = (inputs: Json): Json =>
  Object.fromEntries(Object.entries(inputs).filter(([key]) => !["system", ...LISTS].includes(key)));

function readInputs(inputs: Json, notes: Set<string>): Message[] {
  const found = LISTS.map((name) => inputs[name]).find((value) => value != null);
  const list = Array.isArray(found) && found.length === 1 && Array.isArray(found[0]) ? (found[0] as unknown[]) : found;
  const messages = Array.isArray(list)
    ? readMessageList(list, notes)
    : list === undefined
      ? []
      : readMessage(list, notes);
  // Anthropic's and OpenAI's own clients give instructions beside the messages
  const system = inputs["system"] ?? inputs["instructions"] ?? inputs["systemInstruction"];
  const first =
    system == null ? [] : readMessage({ role: "system", ...(isObject(system) ? system : { content: system }) }, notes);
  if (messages.length > 0) return [...first, ...messages];
  notes.add("the inputs have no messages: they are shown as JSON");
  return [...first, { role: "user", content: JSON.stringify(inputs) }];
}

function readOptions(request: Json, notes: Set<string>) {
  const {
    tools,
    functions,
    tool_choice,
    toolChoice,
    toolConfig,
    response_format,
    format,
    text: textOptions,
    ...others
  } = request;
  const nested = ["inferenceConfig", "generationConfig", "options"].map((name) => others[name]).filter(isObject);
  const rest: Json = Object.assign({}, ...nested, others);
  for (const name of ["inferenceConfig", "generationConfig", "options", "instructions"]) delete rest[name];
  const config = isObject(toolConfig) ? toolConfig : {};
  const list = [tools, config["tools"], functions].find((each) => Array.isArray(each)) as unknown[] | undefined;
  const read = (list ?? []).flatMap((each) => readTools(each, notes));
  const formats = [response_format, isObject(textOptions) ? textOptions["format"] : undefined, format];
  const schema = formats.map(readSchema).find(Boolean) ?? readSchema(rest["responseSchema"]);
  delete rest["responseSchema"];
  delete rest["responseMimeType"];
  return { tools: read, toolChoice: readToolChoice(tool_choice ?? toolChoice ?? config["toolChoice"]), schema, rest };
}

/** Reads tools in the formats of OpenAI, Anthropic, Gemini and Bedrock. */
function readTools(value: unknown, notes: Set<string>): Tool[] {
  if (!isObject(value)) return [];
  const declarations = value["functionDeclarations"];
  if (Array.isArray(declarations)) return declarations.flatMap((each: unknown) => readTools(each, notes));
  const spec = isObject(value["toolSpec"])
    ? value["toolSpec"]
    : isObject(value["function"])
      ? value["function"]
      : value;
  const input = spec["inputSchema"];
  const parameters = spec["parameters"] ?? spec["input_schema"] ?? (isObject(input) ? input["json"] : undefined);
  const { name, description } = spec;
  const read = tool.safeParse({
    name,
    ...(description != null && { description }),
    ...(parameters != null && { parameters }),
  });
  if (read.success) return [read.data];
  notes.add(`the tool ${JSON.stringify(name ?? value["type"] ?? null).slice(0, 80)} was left out: it is no function`);
  return [];
}

function readSchema(value: unknown): Json | undefined {
  if (!isObject(value)) return undefined;
  const inner = isObject(value["json_schema"]) ? value["json_schema"] : value;
  const schema = inner["schema"] ?? (inner["properties"] ? inner : undefined);
  if (!isObject(schema)) return undefined;
  const title = text(inner["name"]);
  return { ...(title !== undefined && { title }), ...schema };
}

function fromMetadata(metadata: Json): Json {
  const { ls_temperature: temperature, ls_max_tokens: max, ls_stop: stop } = metadata;
  return {
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof max === "number" && { max_tokens: max }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop }),
  };
}

function readCommit({ lc_hub_owner: owner, lc_hub_repo: repo, lc_hub_commit_hash: hash }: Json) {
  if (typeof repo !== "string" || typeof hash !== "string") return null;
  return { owner: text(owner) ?? "-", repo, commit_hash: hash };
}

function readOutput(outputs: Json, notes: Set<string>) {
  const generations = Array.isArray(outputs["generations"]) ? (outputs["generations"] as unknown[]).flat() : [];
  const [generation] = generations;
  const choices = Array.isArray(outputs["choices"]) ? (outputs["choices"] as unknown[]) : [];
  const choice = isObject(choices[0]) ? choices[0]["message"] : undefined;
  const list = Array.isArray(outputs["messages"]) ? (outputs["messages"] as unknown[]) : [];
  const items = Array.isArray(outputs["output"]) ? (outputs["output"] as unknown[]) : [];
  const own = outputs["content"] === undefined ? undefined : { role: "assistant", ...outputs };
  const candidates = [
    isObject(generation) ? (generation["message"] ?? generation["text"]) : undefined,
    choice,
    outputs["message"],
    list.at(-1),
    items.find((item) => isObject(item) && item["type"] === "message"),
    own,
  ];
  const found = candidates.find((each) => each != null);
  const [message] = found === undefined ? [] : readMessage(found, notes);
  return message ? { message: { ...message, role: "assistant" as const } } : null;
}

function readNumbers(row: CallRow) {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = row;
  const { prompt_cost: prompt, completion_cost: completion, total_cost: cost } = row;
  const usage = { input_tokens: input ?? 0, output_tokens: output ?? 0, total_tokens: total ?? 0 };
  return {
    usage: total === null ? null : usage,
    cost: cost === null ? null : { prompt: prompt ?? "0", completion: completion ?? "0", total: cost },
    latency_ms: row.latency_ms,
  };
}
