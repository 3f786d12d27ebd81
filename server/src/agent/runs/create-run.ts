import type { RunKwargs } from "../../../../host-kit/src/host-protocol.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import type { Language } from "../../base/graph-language.ts";
import { uuid7 } from "../../base/ids.ts";
import type { AccessCondition, Principal } from "../../base/auth/principal.ts";
import { type TraceHeaders, traceHeaders } from "../../base/telemetry/trace-context.ts";
import { resolveAssistantId, unknownAssistant } from "../project/assistant-id.ts";
import { configurableHeaders } from "../custom-app/configurable-headers.ts";
import { type ProposedRun, authorizeRun, mayUseAssistant, setAuthUser } from "../custom-auth/authorize-run.ts";
import { isThreadPermitted } from "../custom-auth/sql.ts";
import type { AgentDeps } from "../deps.ts";
import { issueFeedbackLinks } from "../feedback-links/issue-links.ts";
import { feedbackPlatform } from "../feedback-links/platform.ts";
import {
  createOnce,
  reservationMark,
  type IdempotentRequest,
  reserve,
  serializeReservedRun,
} from "../idempotency/idempotent-request.ts";
import { EXISTING } from "./accept-despite-lost-response.ts";
import { checkPriority, queueFull } from "./queue-refusals.ts";
import type { RunBody } from "./schema.ts";
import { checkpointExists, type CreatedRun, selectGraphs, selectRun, threadExists } from "./sql.ts";

export interface RunRequest {
  /** null: stateless, on a separate thread. */
  threadId: string | null;
  body: RunBody;
  headers: Headers;
  /** The caller; null: the server itself. */
  principal: Principal | null;
  /** Whether the response contains the run itself. */
  describe?: boolean;
  /** Set for runs whose events are those of streaming protocol v2, numbered over the thread. */
  protocol?: "v2";
  /**
   * Deletes the thread with the run, as for stateless runs, but not while it waits for an answer. `threadId` is null, or
   * a thread that such a run has left.
   */
  keepInterrupted?: true;
  /** The request's Idempotency-Key: a repeated request gets the existing run. */
  once?: IdempotentRequest | undefined;
}

export interface AcceptedRun extends CreatedRun {
  runId: string;
  threadId: string;
  /** Whether the run was created by an earlier request with the same Idempotency-Key. */
  replayed: boolean;
}

/** Rejects an empty map for `strict_resume`. Its other checks depend on the thread (questions.sql). */
function rejectEmptyResume({ strict_resume: strict, command }: Pick<RunBody, "strict_resume" | "command">): void {
  const resume = command?.resume;
  if (!strict || typeof resume !== "object" || resume === null || Array.isArray(resume)) return;
  if (Object.keys(resume).length === 0) throw unprocessable("strict_resume: command.resume is an empty map.");
}

/** Rejects a run's webhook and priority class where the project does not permit them. */
export function checkOptions(
  deps: Pick<AgentDeps, "webhooks" | "project">,
  { webhook, config }: Partial<Pick<RunBody, "webhook" | "config">>,
): void {
  if (typeof webhook === "string") deps.webhooks.check(webhook);
  checkPriority(deps.project, config);
}

/**
 * Rejects invalid runs before anything is written.
 * @returns the assistant's id, which need not exist
 */
async function checkRun(deps: AgentDeps, body: RunBody, principal: Principal | null): Promise<string> {
  rejectEmptyResume(body);
  checkOptions(deps, body);
  const assistantId = resolveAssistantId(deps.project, body.assistant_id);
  if (assistantId === undefined) throw unknownAssistant(body.assistant_id);
  // before the database is queried, where the id names a graph; otherwise the run itself fails with the reason
  if (body.assistant_id in deps.project.graphs) deps.hosts.checkGraph(body.assistant_id);
  if (!(await mayUseAssistant(deps, principal, assistantId))) throw unknownAssistant(body.assistant_id);
  return assistantId;
}

