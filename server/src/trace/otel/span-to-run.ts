import { AppError } from "../../base/errors.ts";
import { JsonStructure, SMALL_JSON } from "../../base/json-structure.ts";
import { isUuid } from "../../base/ids.ts";
import { RUN_TYPES } from "../run-rows/run-types.ts";
import { isControlFlow } from "../ingest/control-flow.ts";
import type { RunMessage } from "../ingest/run-piece.ts";
import { fromMicros } from "../run-rows/times.ts";
import { isObject, mayBeJson, parsed, recordReads, textAttribute } from "./attributes.ts";
import { fromEvents } from "./event-messages.ts";
import { embedding, messages, retrieval, values, vercel } from "./messages.ts";
import type { Attributes, OtelSpan } from "./otel-span.ts";
import { spanExtra } from "./span-extra.ts";
import { hasOwnUsage, spanUsage } from "./usage.ts";

type Json = Record<string, unknown>;

export interface SpanRun {
  message: RunMessage;
  attachments: { name: string; type: string; content: Buffer }[];
}

/**
 * Converts a span to a run, by the attributes of OpenTelemetry's GenAI conventions, OpenInference and Traceloop.
 *
 * A run's id is the span's id after eight zero bytes, its trace's id is the trace id. So, unlike elsewhere, a
 * root's id differs from its trace's: a child knows its trace and its parent, but not whether that is the root.
 * @param project project of the header, which takes precedence over the span's
 * @throws 400 for invalid ids
 */
export function spanToRun(sent: OtelSpan, project: string | undefined): SpanRun {
  // the kind is read from `sent`, so that its name is kept beside the type that it is mapped to
  checkTexts(sent);
  const kind = spanRunType(sent.attributes);
  const { read: attributes, unread } = recordReads(sent.attributes);
  const span: OtelSpan = { ...sent, attributes };
  const id = uuidAttribute(attributes, "langsmith.span.id") ?? spanUuid(span.spanId);
  const isRoot = attributes["langsmith.is_root"] === true || attributes["langsmith.is_root"] === "true";
  const parent =
    uuidAttribute(attributes, "langsmith.span.parent_id") ?? (span.parentSpanId && spanUuid(span.parentSpanId));
  const order = textAttribute(attributes, "langsmith.span.dotted_order");
  const { inputs, outputs } = inputsAndOutputs(span, kind);
  const error = spanError(span);
  const session = uuidAttribute(attributes, "langsmith.trace.session_id");
  const run: Json = {
    id,
    name: spanName(span, sent.attributes),
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
    status: error === undefined ? "success" : leftOnPurpose(span) ? "interrupted" : "error",
  };
  const attachments = spanAttachments(attributes);
  const usage = hasOwnUsage(sent.attributes, span.kind) ? spanUsage(attributes, sent.attributes) : undefined;
  // capturing content is off by default in OpenTelemetry, so usage often comes without outputs
  const extra = spanExtra(span, outputs ? undefined : usage, unread);
  const raw: RunMessage["raw"] = { extra: JSON.stringify(extra) };
  if (inputs) raw.inputs = JSON.stringify(inputs);
  if (outputs) raw.outputs = JSON.stringify(usage ? { ...outputs, usage_metadata: usage } : outputs);
  if (error !== undefined) raw.error = JSON.stringify(error);
  if (span.events.length > 0) raw.events = JSON.stringify(spanEvents(span));
  return { message: { kind: "post", id, run, raw }, attachments };
}

/**
 * Counts the JSON in the texts of a span, which is decoded where a rule expects values. The texts themselves are single
 * values to the counter of the elements of the request. @throws 413 when it would take too much memory
 */
function checkTexts({ attributes, events }: OtelSpan): void {
  const structure = new JsonStructure(IN_TEXTS);
  const rest: unknown[] = [attributes, ...events.map((event) => event.attributes)];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") {
      if (value.length > SMALL_JSON && mayBeJson(value)) structure.next().add(Buffer.from(value));
    } else if (value !== null && typeof value === "object") {
      for (const inner of Object.values(value)) rest.push(inner);
    }
  }
}

const IN_TEXTS = { maxBytes: 16 * 1024 * 1024 };

/** Reads each side from the first source that has it; the sources after it are left unread. */
function inputsAndOutputs(span: OtelSpan, kind: string): { inputs: Json | undefined; outputs: Json | undefined } {
  const inEvents = fromEvents(span);
  const sources = [
    ...(kind === "retriever" ? [retrieval] : []),
    ...(kind === "embedding" ? [embedding] : []),
    messages,
    vercel,
    values,
  ];
  const first = (side: "inputs" | "outputs"): Json | undefined => {
    for (const source of sources) {
      const found = source[side](span.attributes);
      if (found) return found;
    }
    return undefined;
  };
  return { inputs: inEvents.inputs ?? first("inputs"), outputs: inEvents.outputs ?? first("outputs") };
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
  retrieval: "retriever",
  invoke_agent: "chain",
  create_agent: "chain",
  invoke_workflow: "chain",
};
const KINDS: Record<string, string> = {
  tool: "tool",
  workflow: "chain",
  task: "chain",
  agent: "chain",
  chain: "chain",
  llm: "llm",
  retriever: "retriever",
  reranker: "retriever",
  embedding: "embedding",
  prompt: "prompt",
};

/** Types of the Vercel AI SDK's operations. The others enclose them. */
const vercelRunType = (operation: string): string => {
  if (operation === "ai.toolCall") return "tool";
  if (operation.endsWith(".doEmbed")) return "embedding";
  return /\.do[A-Z]/.test(operation) ? "llm" : "chain";
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
  if (kind) return KINDS[kind] ?? "chain";
  const vercel = textAttribute(attributes, "ai.operationId");
  if (vercel) return vercelRunType(vercel);
  return textAttribute(attributes, "gen_ai.request.model", "llm.model_name") ? "llm" : "chain";
}

/** Rule 4. */
function spanName({ attributes, name }: OtelSpan, sent: Attributes): string {
  const isTool = textAttribute(sent, "openinference.span.kind")?.toUpperCase() === "TOOL";
  return (
    textAttribute(attributes, "langsmith.trace.name", "traceloop.entity.name", "ai.toolCall.name") ??
    (isTool ? textAttribute(attributes, "tool.name") : undefined) ??
    (name || "span")
  ).slice(0, 4096);
}

const MAX_TAGS = 1000;

/** Rule 13. */
function spanTags(attributes: Attributes): string[] | undefined {
  const value = attributes["langsmith.span.tags"];
  const tags = Array.isArray(value) ? value.map(String) : typeof value === "string" ? value.split(",", MAX_TAGS) : [];
  const trimmed = tags.map((tag) => tag.trim()).filter((tag) => tag !== "");
  return trimmed.length > 0 ? trimmed.slice(0, MAX_TAGS) : undefined;
}

const isException = ({ name }: OtelSpan["events"][number]): boolean => name === "exception";

/** Rule 15; a status without an exception has only its message. */
function spanError({ events, isError, statusMessage }: OtelSpan): string | undefined {
  const exception = events.findLast(isException);
  if (!exception) return isError ? statusMessage || "Error" : undefined;
  const message = textAttribute(exception.attributes, "exception.message", "exception.type") ?? "Exception";
  const trace = textAttribute(exception.attributes, "exception.stacktrace");
  return trace ? `${message}\n\nStacktrace:\n${trace}` : message;
}

const leftOnPurpose = ({ events }: OtelSpan): boolean =>
  isControlFlow(textAttribute(events.findLast(isException)?.attributes ?? {}, "exception.type") ?? "");

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
