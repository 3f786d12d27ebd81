import type { Context } from "hono";

import { forbidden, notFound, unprocessable } from "../../base/errors.ts";
import {
  answerRpc,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  rpcAnswer,
  RpcError,
  rpcFailure,
  type RpcId,
  rpcParams,
  type RpcRequest,
  rpcResult,
} from "../../base/http/json-rpc.ts";
import { outerUrl } from "../../base/http/outer-url.ts";
import { rawJson } from "../../base/http/route.ts";
import { slowJson } from "../../base/http/slow-json.ts";
import { resolveAssistantId } from "../project/assistant-id.ts";
import { findAssistant } from "../assistants/sql.ts";
import { agentRoute, type AgentRoute } from "../custom-auth/agent-route.ts";
import { mayUseAssistant } from "../custom-auth/authorize-run.ts";
import type { AgentDeps } from "../deps.ts";
import type { Principal } from "../../base/auth/principal.ts";
import { requireCancellation } from "../runs/cancel-run.ts";
import { acceptedStream } from "../runs/read-run.ts";
import { rejectSelfWait } from "../runs/self-wait.ts";
import { buildCard } from "./agent-card.ts";
import { notCancelable, taskNotFound } from "./errors.ts";
import { findTask } from "./find-task.ts";
import { inputModes } from "./input-modes.ts";
import { type Generation, serializeSendResult, serializeTaskResult } from "./generation.ts";
import { agentCard, assistantParams, cardQuery, listParams, sendParams, taskParams } from "./schema.ts";
import { type Caller, sendMessage } from "./send-message.ts";
import { markCancelled, countTasks, selectTasks } from "./sql.ts";
import { streamTask } from "./stream-task.ts";
import { type History, taskState, serializeTask } from "./task.ts";

/** Method names of both generations; unknown methods answer -32601. */
const METHODS: Record<string, { does: string; generation: Generation }> = {
  SendMessage: { does: "send", generation: "1.0" },
  SendStreamingMessage: { does: "stream", generation: "1.0" },
  GetTask: { does: "get", generation: "1.0" },
  CancelTask: { does: "cancel", generation: "1.0" },
  ListTasks: { does: "list", generation: "1.0" },
  GetExtendedAgentCard: { does: "card", generation: "1.0" },
  "message/send": { does: "send", generation: "0.3" },
  "message/stream": { does: "stream", generation: "0.3" },
  "tasks/get": { does: "get", generation: "0.3" },
  "tasks/cancel": { does: "cancel", generation: "0.3" },
  "tasks/list": { does: "list", generation: "0.3" },
  "agent/getAuthenticatedExtendedCard": { does: "card", generation: "0.3" },
};

const PAGE = 50;
const SSE = "text/event-stream";

interface Assistant {
  assistant_id: string;
  graph_id: string;
  name: string;
  description: string | null;
}

/** A2A over JSON-RPC, per assistant. */
export function a2aRoutes(deps: AgentDeps): AgentRoute[] {
  async function requireAssistant(id: string, principal: Principal): Promise<Assistant> {
    const assistantId = resolveAssistantId(deps.project, id);
    const found = assistantId === undefined ? undefined : await findAssistant(deps.sql, assistantId);
    if (found === undefined || !(await mayUseAssistant(deps, principal, assistantId!))) {
      throw notFound("Assistant not found");
    }
    return JSON.parse(found) as Assistant;
  }

  const prefix = deps.settings.mountPrefix ?? deps.project.config.http.mount_prefix ?? "";
  const card = async (c: Context, assistant: Assistant) => {
    const modes = await inputModes(deps, assistant.graph_id);
    if (modes.length === 0) throw notFound("The graph's input is not an object, so it accepts no A2A messages.");
    const { protocol = "http:", host, prefix: outer } = outerUrl(c);
    const base = `${protocol}//${host}${outer}${prefix}`;
    return buildCard(assistant, deps.project.graphs[assistant.graph_id]?.description, base, modes);
  };

  const protocol = { log: deps.log, name: "A2A" };
  async function call(request: RpcRequest, c: Context, assistant: Assistant, principal: Principal): Promise<Response> {
    const { id, method, params } = request;
    const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
    if (!known) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    if (known.does === "card") return rawJson(rpcResult(id, await card(c, assistant)));
    const { assistant_id: assistantId, graph_id: graphId } = assistant;
    const caller = { assistantId, graphId, principal, headers: c.req.raw.headers };
    return HANDLERS[known.does]!(deps, { id, generation: known.generation, params, caller, c });
  }

  return [
    agentRoute({
      tag: "A2A",
      method: "POST",
      path: "/a2a/:assistant_id",
      permission: "runs:read",
      audit: "data",
      auth: "handler",
      summary: "Send an A2A request to an assistant",
      params: assistantParams,
      reads: ["application/json"],
      out: { 200: [rpcAnswer, SSE], 400: rpcAnswer },
      errors: [404, 413],
      async handler({ params, principal, c }) {
        const assistant = await requireAssistant(params.assistant_id, principal);
        return answerRpc(c, protocol, (request) => call(request, c, assistant, principal));
      },
    }),
    agentRoute({
      tag: "A2A",
      method: "GET",
      path: "/.well-known/agent-card.json",
      permission: "assistants:read",
      auth: "handler",
      summary: "Get an assistant's agent card",
      query: cardQuery,
      out: { 200: agentCard },
      errors: [404],
      async handler({ query, principal, c }) {
        const graphs = Object.keys(deps.project.graphs);
        const id = query.assistant_id ?? (graphs.length === 1 ? graphs[0]! : undefined);
        if (id === undefined) throw unprocessable(`assistant_id is required, for example ?assistant_id=${graphs[0]}`);
        return c.json(await card(c, await requireAssistant(id, principal)));
      },
    }),
  ];
}

