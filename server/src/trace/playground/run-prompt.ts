import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import type { CallEvent, CallOrder } from "../models/call-model.ts";
import type { ModelAnswer, ModelRequest } from "../models/stream-model.ts";
import { type RequestSecrets, resolveConnection } from "../models/resolve-connection.ts";
import { ADAPTERS } from "../models/adapters.ts";
import type { PreparedPrompt } from "./prepare-prompt.ts";
import { renderPrompt } from "./prompt.ts";
import type { StreamBody } from "./schema.ts";
import type { WireEvent } from "../../base/events/event-stream.ts";

type Options = Pick<StreamBody, "tools" | "tool_choice" | "parallel_tool_calls" | "response_schema" | "model">;

/** Resolves the model of a prompt. @throws like `resolveConnection`, and 422 when none is named */
export async function resolveModel(
  deps: Pick<TraceDeps, "sql" | "secrets">,
  tenantId: string,
  { model: bound }: PreparedPrompt,
  given: StreamBody["model"],
  secrets?: RequestSecrets,
) {
  if (!given && !bound) throw unprocessable("model: required, since the prompt binds none");
  // a connection of the request for the model of the prompt
  const isBoundModel = given && bound && given.model == null;
  const merged = isBoundModel
    ? { ...given, model: bound.model, parameters: { ...bound.parameters, ...given.parameters } }
    : (given ?? bound!);
  return resolveConnection(deps, tenantId, merged, secrets);
}

/** Builds a call's request of a prompt and its options; those of the request take precedence. */
export function buildRequest(
  connection: ModelRequest["connection"],
  prepared: PreparedPrompt,
  variables: Record<string, unknown>,
  options: Options,
): ModelRequest {
  const tools = options.tools.length > 0 ? options.tools : prepared.tools;
  const toolChoice = options.tool_choice ?? prepared.toolChoice;
  const { provider } = connection;
  if (toolChoice !== undefined && tools.length === 0) throw unprocessable("tool_choice: requires tools");
  if (toolChoice !== undefined && !["auto", "none", "any"].includes(toolChoice)) {
    const isKnown = tools.some(({ name }) => name === toolChoice);
    if (!isKnown) throw unprocessable(`tool_choice: must be auto, none, any or the name of a tool`);
  }
  if (toolChoice !== undefined && toolChoice !== "auto" && !provider.supports.tool_choice) {
    throw unprocessable(`tool_choice: ${provider.name} supports only "auto"`);
  }
  if (options.parallel_tool_calls != null && !ADAPTERS[provider.id].parallelToolCalls) {
    throw unprocessable(`parallel_tool_calls: ${provider.name} does not support it; leave it out`);
  }
  return {
    connection,
    messages: renderPrompt(prepared.prompt, variables),
    tools,
    toolChoice,
    parallelToolCalls: options.parallel_tool_calls ?? undefined,
    responseSchema: options.response_schema ?? prepared.responseSchema,
  };
}

/** Returns the metadata that links a run to its commit and its connection. */
export function runMetadata(
  { commit, edited }: PreparedPrompt,
  connection: ModelRequest["connection"],
  given: Record<string, unknown>,
): NonNullable<CallOrder["metadata"]> {
  return {
    ...given,
    heddle_source: "playground",
    ...(connection.id !== null && { heddle_connection_id: connection.id }),
    ...(commit && {
      lc_hub_owner: commit.owner,
      lc_hub_repo: commit.repo,
      lc_hub_commit_hash: commit.hash,
      ...(edited && { playground_edited: true }),
    }),
  };
}

/** Returns an answer's message as the API shows it. */
export const answerMessage = ({ content, tool_calls, invalid_tool_calls: invalid }: ModelAnswer) => ({
  role: "assistant" as const,
  content,
  tool_calls,
  ...(invalid.length > 0 && { invalid_tool_calls: invalid }),
});

/** Returns an event of a call as the API shows it. */
export function toWireEvent({ type, data }: CallEvent): WireEvent {
  if (type !== "end") return { event: type, data };
  const { answer, usage, cost, latency_ms, first_token_ms, run_id } = data;
  const { structured, structured_error, finish_reason, truncated } = answer;
  return {
    event: "end",
    data: {
      ...{ run_id, message: answerMessage(answer), structured, structured_error },
      ...{ usage, cost, latency_ms, first_token_ms, finish_reason, truncated },
    },
  };
}