/**
 * Validates a whole batch first: if one run would be rejected, none starts, because a caller that repeats the batch
 * would start the others twice.
 */
export async function checkBatch(deps: AgentDeps, bodies: RunBody[], principal: Principal): Promise<void> {
  const missing = new Map<string, string>();
  for (const body of bodies) missing.set(await checkRun(deps, body, principal), body.assistant_id);
  const rows = await deps.sql<{ id: string }[]>`
    select assistant_id as id from assistants where assistant_id = any(${[...missing.keys()]}::uuid[])`;
  for (const { id } of rows) missing.delete(id);
  for (const unknown of missing.values()) throw unknownAssistant(unknown);
}

/**
 * Accepts a run durably; if thread, slot and host are free, its execution has already begun when this returns. Errors:
 * 404 unknown assistant, thread, checkpoint or graph; 409 a resume that does not match the pending interrupts; 422 busy
 * thread with strategy reject, a graph that does not load, a thread of a graph in the other language.
 */
export async function createRun(deps: AgentDeps, request: RunRequest): Promise<AcceptedRun> {
  const assistantId = await checkRun(deps, request.body, request.principal);
  const { once } = request;
  const ids = { runId: uuid7(), threadId: request.threadId ?? uuid7() };
  if (!once) return submit(deps, request, assistantId, ids);
  const reserved = await reserve(deps.sql, once, request.threadId, deps.settings.idempotencyHours);
  ids.runId = reserved.run_id;
  ids.threadId = reserved.thread_id;
  if (reserved.run === null) {
    return createOnce(deps.sql, once, ids.runId, () => submit(deps, request, assistantId, ids));
  }
  const run = await selectRun(deps.sql, ids.threadId, ids.runId);
  return {
    ...REPLAYED,
    ...ids,
    // without a caller: the user's object is not shown
    run:
      run ?? serializeReservedRun(reserved, buildKwargs(deps, { ...request, principal: null }, isTemporary(request))),
  };
}

const REPLAYED = { ...EXISTING, replayed: true } as const;

/** Whether thread and run are deleted when the run has ended. */
const isTemporary = ({ threadId, body, keepInterrupted }: RunRequest): boolean =>
  keepInterrupted === true ||
  (threadId === null && (body.on_completion ?? "delete") !== "keep" && body.on_completion !== "continue");

/** Authorizes the run and passes it to the queue, which may start it at once. */
async function submit(
  deps: AgentDeps,
  request: RunRequest,
  assistantId: string,
  { runId, threadId }: { runId: string; threadId: string },
): Promise<AcceptedRun> {
  const { body, once } = request;
  const stateless = request.threadId === null;
  const temporary = isTemporary(request);
  const strategy = body.multitask_strategy ?? deps.settings.multitaskStrategy;
  const proposed: ProposedRun = {
    thread_id: request.threadId,
    assistant_id: assistantId,
    run_id: runId,
    status: "pending",
    metadata: body.metadata ?? {},
    prevent_insert_if_inflight: strategy === "reject",
    multitask_strategy: strategy,
    if_not_exists: body.if_not_exists ?? "reject",
    after_seconds: body.after_seconds ?? 0,
    kwargs: buildKwargs(deps, request, temporary),
  };
  const access = await authorizeRun(deps, request.principal, proposed);
  await checkCheckpoint(deps, request, access);
  await checkLanguage(deps, request.threadId, assistantId, access);
  if (stateless) deps.access.rememberRun(runId, proposed.metadata);
  const more = {
    // for an existing thread, checked under its lock
    ...(access.length > 0 && { access }),
    ...(request.keepInterrupted && { keep_interrupted: true }),
    ...(deps.project.config.heddle?.queue?.waiting.length && { refusable: true }),
    ...(once && reservationMark(once)),
    ...(body.feedback_keys?.length && { feedback_urls: await linksFor(deps, runId, body) }),
  };
  const created = await deps.queue.create({
    runId,
    threadId,
    assistantId,
    kwargs: JSON.stringify({ ...proposed.kwargs, ...more }),
    metadata: JSON.stringify(proposed.metadata),
    strategy,
    createThread: stateless || body.if_not_exists === "create",
    afterSeconds: body.after_seconds ?? 0,
    temporary,
    describe: request.describe ?? false,
  });
  switch (created.outcome) {
    case "no_assistant":
      throw unknownAssistant(body.assistant_id);
    case "no_thread":
      throw unknownThread(threadId);
    case "busy":
      throw unprocessable(
        "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
      );
    case "waits_for_itself":
      throw conflict(
        `Run ${created.run} executes on thread ${threadId} and creates this run, which would wait for it forever. Give ` +
          "the remote graph another thread_id, or call a graph of another deployment.",
      );
    case "queue_full":
      throw queueFull(JSON.parse(created.run!) as { key: string; limit: number });
    case "unknown_interrupt":
      throw unknownInterrupt(created.run!);
    default:
      return { ...created, runId, threadId, replayed: once !== undefined && created.outcome === "exists" };
  }
}

