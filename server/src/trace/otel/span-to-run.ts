import { AppError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import { RUN_TYPES } from "../ingest/read-piece.ts";
import type { RunMessage } from "../ingest/run-piece.ts";
import { fromMicros } from "../run-rows/times.ts";
import { firstAttribute, isObject, listed, parsed, textAttribute } from "./attributes.ts";
import { fromEvents, fromMessages, fromRetriever, fromValues, type InputsOutputs } from "./messages.ts";
import type { Attributes, OtelSpan } from "./otel-span.ts";

type Json = Record<string, unknown>;

export interface SpanRun {
  message: RunMessage;
  attachments: { name: string; type: string; content: Buffer }[];
}

/**
 * Converts a span to a run, by the attributes of OpenTelemetry's GenAI conventions, OpenInference and Traceloop
 * (contract §2.3, in its order of rules).
 *
 * A run's id is the span's id after eight zero bytes, its trace's id is the trace id (§2.2). So, unlike elsewhere, a
 * root's id differs from its trace's: a child knows its trace and its parent, but not whether that is the root.
 * @param project project of the header, which takes precedence over the span's
 * @throws 400 for invalid ids
 */
export function spanToRun(span: OtelSpan, project: string | undefined): SpanRun {
  const { attributes } = span;
  const id = uuidAttribute(attributes, "langsmith.span.id") ?? spanUuid(span.spanId);
  const isRoot = attributes["langsmith.is_root"] === true || attributes["langsmith.is_root"] === "true";
  const parent =
    uuidAttribute(attributes, "langsmith.span.parent_id") ?? (span.parentSpanId && spanUuid(span.parentSpanId));
  const order = textAttribute(attributes, "langsmith.span.dotted_order");
  const kind = spanRunType(attributes);
  const { inputs, outputs } = inputsAndOutputs(span, kind);
  const error = spanError(span);
  const session = uuidAttribute(attributes, "langsmith.trace.session_id");
  const run: Json = {
    id,
    name: spanName(span),
    run_type: kind,
    start_time: wireTime(span.start),
    end_time: wireTime(span.end),
    trace_id: order ? undefined : (uuidAttribute(attributes, "langsmith.trace.id") ?? traceUuid(span.traceId)),
    parent_run_id: isRoot ? undefined : parent,
    dotted_order: order,
    session_id: project === undefined ? session : undefined,
    session_name: project ?? textAttribute(attributes, "langsmith.trace.session_name", "langsmith.trace.project_name"),
    reference_example_id: uuidAttribute(attributes, "langsmith.reference_example_id"),
    tags: spanTags(attributes),
    status: error === undefined ? "success" : "error",
  };
  const raw: RunMessage["raw"] = { extra: JSON.stringify(spanExtra(span)) };
  if (inputs) raw.inputs = JSON.stringify(inputs);
  const usage = outputs && spanUsage(attributes);
  if (outputs) raw.outputs = JSON.stringify(usage ? { ...outputs, usage_metadata: usage } : outputs);
  if (error !== undefined) raw.error = JSON.stringify(error);
  if (span.events.length > 0) raw.events = JSON.stringify(spanEvents(span));
  return { message: { kind: "post", id, run, raw }, attachments: spanAttachments(attributes) };
}

function inputsAndOutputs(span: OtelSpan, kind: string): InputsOutputs {
  const result: InputsOutputs = {};
  const sources = [fromEvents, ...(kind === "retriever" ? [fromRetriever] : []), fromMessages, fromValues];
  for (const source of sources) {
    const { inputs, outputs } = source(span);
    if (inputs) result.inputs ??= inputs;
    if (outputs) result.outputs ??= outputs;
  }
  return result;
}

/** OpenTelemetry's invalid id; runs with it would all form one trace. */
const NONE = /^0+$/;

const spanUuid = (spanId: string): string => {
  if (NONE.test(spanId)) throw new AppError(400, "a span id must not be all zeros");
  if (!/^[0-9a-f]{16}$/.test(spanId)) throw new AppError(400, `span id ${JSON.stringify(spanId)} is not 8 bytes`);
  return `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
};

const traceUuid = (traceId: string): string => {
  if (NONE.test(traceId)) throw new AppError(400, "a trace id must not be all zeros");
  if (!/^[0-9a-f]{32}$/.test(traceId)) throw new AppError(400, `trace id ${JSON.stringify(traceId)} is not 16 bytes`);
  return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

/** Returns an id given as an attribute; invalid UUIDs are ignored. */
function uuidAttribute(attributes: Attributes, name: string): string | undefined {
  const value = attributes[name];
  return typeof value === "string" && isUuid(value) ? value.toLowerCase() : undefined;
}

const wireTime = (micros: number): string | undefined => (micros > 0 ? fromMicros(micros) : undefined);

const OPERATIONS: Record<string, string> = {
  chat: "llm",
  completion: "llm",
  text_completion: "llm",
  generate_content: "llm",
  embedding: "embedding",
  embeddings: "embedding",
  execute_tool: "tool",
};
const KINDS: Record<string, string> = {
  tool: "tool",
  workflow: "chain",
  task: "chain",
  agent: "chain",
  chain: "chain",
  llm: "llm",
  retriever: "retriever",
  embedding: "embedding",
};

/** Rule 3. */
function spanRunType(attributes: Attributes): string {
  if (textAttribute(attributes, "llm.prompt_template.variables")) return "prompt";
  if (textAttribute(attributes, "gen_ai.tool.name")) return "tool";
  const declaredKind = textAttribute(attributes, "langsmith.span.kind")?.toLowerCase();
  if (RUN_TYPES.some((type) => type === declaredKind)) return declaredKind!;
  const operation = OPERATIONS[textAttribute(attributes, "gen_ai.operation.name")?.toLowerCase() ?? ""];
  if (operation) return operation;
  const request = textAttribute(attributes, "llm.request.type")?.toLowerCase();
  if (request) return request.startsWith("embedding") ? "embedding" : "llm";
  const kind = textAttribute(attributes, "openinference.span.kind", "traceloop.span.kind")?.toLowerCase();
  return (kind && KINDS[kind]) ?? "chain";
}

/** Rule 4. */
function spanName({ attributes, name }: OtelSpan): string {
  const isTool = textAttribute(attributes, "openinference.span.kind")?.toUpperCase() === "TOOL";
  return (
    textAttribute(attributes, "langsmith.trace.name", "traceloop.entity.name") ??
    (isTool ? textAttribute(attributes, "tool.name") : undefined) ??
    (name || "span")
  ).slice(0, 4096);
}

/** Rule 13. */
function spanTags(attributes: Attributes): string[] | undefined {
  const value = attributes["langsmith.span.tags"];
  const tags = Array.isArray(value) ? value.map(String) : typeof value === "string" ? value.split(",") : [];
  const trimmed = tags.map((tag) => tag.trim()).filter((tag) => tag !== "");
  return trimmed.length > 0 ? trimmed.slice(0, 1000) : undefined;
}

/** Rule 15; a status without an exception has only its message. */
function spanError({ events, isError, statusMessage }: OtelSpan): string | undefined {
  const exception = events.findLast((event) => event.name === "exception");
  if (!exception) return isError ? statusMessage || "Error" : undefined;
  const message = textAttribute(exception.attributes, "exception.message", "exception.type") ?? "Exception";
  const trace = textAttribute(exception.attributes, "exception.stacktrace");
  return trace ? `${message}\n\nStacktrace:\n${trace}` : message;
}

const INVOCATION = [
  ...["model", "temperature", "top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty", "seed"].map(
    (name) => `gen_ai.request.${name}`,
  ),
  ...["gen_ai.request.stop_sequences", "gen_ai.request.encoding_formats", "gen_ai.response.model"],
  ...["llm.presence_penalty", "llm.frequency_penalty", "llm.request.functions"],
];

/** Rules 1, 6, 7 and 12. */
function spanExtra({ attributes, resource, traceId, spanId }: OtelSpan): Json {
  const params: Json = {};
  for (const name of INVOCATION) {
    const key = name.split(".").at(-1)!;
    if (attributes[name] !== undefined) params[key === "stop_sequences" ? "stop" : key] ??= attributes[name];
  }
  const invocation = parsed(attributes["llm.invocation_parameters"]);
  if (isObject(invocation)) Object.assign(params, invocation);
  const tools = attributes["tools"] ?? attributes["gen_ai.tool.definitions"] ?? spanTools(attributes);
  if (tools !== undefined) params["tools"] = parsed(tools);
  if (attributes["gen_ai.tool.name"] !== undefined) params["tool_name"] = attributes["gen_ai.tool.name"];
  if (attributes["tool_arguments"] !== undefined) params["tool_arguments"] = parsed(attributes["tool_arguments"]);
  return {
    metadata: { ...resource, ...spanMetadata(attributes), OTEL_TRACE_ID: traceId, OTEL_SPAN_ID: spanId },
    ...(Object.keys(params).length > 0 && { invocation_params: params }),
  };
}

function spanTools(attributes: Attributes): unknown[] | undefined {
  const tools = listed(attributes, "llm.tools").map((tool) => parsed(tool["tool.json_schema"]));
  return tools.length > 0 ? tools : undefined;
}

function spanMetadata(attributes: Attributes): Json {
  const metadata: Json = {};
  const whole = parsed(attributes["metadata"]);
  if (isObject(whole)) Object.assign(metadata, whole);
  for (const [name, value] of Object.entries(attributes)) {
    const key = /^(?:traceloop\.association\.properties|langsmith\.metadata)\.(.+)$/.exec(name)?.[1];
    if (key) metadata[key] = value;
  }
  // threads: OpenInference's session, GenAI's conversation
  const conversation = firstAttribute(attributes, "gen_ai.conversation.id");
  if (conversation !== undefined) metadata["conversation_id"] ??= conversation;
  const session = firstAttribute(attributes, "session.id");
  if (session !== undefined) metadata["session_id"] ??= session;
  const provider = textAttribute(attributes, "gen_ai.system", "gen_ai.provider.name", "llm.system", "llm.provider");
  if (provider !== undefined) metadata["ls_provider"] = provider;
  const model = textAttribute(attributes, "gen_ai.request.model", "gen_ai.response.model", "model", "llm.model_name");
  if (model !== undefined) metadata["ls_model_name"] = model;
  return metadata;
}

/** Rule 14. */
function spanUsage(attributes: Attributes): Json | undefined {
  const whole = parsed(attributes["langsmith.usage_metadata"]);
  if (isObject(whole)) return whole;
  const number = (...names: string[]) => {
    const value = Number(firstAttribute(attributes, ...names) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const input = number("gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens", "llm.token_count.prompt");
  const output = number("gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens", "llm.token_count.completion");
  const total = number("gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total");
  const details = (name: string, ...counts: [string, string[]][]) => {
    const details = parsed(attributes[`gen_ai.usage.${name}`]);
    const found = counts.flatMap(([key, names]) => (number(...names) === undefined ? [] : [[key, number(...names)]]));
    const merged = { ...(Object.fromEntries(found) as Json), ...(isObject(details) && details) };
    return Object.keys(merged).length > 0 ? { [name]: merged } : {};
  };
  const usage: Json = {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(total !== undefined && { total_tokens: total }),
    ...details("input_token_details", [
      "cache_read",
      [
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
      ],
    ]),
    ...details("output_token_details", [
      "reasoning",
      ["gen_ai.usage.details.reasoning_tokens", "llm.token_count.completion_details.reasoning"],
    ]),
  };
  return Object.keys(usage).length > 0 ? usage : undefined;
}

function spanEvents({ events }: OtelSpan): Json[] {
  return events.map(({ name, time, attributes }) => ({
    name,
    time: wireTime(time)?.replace(" ", "T"),
    ...(Object.keys(attributes).length > 0 && { kwargs: attributes }),
  }));
}

/** Rule 16: `[{name, content (base64), mime_type}]`. */
function spanAttachments(attributes: Attributes): SpanRun["attachments"] {
  const list = parsed(attributes["langsmith.attachments"]);
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap(({ name, content, mime_type }) =>
    typeof name === "string" && typeof content === "string"
      ? [
          {
            name,
            type: typeof mime_type === "string" ? mime_type : "application/octet-stream",
            content: Buffer.from(content, "base64"),
          },
        ]
      : [],
  );
}