interface Call {
  id: RpcId;
  generation: Generation;
  params: unknown;
  caller: Caller;
  c: Context;
}

const HANDLERS: Record<string, (deps: AgentDeps, call: Call) => Promise<Response>> = {
  send,
  stream: sendAndStream,
  get,
  cancel,
  list,
};

async function send(deps: AgentDeps, { id, generation, params, caller, c }: Call): Promise<Response> {
  const sending = rpcParams(sendParams, params);
  const history = readHistoryOptions(c, { ...sending, historyLength: sending.configuration?.historyLength });
  const { blocking, returnImmediately } = sending.configuration ?? {};
  const waits = blocking !== false && returnImmediately !== true;
  const { taskId, run } = await sendMessage(deps, caller, sending, waits ? unlessSelf(deps, c) : undefined);
  const result = async () =>
    rpcResult(id, serializeSendResult(generation, serializeTask(await findTask(deps, caller, taskId), history)));
  if (!waits) return rawJson(await result());
  const text = acceptedStream(deps, run).done.promise.then(result);
  // after a disconnect the task continues and can be polled
  return slowJson(text.catch((error: unknown) => rpcFailure(id, error)));
}

async function sendAndStream(deps: AgentDeps, { id, generation, params, caller, c }: Call): Promise<Response> {
  if (!(c.req.header("accept") ?? "").includes(SSE)) {
    throw new RpcError(INVALID_REQUEST, `The Accept header must include ${SSE}.`);
  }
  const sending = rpcParams(sendParams, params);
  const history = readHistoryOptions(c, { ...sending, historyLength: sending.configuration?.historyLength });
  const { taskId, run } = await sendMessage(deps, caller, sending, unlessSelf(deps, c));
  const stream = acceptedStream(deps, run);
  const task = async () => serializeTask(await findTask(deps, caller, taskId), history);
  const begun = { ...(await task()), artifacts: [] };
  begun.status = { state: "submitted", timestamp: begun.status.timestamp };
  return streamTask({ id, generation, begun, stream, ended: task });
}

const unlessSelf = (deps: AgentDeps, c: Context) => (threadId: string) => rejectSelfWait(deps.sql, c, threadId);

async function get(deps: AgentDeps, { id, generation, params, caller, c }: Call): Promise<Response> {
  const query = rpcParams(taskParams, params);
  const task = serializeTask(await findTask(deps, caller, query.id), readHistoryOptions(c, query));
  return rawJson(rpcResult(id, serializeTaskResult(generation, task)));
}

async function cancel(deps: AgentDeps, { id, generation, params, caller, c }: Call): Promise<Response> {
  const query = rpcParams(taskParams, params);
  if (!caller.principal.permissions.has("runs:create")) {
    throw forbidden("Forbidden: the permission runs:create is required.");
  }
  const row = await findTask(deps, caller, query.id);
  const { thread_id: threadId, run_id: runId } = row;
  const cancellation = { threadId, runId, action: "interrupt" } as const;
  await requireCancellation(deps, caller.principal, cancellation, taskNotFound(query.id));
  const state = taskState(row);
  if (state === "input-required") await markCancelled(deps.sql, row.run_id);
  else if (state === "submitted" || state === "working") {
    const ended = acceptedStream(deps, { runId: row.run_id }).done.promise;
    const outcome = await deps.queue.cancel(row.thread_id, row.run_id, "interrupt", "cancelled over A2A");
    if (outcome === "signalled") await ended;
  } else throw notCancelable(query.id, state);
  const task = serializeTask(await findTask(deps, caller, query.id), readHistoryOptions(c, query));
  return rawJson(rpcResult(id, serializeTaskResult(generation, task)));
}

async function list(deps: AgentDeps, { id, generation, params, caller, c }: Call): Promise<Response> {
  const query = rpcParams(listParams, params);
  const offset = query.pageToken ? Number(query.pageToken) : 0;
  if (!Number.isSafeInteger(offset) || offset < 0) throw new RpcError(INVALID_PARAMS, "pageToken is invalid");
  const sees = await deps.access.ask(caller.principal, "threads:search", { metadata: {} });
  const pageSize = query.pageSize ?? PAGE;
  const contextId = query.contextId || undefined;
  const search = { assistantId: caller.assistantId, contextId, status: query.status, sees };
  const page = { limit: pageSize, offset };
  const [rows, totalSize] = await Promise.all([selectTasks(deps.sql, search, page), countTasks(deps.sql, search)]);
  const history = readHistoryOptions(c, query);
  const tasks = rows.map((row) =>
    serializeTaskResult(generation, serializeTask(row, history, query.includeArtifacts ?? false)),
  );
  const nextPageToken = offset + rows.length < totalSize && rows.length > 0 ? String(offset + rows.length) : "";
  return rawJson(rpcResult(id, { tasks, nextPageToken, pageSize, totalSize }));
}

function readHistoryOptions(
  c: Context,
  query: { historyLength?: number | null | undefined; historyScope?: string | null | undefined },
): History {
  const scope = query.historyScope ?? c.req.header("langgraph-a2a-history-scope") ?? "context";
  if (scope !== "context" && scope !== "task") {
    throw new RpcError(INVALID_PARAMS, `historyScope must be context or task, not "${scope}"`);
  }
  return { length: query.historyLength ?? 0, scope };
}