/** Issues feedback links. Their lifetime counts from the earliest start of the run. */
async function linksFor(deps: AgentDeps, runId: string, { feedback_keys, after_seconds }: RunBody) {
  const minutes = deps.settings.feedbackLinkHours * 60 + (after_seconds ?? 0) / 60;
  const platform = () => feedbackPlatform(deps.settings, deps.project, deps.traces());
  const links = await issueFeedbackLinks(platform, runId, [...new Set(feedback_keys)], minutes);
  if (links === undefined) {
    deps.log.warn(
      { run_id: runId },
      "feedback_keys: no trace platform is configured, so the run gets no feedback links. Start one (heddle dev " +
        "without --no-trace) or set HEDDLE_TRACING_URL; runs must be traced (LANGSMITH_TRACING is not false)",
    );
  }
  return links;
}

/** Throws 404 for a missing checkpoint: a run from it would start without state. */
async function checkCheckpoint(
  deps: AgentDeps,
  { threadId, body }: RunRequest,
  access: readonly AccessCondition[],
): Promise<void> {
  const id = body.checkpoint?.checkpoint_id ?? body.checkpoint_id ?? body.config?.configurable?.["checkpoint_id"];
  if (threadId === null || typeof id !== "string") return;
  if (access.length > 0 && !(await isThreadPermitted(deps.sql, threadId, access))) throw unknownThread(threadId);
  if (await checkpointExists(deps.sql, threadId, id)) return;
  // an unknown thread is reported as such
  if (await threadExists(deps.sql, threadId)) throw notFound(`Checkpoint ${id} not found`);
}

/**
 * Throws 422 for a thread with state of a graph in the other language: the run could not load it, and the thread, which
 * belongs to the graph of its last run, could not be read any more.
 */
export async function checkLanguage(
  { hosts, sql }: Pick<AgentDeps, "hosts"> & { sql: Sql | Transaction },
  threadId: string | null,
  assistantId: string,
  access: readonly AccessCondition[] = [],
): Promise<void> {
  if (threadId === null || !hosts.isMixed) return;
  const graphs = await selectGraphs(sql, threadId, assistantId);
  if (graphs === undefined) return;
  const [ofThread, ofRun] = [hosts.languageOf(graphs.of_thread), hosts.languageOf(graphs.of_assistant)];
  if (ofThread === undefined || ofRun === undefined || ofThread === ofRun) return;
  if (access.length > 0 && !(await isThreadPermitted(sql, threadId, access))) throw unknownThread(threadId);
  throw unprocessable(
    `Thread ${threadId} was written by ${NAMES[ofThread]} graph "${graphs.of_thread}", and ${NAMES[ofRun]} graph ` +
      `cannot continue it. Use a new thread.`,
  );
}

const NAMES: Record<Language, string> = { javascript: "a JavaScript", python: "a Python" };

