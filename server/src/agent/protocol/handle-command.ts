import { AppError } from "../../base/errors.ts";
import type { AgentDeps } from "../deps.ts";
import { UNKNOWN_INTERRUPT } from "../runs/create-run.ts";
import type { Caller } from "./caller.ts";
import { ProtocolError } from "./protocol-error.ts";
import { inputInject, inputRespond, runStart, stateFork } from "./run-commands.ts";
import type { Command, CommandAnswer, ErrorCode } from "./schema.ts";
import { selectLastSeqs } from "./sql.ts";
import { agentGetTree, stateGet, stateListCheckpoints } from "./state-commands.ts";

type Handler = (deps: AgentDeps, caller: Caller, params: unknown) => Promise<Record<string, unknown>>;

const HANDLERS: Record<string, Handler> = {
  "run.start": runStart,
  "input.respond": inputRespond,
  "input.inject": inputInject,
  "state.get": stateGet,
  "state.listCheckpoints": stateListCheckpoints,
  "state.fork": stateFork,
  "agent.getTree": agentGetTree,
  "subscription.reconnect": reject(
    "subscription.reconnect is not supported. Subscribe again after the last sequence number.",
  ),
  // on a WebSocket, the socket handles these itself
  "subscription.subscribe": reject("Subscriptions require a WebSocket. Over HTTP, open POST …/stream/events."),
  "subscription.unsubscribe": reject("Subscriptions require a WebSocket. Over HTTP, close the event stream."),
};

function reject(message: string): Handler {
  return () => Promise.reject(new ProtocolError("not_supported", message));
}

/** Handles a command. Throws only unexpected errors; all others become an answer. */
export async function handleCommand(deps: AgentDeps, caller: Caller, command: Command): Promise<CommandAnswer> {
  const { id, method, params } = command;
  try {
    const handler = Object.hasOwn(HANDLERS, method) ? HANDLERS[method] : undefined;
    if (!handler) throw new ProtocolError("unknown_command", `Unknown protocol command: ${method}`);
    if (!(await caller.maySee())) throw new ProtocolError("no_such_run", `Thread ${caller.threadId} not found.`);
    const result = await handler(deps, caller, params);
    const seqs = await selectLastSeqs(deps.sql, [caller.threadId]);
    const meta = { thread_id: caller.threadId, applied_through_seq: seqs.get(caller.threadId) ?? 0 };
    return { type: "success", id, result, meta };
  } catch (error) {
    return errorAnswer(id, error);
  }
}

export function errorAnswer(id: number | null, thrown: unknown): CommandAnswer {
  if (thrown instanceof ProtocolError) return { type: "error", id, error: thrown.code, message: thrown.message };
  if (thrown instanceof AppError && thrown.status < 500) {
    return { type: "error", id, error: toErrorCode(thrown), message: thrown.message };
  }
  throw thrown;
}

function toErrorCode({ status, message, code }: AppError): ErrorCode {
  if (code === UNKNOWN_INTERRUPT) return UNKNOWN_INTERRUPT;
  if (status === 401 || status === 403) return "permission_denied";
  if (status === 404 && message.startsWith("Checkpoint")) return "no_such_checkpoint";
  return "invalid_argument";
}
