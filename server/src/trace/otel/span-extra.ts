/**
 * The extra of a span's run. Nothing of a span is lost: attributes that no rule
 * reads become metadata by their own names, and large or repeated contents are kept in `extra.otel.attributes`, where
 * they do not enlarge the metadata.
 */
import { firstAttribute, isObject, listed, parsed, textAttribute } from "./attributes.ts";
import type { Attributes, OtelSpan } from "./otel-span.ts";

type Json = Record<string, unknown>;

const INVOCATION = [
  ...["model", "temperature", "top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty", "seed"].map(
    (name) => `gen_ai.request.${name}`,
  ),
  ...["gen_ai.request.stop_sequences", "gen_ai.request.encoding_formats", "gen_ai.response.model"],
  ...["llm.presence_penalty", "llm.frequency_penalty", "llm.request.functions"],
];

/** Contents, which metadata would repeat when another attribute supplied the inputs or outputs. */
const CONTENT =
  /^(?:(?:input|output)\.value|(?:llm\.(?:input|output)_messages|gen_ai\.(?:prompt|completion))(?:\.|$)|gen_ai\.(?:input|output)\.messages|ai\.(?:prompt|response)\.|pydantic_ai\.all_messages)/;
/** Attributes that are values of the run. */
const MAPPED = new Set(["langsmith.span.kind", "langsmith.is_root"]);
const MAX_METADATA_TEXT = 2000;

export function spanExtra(
  { attributes, ...span }: OtelSpan,
  usage: Json | undefined,
  unread: () => [string, unknown][],
): Json {
  const invocation = invocationParams(attributes);
  const known = spanMetadata(attributes);
  const rest: Json = {};
  const contents: Json = {};
  for (const [name, value] of unread()) {
    if (MAPPED.has(name)) continue;
    const isContent = CONTENT.test(name) || (typeof value === "string" && value.length > MAX_METADATA_TEXT);
    (isContent ? contents : rest)[name] = value;
  }
  const otel = {
    ...(Object.keys(contents).length > 0 && { attributes: contents }),
    ...(span.links.length > 0 && { links: span.links.map(wireLink) }),
  };
  return {
    metadata: {
      ...span.resource,
      ...origin(span),
      ...rest,
      ...known,
      OTEL_TRACE_ID: span.traceId,
      OTEL_SPAN_ID: span.spanId,
      ...(usage && { usage_metadata: usage }),
    },
    ...(Object.keys(invocation).length > 0 && { invocation_params: invocation }),
    ...(Object.keys(otel).length > 0 && { otel }),
  };
}

function invocationParams(attributes: Attributes): Json {
  const params: Json = {};
  for (const name of INVOCATION) {
    const key = name.endsWith(".stop_sequences") ? "stop" : name.split(".").at(-1)!;
    // a second name of a parameter stays unread, and so becomes metadata
    if (params[key] === undefined && attributes[name] !== undefined) params[key] = attributes[name];
  }
  const invocation = parsed(attributes["llm.invocation_parameters"]);
  if (isObject(invocation)) Object.assign(params, invocation);
  const tools = attributes["tools"] ?? attributes["gen_ai.tool.definitions"] ?? spanTools(attributes);
  if (tools !== undefined) params["tools"] = parsed(tools);
  if (attributes["gen_ai.tool.name"] !== undefined) params["tool_name"] = attributes["gen_ai.tool.name"];
  if (attributes["tool_arguments"] !== undefined) params["tool_arguments"] = parsed(attributes["tool_arguments"]);
  return params;
}

function spanTools(attributes: Attributes): unknown[] | undefined {
  const tools = listed(attributes, "llm.tools").map(({ "tool.json_schema": schema, ...tool }) =>
    schema !== undefined && Object.keys(tool).length === 0 ? parsed(schema) : { ...tool, json_schema: parsed(schema) },
  );
  const functions = listed(attributes, "llm.request.functions").map(({ parameters, ...definition }) => ({
    ...definition,
    ...(parameters !== undefined && { parameters: parsed(parameters) }),
  }));
  const vercel = attributes["ai.prompt.tools"];
  const found = [...tools, ...functions, ...(Array.isArray(vercel) ? vercel.map(parsed) : [])];
  return found.length > 0 ? found : undefined;
}

function spanMetadata(attributes: Attributes): Json {
  const metadata: Json = {};
  const whole = parsed(attributes["metadata"]);
  if (isObject(whole)) Object.assign(metadata, whole);
  else if (whole !== undefined) metadata["metadata"] = whole;
  for (const name of Object.keys(attributes)) {
    const key = /^(?:traceloop\.association\.properties|langsmith\.metadata|ai\.telemetry\.metadata)\.(.+)$/.exec(
      name,
    )?.[1];
    if (key) metadata[key] = attributes[name];
  }
  // threads: OpenInference's session, GenAI's conversation, what users of the Vercel AI SDK call theirs
  const conversation = firstAttribute(attributes, "gen_ai.conversation.id");
  if (conversation !== undefined) metadata["conversation_id"] ??= conversation;
  const telemetry = "ai.telemetry.metadata";
  const session = firstAttribute(attributes, "session.id", `${telemetry}.sessionId`, `${telemetry}.threadId`);
  if (session !== undefined) metadata["session_id"] ??= session;
  const provider = textAttribute(
    attributes,
    "gen_ai.system",
    "gen_ai.provider.name",
    "llm.system",
    "llm.provider",
    "ai.model.provider",
  );
  if (provider !== undefined) metadata["ls_provider"] = provider;
  const model = textAttribute(
    attributes,
    "gen_ai.request.model",
    "gen_ai.response.model",
    "model",
    "llm.model_name",
    "embedding.model_name",
    "reranker.model_name",
    "ai.model.id",
  );
  if (model !== undefined) metadata["ls_model_name"] = model;
  return metadata;
}

/** Describes where the span comes from, beside its resource. */
function origin({ scope, kind, traceState, dropped }: Omit<OtelSpan, "attributes">): Json {
  const counts = Object.entries(dropped).flatMap(([name, count]) =>
    count === undefined ? [] : [[`otel.dropped_${name}_count`, count] as const],
  );
  return {
    ...(scope.name !== "" && { "otel.scope.name": scope.name }),
    ...(scope.version !== "" && { "otel.scope.version": scope.version }),
    ...scope.attributes,
    ...(kind > 1 && { "otel.span.kind": ["SERVER", "CLIENT", "PRODUCER", "CONSUMER"][kind - 2] ?? String(kind) }),
    ...(traceState !== "" && { "otel.trace_state": traceState }),
    ...Object.fromEntries(counts),
  };
}

const wireLink = ({ traceId, spanId, traceState, attributes }: OtelSpan["links"][number]): Json => ({
  trace_id: traceId,
  span_id: spanId,
  ...(traceState !== "" && { trace_state: traceState }),
  ...(Object.keys(attributes).length > 0 && { attributes }),
});