/** Clients of protocol v2 rely on the code. */
const unknownInterrupt = (reason: string): AppError => new AppError(409, reason, { code: UNKNOWN_INTERRUPT });
export const UNKNOWN_INTERRUPT = "no_such_interrupt" as const;

const unknownThread = (id: string): AppError => notFound(`Thread with ID ${id} not found`);

/** The run's kwargs for the graph host, before assistant and thread are merged in (by accept_run). */
export function buildKwargs(
  deps: Pick<AgentDeps, "project" | "settings" | "access" | "hosts">,
  { body, headers, principal, protocol }: Pick<RunRequest, "body" | "headers" | "principal" | "protocol">,
  temporary: boolean,
): Record<string, unknown> {
  const configurable = runConfigurable(deps, { config: body.config, headers, principal });
  if (body.checkpoint_id) configurable["checkpoint_id"] = body.checkpoint_id;
  for (const key of ["checkpoint_id", "checkpoint_ns", "checkpoint_map"] as const) {
    const value = body.checkpoint?.[key];
    if (value !== undefined && value !== null) configurable[key] = value;
  }
  if (body.langsmith_tracer?.project_name) configurable["langsmith_project"] = body.langsmith_tracer.project_name;
  if (body.langsmith_tracer?.example_id) configurable["langsmith_example_id"] = body.langsmith_tracer.example_id;
  const modes = body.stream_mode ?? "values";
  return {
    input: body.input ?? null,
    command: body.command,
    strict_resume: (body.strict_resume && body.command?.resume != null) || undefined,
    config: { ...withoutNulls(body.config ?? {}), configurable },
    trace: readTrace(headers),
    context: body.context ?? undefined,
    given: deps.hosts.hasPython ? givenKeys(body, Object.keys(passedHeaders(deps, headers))) : undefined,
    stream_mode: [...new Set(typeof modes === "string" ? [modes] : modes)],
    interrupt_before: body.interrupt_before ?? undefined,
    interrupt_after: body.interrupt_after ?? undefined,
    webhook: body.webhook ?? undefined,
    feedback_keys: body.feedback_keys?.length ? body.feedback_keys : undefined,
    subgraphs: body.stream_subgraphs ?? false,
    resumable: body.stream_resumable ?? false,
    temporary,
    durability: body.durability ?? (body.checkpoint_during === false ? "exit" : deps.settings.durability),
    protocol,
  };
}

/**
 * Lists the keys that a run sets itself. A Python graph gets its configuration as `configurable` and as `context`,
 * however it was given; for a key in both, of different origin, the run's own value is the newer one.
 */
function givenKeys({ config, context }: RunBody, headers: string[]): NonNullable<RunKwargs["given"]> {
  const keys = (value: unknown) => (typeof value === "object" && value !== null ? Object.keys(value) : []);
  return { configurable: keys(config?.configurable), context: keys(context), headers };
}

const passedHeaders = ({ project }: Pick<AgentDeps, "project">, headers: Headers): Record<string, string> =>
  configurableHeaders(headers, project.config.http.configurable_headers);

/** `config.configurable` with the caller's identity and headers. */
export function runConfigurable(
  deps: Pick<AgentDeps, "project" | "access">,
  { config, headers, principal }: { config: RunBody["config"] } & Pick<RunRequest, "headers" | "principal">,
): Record<string, unknown> {
  const configurable: Record<string, unknown> = {
    ...config?.configurable,
    ...passedHeaders(deps, headers),
  };
  setAuthUser(deps, principal, configurable);
  return configurable;
}

/** Returns the trace of the request that creates the run (W3C Trace Context). */
function readTrace(headers: Headers): TraceHeaders | undefined {
  const [traceparent, tracestate] = [headers.get("traceparent"), headers.get("tracestate")];
  const trace = traceHeaders({ traceparent, tracestate });
  return trace.traceparent === undefined ? undefined : trace;
}

const withoutNulls = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
