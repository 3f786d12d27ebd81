/** Commands that start runs. All of them are ordinary runs whose events use protocol v2. */
import type { AgentDeps } from "../deps.ts";
import { resolveAssistantId } from "../project/assistant-id.ts";
import { reserve } from "../idempotency/idempotent-request.ts";
import { createRun } from "../runs/create-run.ts";
import { runBody } from "../runs/schema.ts";
import { rejectSelfWait } from "../runs/self-wait.ts";
import { describeIssues } from "../../base/http/errors.ts";
import type { Caller } from "./caller.ts";
import { invalidArgument, ProtocolError } from "./protocol-error.ts";
import { forkParams, injectParams, ORDINARY_FIELDS, respondParams, runStartParams } from "./schema.ts";
import { parseParams } from "./parse-params.ts";
import { selectThread, type ThreadRow } from "./sql.ts";

const STRATEGIES = ["reject", "rollback", "interrupt", "enqueue"];
const STREAM_MODES = ["values", "updates", "messages", "tools", "custom", "tasks"];

type Params = Record<string, unknown>;

/** @returns the run's id */
async function start(deps: AgentDeps, caller: Caller, fields: Params): Promise<string> {
  caller.demand("runs:create");
  const body = runBody.safeParse({
    multitask_strategy: "enqueue",
    ...fields,
    stream_mode: STREAM_MODES,
    stream_subgraphs: true,
    stream_resumable: true,
    if_not_exists: "create",
  });
  if (!body.success) throw invalidArgument(describeIssues(body.error));
  const { threadId, headers, principal, once } = caller;
  return (await createRun(deps, { threadId, headers, principal, once, body: body.data, protocol: "v2" })).runId;
}

/**
 * Finds the run that an earlier attempt of the same request started; its parameters may no longer be valid.
 * @throws AppError 422 when its Idempotency-Key belongs to another request
 */
async function startedBefore(deps: AgentDeps, { once, threadId }: Caller): Promise<string | undefined> {
  if (!once) return undefined;
  const reserved = await reserve(deps.sql, once, threadId, deps.settings.idempotencyHours);
  return reserved.run === null ? undefined : reserved.run_id;
}

/** Input for a thread with pending interrupts is taken as their answer. */
export async function runStart(deps: AgentDeps, caller: Caller, rawParams: unknown): Promise<Params> {
  const params = parseParams(runStartParams, rawParams);
  const { assistant_id: assistant, input, config, metadata } = params;
  if (!assistant) throw invalidArgument("run.start requires an assistant_id.");
  const before = await startedBefore(deps, caller);
  if (before !== undefined) return { run_id: before };
  const thread = await selectThread(deps.sql, caller.threadId);
  const bound = thread?.bound_assistant_id ?? null;
  if (bound !== null && bound !== resolveAssistantId(deps.project, assistant)) {
    throw invalidArgument(`Thread ${caller.threadId} is bound to assistant ${bound}; cannot run ${assistant}.`);
  }
  const requestedStrategy = params.multitaskStrategy ?? params.multitask_strategy;
  const strategy = STRATEGIES.includes(requestedStrategy as string) ? requestedStrategy : "enqueue";
  // the client's next step is to read the run's events
  if (strategy === "enqueue") await rejectSelfWait(deps.sql, caller.c, caller.threadId);
  // stopping the run that asks leaves nothing to answer
  const stops = thread?.busy && (requestedStrategy === "interrupt" || requestedStrategy === "rollback");
  const pending = input === undefined || input === null || stops ? [] : (thread?.pending ?? []);
  const runId = await start(deps, caller, {
    assistant_id: assistant,
    // by id: another command may have answered them in the meantime
    ...(pending.length > 0 ? { command: { resume: Object.fromEntries(pending.map((id) => [id, input])) } } : { input }),
    config,
    metadata,
    ...Object.fromEntries(ORDINARY_FIELDS.map((name) => [name, params[name]])),
    multitask_strategy: strategy,
  });
  return { run_id: runId };
}

export async function inputRespond(deps: AgentDeps, caller: Caller, rawParams: unknown): Promise<Params> {
  const { responses, interrupt_id, response, update, goto, config, metadata } = parseParams(respondParams, rawParams);
  const answers = responses ?? [{ interrupt_id, response }];
  if (answers.length === 0) throw invalidArgument("input.respond requires at least one response.");
  if (answers.some((answer) => !answer.interrupt_id)) {
    throw invalidArgument(`input.respond ${responses ? "responses entries require" : "requires"} an interrupt_id.`);
  }
  if ((await startedBefore(deps, caller)) !== undefined) return {};
  const { thread, assistant } = await boundThread(deps, caller);
  const { pending } = thread;
  if (pending.length === 0) throw invalidArgument("input.respond can only be used while the run is interrupted.");
  const unknown = answers.find((answer) => !pending.includes(answer.interrupt_id!));
  if (unknown)
    throw new ProtocolError("no_such_interrupt", `The thread has no pending interrupt ${unknown.interrupt_id}.`);
  const resume = Object.fromEntries(answers.map((answer) => [answer.interrupt_id!, answer.response ?? null]));
  // of two concurrent answers, the second one finds the thread busy
  const busy = { multitask_strategy: "reject" };
  await start(deps, caller, { assistant_id: assistant, command: { resume, update, goto }, config, metadata, ...busy });
  return {};
}

/**
 * Enqueues a message for a graph that works on messages. LangGraph takes no input while it runs, so the message becomes
 * the input of the thread's next run.
 */
export async function inputInject(deps: AgentDeps, caller: Caller, rawParams: unknown): Promise<Params> {
  const { namespace, message } = parseParams(injectParams, rawParams);
  if (namespace && namespace.length > 0) {
    throw new ProtocolError("not_supported", "input.inject accepts messages for the root graph only.");
  }
  if ((await startedBefore(deps, caller)) !== undefined) return {};
  const { thread, assistant } = await boundThread(deps, caller);
  if (thread.pending.length > 0) {
    throw invalidArgument("The run is interrupted: answer with input.respond.");
  }
  await start(deps, caller, { assistant_id: assistant, input: { messages: [message] } });
  return {};
}

export async function stateFork(deps: AgentDeps, caller: Caller, rawParams: unknown): Promise<Params> {
  const { checkpoint_id, input, config } = parseParams(forkParams, rawParams);
  const before = await startedBefore(deps, caller);
  if (before !== undefined) return { run_id: before, thread_id: caller.threadId };
  const { assistant } = await boundThread(deps, caller);
  const runId = await start(deps, caller, { assistant_id: assistant, input, config, checkpoint_id });
  return { run_id: runId, thread_id: caller.threadId };
}

async function boundThread(deps: AgentDeps, caller: Caller): Promise<{ thread: ThreadRow; assistant: string }> {
  const thread = await selectThread(deps.sql, caller.threadId);
  const assistant = thread?.assistant_id;
  if (!thread || !assistant) {
    throw new ProtocolError("no_such_run", "Thread has no active assistant; call run.start first.");
  }
  return { thread, assistant };
}
