import { type AppError, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { resolveAssistantId } from "../assistants/assistant-id.ts";
import type { AgentDeps } from "../deps.ts";
import { threadExists } from "../threads/sql.ts";
import { checkWebhook } from "../webhooks/check-webhook.ts";
import type { RunBody } from "./schema.ts";
import { checkpointExists, type CreatedRun } from "./sql.ts";

export interface RunRequest {
  /** null: stateless, on a thread of its own. */
  threadId: string | null;
  body: RunBody;
  headers: Headers;
  /** Whether the caller answers with the run itself. */
  describe?: boolean;
}

export interface AcceptedRun extends CreatedRun {
  runId: string;
  threadId: string;
}

/** Fields of contract §7.1 that are documented but not built: refused, never silently dropped. */
function refuseUnbuilt(body: RunBody): void {
  const unbuilt = [
    (body.feedback_keys?.length ?? 0) > 0 && "feedback_keys",
    body.strict_resume === true && "strict_resume",
  ].filter((name) => name !== false);
  if (unbuilt.length > 0) throw unprocessable(`Not supported yet: ${unbuilt.join(", ")}.`);
}

/**
 * Accepts a run durably; where thread, slot and host are free it is already being executed when this returns.
 * Errors: 404 unknown assistant, thread, checkpoint or graph; 422 busy thread with strategy reject, unbuilt fields, a graph
 * that does not load.
 */
export async function createRun(deps: AgentDeps, request: RunRequest): Promise<AcceptedRun> {
  const { body } = request;
  refuseUnbuilt(body);
  if (typeof body.webhook === "string") {
    checkWebhook(deps.project.webhooks, deps.outbound, body.webhook);
    deps.webhooks.expect();
  }
  const assistantId = resolveAssistantId(deps.project, body.assistant_id);
  if (assistantId === undefined) throw unknownAssistant(body.assistant_id);
  // ahead of the database where the id names a graph; otherwise the run itself ends with the reason
  if (body.assistant_id in deps.project.graphs) deps.hosts.checkGraph(body.assistant_id);

  await checkCheckpoint(deps, request);

  const stateless = request.threadId === null;
  const threadId = request.threadId ?? uuid7();
  const runId = uuid7();
  const temporary = stateless && (body.on_completion ?? "delete") !== "keep" && body.on_completion !== "continue";
  const created = await deps.queue.create({
    runId,
    threadId,
    assistantId,
    kwargs: JSON.stringify(kwargsOf(deps, request, temporary)),
    metadata: JSON.stringify(body.metadata ?? {}),
    strategy: body.multitask_strategy ?? deps.settings.multitaskStrategy,
    createThread: stateless || body.if_not_exists === "create",
    afterSeconds: body.after_seconds ?? 0,
    temporary,
    describe: request.describe ?? false,
  });
  switch (created.outcome) {
    case "no_assistant":
      throw unknownAssistant(body.assistant_id);
    case "no_thread":
      throw notFound(`Thread with ID ${threadId} not found`);
    case "busy":
      throw unprocessable(
        "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
      );
    default:
      return { ...created, runId, threadId };
  }
}

/** A run that shall start from a checkpoint which is not there would start from nothing. */
async function checkCheckpoint(deps: AgentDeps, { threadId, body }: RunRequest): Promise<void> {
  const id = body.checkpoint?.checkpoint_id ?? body.checkpoint_id ?? body.config?.configurable?.["checkpoint_id"];
  if (threadId === null || typeof id !== "string") return;
  if (await checkpointExists(deps.sql, threadId, id)) return;
  // an unknown thread is the better answer
  if (await threadExists(deps.sql, threadId)) throw notFound(`Checkpoint ${id} not found`);
}

const unknownAssistant = (id: string): AppError =>
  notFound(`No assistant found for "${id}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`);

/** The run as the graph host will get it, before assistant and thread are merged in (accept_run does that). */
function kwargsOf(deps: AgentDeps, { body, headers }: RunRequest, temporary: boolean): object {
  const configurable: Record<string, unknown> = {
    ...body.config?.configurable,
    ...forwardedHeaders(headers),
  };
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
    command: body.command ?? undefined,
    config: { ...withoutNulls(body.config ?? {}), configurable },
    context: body.context ?? undefined,
    stream_mode: [...new Set(typeof modes === "string" ? [modes] : modes)],
    interrupt_before: body.interrupt_before ?? undefined,
    interrupt_after: body.interrupt_after ?? undefined,
    webhook: body.webhook ?? undefined,
    subgraphs: body.stream_subgraphs ?? false,
    resumable: body.stream_resumable ?? false,
    temporary,
    durability: body.durability ?? (body.checkpoint_during === false ? "exit" : deps.settings.durability),
  };
}

const withoutNulls = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

const SECRET_HEADERS = new Set(["x-api-key", "x-tenant-id", "x-service-key"]);

/** `x-*` headers and the user agent become part of the run's configuration (contract §16.6). */
function forwardedHeaders(headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  headers.forEach((value, name) => {
    if ((name.startsWith("x-") && !SECRET_HEADERS.has(name)) || name === "user-agent") forwarded[name] = value;
  });
  return forwarded;
}
