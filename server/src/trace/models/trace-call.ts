import type { Principal } from "../../base/auth/principal.ts";
import type { TraceDeps } from "../deps.ts";
import { ingestRuns, onlyRuns } from "../ingest/ingest-runs.ts";
import { readSingle } from "../ingest/read-messages.ts";
import type { Message, ToolCall } from "./message-schema.ts";
import type { ModelAnswer, ModelRequest } from "./stream-model.ts";

/** Run of a call, as LangChain's own tracer would send it. */
export interface CallRun {
  id: string;
  name: string;
  projectId: string;
  startedAt: Date;
  tags: string[];
  metadata: Record<string, unknown>;
  referenceExampleId?: string | undefined;
  hidesContent?: boolean | undefined;
}

/** Replaces a text by its size. */
const sizeOf = (content: unknown): string =>
  `[${(typeof content === "string" ? content : JSON.stringify(content)).length} characters, not recorded]`;

/** Stores the create or the update of a run. */
export type WriteRun = (kind: "post" | "patch", run: object) => Promise<void>;

/** Returns the function that stores runs as if the caller had sent them. */
export const runWriter =
  (deps: TraceDeps, principal: Principal): WriteRun =>
  (kind, run) =>
    ingestRuns(deps, principal, onlyRuns([readSingle(JSON.stringify(run), kind)]));

/** Stores the start of a call's run. */
export function storeStart(write: WriteRun, run: CallRun, request: ModelRequest): Promise<void> {
  const { connection, messages, tools, toolChoice, responseSchema, parallelToolCalls } = request;
  const { provider, model, parameters } = connection;
  return write("post", {
    id: run.id,
    trace_id: run.id,
    name: run.name,
    run_type: "llm",
    session_id: run.projectId,
    start_time: run.startedAt.toISOString(),
    tags: run.tags,
    ...(run.referenceExampleId !== undefined && { reference_example_id: run.referenceExampleId }),
    inputs: {
      messages: [
        messages.map((message) =>
          toConstructor(run.hidesContent ? { ...message, content: sizeOf(message.content) } : message),
        ),
      ],
    },
    extra: {
      metadata: {
        ...run.metadata,
        ls_provider: provider.lsProvider,
        ls_model_name: model,
        ls_model_type: "chat",
        ...(parameters["temperature"] !== undefined && { ls_temperature: parameters["temperature"] }),
        ...(parameters["max_tokens"] !== undefined && { ls_max_tokens: parameters["max_tokens"] }),
      },
      invocation_params: {
        model,
        ...parameters,
        ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
        ...(toolChoice !== undefined && { tool_choice: toolChoice }),
        ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
        ...(responseSchema && {
          response_format: {
            type: "json_schema",
            json_schema: { name: responseSchema["title"] ?? "answer", schema: responseSchema },
          },
        }),
      },
    },
  });
}

/** Stores the end of a call's run. */
export function storeEnd(
  write: WriteRun,
  { id, hidesContent }: CallRun,
  end: { answer: Partial<ModelAnswer>; error?: string | undefined; firstTokenAt: Date | undefined },
): Promise<void> {
  const { tool_calls: found = [], usage, finish_reason: reason = null } = end.answer;
  const { firstTokenAt, error } = end;
  const given = end.answer.content ?? "";
  const content = hidesContent && given !== "" ? sizeOf(given) : given;
  const calls = hidesContent ? found.map((call) => ({ ...call, args: {} })) : found;
  const message = toConstructor({ role: "assistant", content, tool_calls: calls });
  Object.assign(message.kwargs, {
    response_metadata: { finish_reason: reason },
    ...(usage && { usage_metadata: usage }),
  });
  return write("patch", {
    id,
    end_time: new Date().toISOString(),
    status: error === undefined ? "success" : "error",
    ...(error !== undefined && { error }),
    outputs: { generations: [[{ text: content, message }]] },
    ...(firstTokenAt && { events: [{ name: "new_token", time: firstTokenAt.toISOString() }] }),
  });
}

const CLASSES = { system: "SystemMessage", user: "HumanMessage", assistant: "AIMessage", tool: "ToolMessage" } as const;

/** Serializes a message as LangChain does. */
function toConstructor({ role, content, tool_calls: calls, tool_call_id: callId, name }: Message) {
  return {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", CLASSES[role]],
    kwargs: {
      content,
      ...(calls && calls.length > 0 && { tool_calls: calls.map(toCall) }),
      ...(callId !== undefined && { tool_call_id: callId }),
      ...(name !== undefined && { name }),
    } as Record<string, unknown>,
  };
}

const toCall = ({ id, name, args }: ToolCall) => ({ type: "tool_call", id, name, args });
