/**
 * A call to a model on behalf of a caller: reserves its cost, traces it as a run, streams it, and accounts for it. A
 * call that a reader leaves is cancelled, and its run and cost are stored all the same.
 */
import type { Principal } from "../../base/auth/principal.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import type { Piece } from "./answer-parts.ts";
import { type Cost, estimateTokens, priceCall, readUsage, type Reservation, reserve, settle } from "./budget.ts";
import { describeFailure, type ModelFailure } from "./model-error.ts";
import { convertMessages, type ModelAnswer, type ModelRequest, streamModel } from "./stream-model.ts";
import { type CallRun, runWriter, storeEnd, storeStart, type WriteRun } from "./trace-call.ts";

export interface CallOrder {
  request: ModelRequest;
  /** Name of the project of the run, or the id of an existing one. */
  project: { name: string } | { id: string; name: string };
  runId?: string | undefined;
  runName?: string | undefined;
  tags?: string[] | undefined;
  metadata?: Record<string, unknown> | undefined;
  referenceExampleId?: string | undefined;
  /** The run records sizes in place of texts, so that contents of other runs do not outlive them. */
  hidesContent?: boolean | undefined;
  timeoutSeconds: number;
  /** Stores the run instead of the caller's project, for a caller that places it in a separate trace. */
  write?: WriteRun | undefined;
}

export interface CallStart {
  run_id: string;
  trace_id: string;
  project_id: string;
  project_name: string;
  provider: string;
  model: string;
}

export interface CallEnd {
  run_id: string;
  answer: ModelAnswer;
  usage: { input_tokens: number; output_tokens: number; total_tokens: number } | null;
  cost: Cost | null;
  latency_ms: number;
  first_token_ms: number | null;
}

export type CallFailure = ModelFailure & { run_id: string; latency_ms: number };

export type CallEvent =
  | { type: "delta"; data: Piece }
  | { type: "end"; data: CallEnd }
  | { type: "error"; data: CallFailure };

export interface StartedCall {
  start: CallStart;
  /** The call's events; the last is `end` or `error`. Nothing is sent to the provider before they are read. */
  events: AsyncGenerator<CallEvent, void>;
}

/** Seconds after a call's time limit for which its reservation counts. */
const GRACE_SECONDS = 60;

/**
 * Checks a call and reserves its cost.
 * @param signal cancels the call, when its reader leaves
 * @throws 402 over the budget, 422 for a request that the provider's adapter cannot send
 */
export async function startCall(
  deps: TraceDeps,
  principal: Principal,
  order: CallOrder,
  signal: AbortSignal,
): Promise<StartedCall> {
  const { request, project, timeoutSeconds } = order;
  const { connection } = request;
  const tenantId = principal.workspaceId;
  const messages = await convertMessages(request);
  const inputCharacters = JSON.stringify([withoutData(request.messages), request.tools, request.responseSchema]).length;
  const seconds = timeoutSeconds + GRACE_SECONDS;
  const reservation = await reserve(deps, tenantId, connection, { inputCharacters, seconds });
  const projectId = "id" in project ? project.id : await deps.projects.ensureProject(tenantId, project.name);
  const run: CallRun = {
    id: order.runId ?? uuid7(),
    name: order.runName ?? "playground",
    projectId,
    startedAt: new Date(),
    tags: order.tags ?? [],
    metadata: order.metadata ?? {},
    referenceExampleId: order.referenceExampleId,
    hidesContent: order.hidesContent,
  };
  const write = order.write ?? runWriter(deps, principal);
  const call = new Call(deps, principal, { request, run, reservation, inputCharacters, timeoutSeconds, write });
  return {
    start: {
      run_id: run.id,
      trace_id: run.id,
      project_id: projectId,
      project_name: project.name,
      provider: connection.provider.id,
      model: connection.model,
    },
    events: call.events(streamModel, messages, signal),
  };
}

interface CallState {
  request: ModelRequest;
  run: CallRun;
  reservation: Reservation;
  inputCharacters: number;
  timeoutSeconds: number;
  write: WriteRun;
}

class Call {
  readonly #deps: TraceDeps;
  readonly #principal: Principal;
  readonly #state: CallState;
  #text = "";
  #firstTokenAt: Date | undefined;

  constructor(deps: TraceDeps, principal: Principal, state: CallState) {
    this.#deps = deps;
    this.#principal = principal;
    this.#state = state;
  }

  async *events(
    stream: typeof streamModel,
    messages: Parameters<typeof streamModel>[2],
    reader: AbortSignal,
  ): AsyncGenerator<CallEvent, void> {
    const { request, run, timeoutSeconds, write } = this.#state;
    const started = performance.now();
    const elapsed = () => Math.round(performance.now() - started);
    const overdue = AbortSignal.timeout(timeoutSeconds * 1000);
    // the run is visible while it works; the call does not wait for that
    const stored = storeStart(write, run, request).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, run_id: run.id }, "could not store the start of a model call");
    });
    let isAccounted = false;
    const pieces = stream(this.#deps, request, messages, AbortSignal.any([reader, overdue]));
    try {
      let next = await pieces.next();
      while (!next.done) {
        const piece = next.value;
        this.#firstTokenAt ??= new Date();
        this.#text += piece.text ?? piece.tool_call?.args_text ?? piece.reasoning ?? "";
        yield { type: "delta", data: piece };
        next = await pieces.next();
      }
      isAccounted = true;
      await stored;
      const { usage, cost } = await this.#succeeded(next.value, elapsed());
      const first = this.#firstTokenAt ? this.#firstTokenAt.getTime() - run.startedAt.getTime() : null;
      const end = { run_id: run.id, answer: next.value, usage, cost, latency_ms: elapsed(), first_token_ms: first };
      yield { type: "end", data: end };
    } catch (error) {
      if (isAccounted) throw error;
      isAccounted = true;
      const reason = reader.aborted ? "cancelled" : overdue.aborted ? "timeout" : undefined;
      const { label, secrets } = request.connection;
      const failure = describeFailure(error, { where: label, values: Object.values(secrets), reason });
      if (reason === undefined && failure.kind === "malformed") {
        // not the error itself, whose text is the provider's
        this.#deps.log.warn({ reason: failure.message, run_id: run.id }, "a model's response could not be read");
      }
      await stored;
      await this.#failed(failure, elapsed());
      yield { type: "error", data: { run_id: run.id, ...failure, latency_ms: elapsed() } };
    } finally {
      // the reader left between two events
      if (!isAccounted) {
        await pieces.return(undefined as never);
        await stored;
        const { label } = request.connection;
        await this.#failed(describeFailure(null, { where: label, values: [], reason: "cancelled" }), elapsed());
      }
    }
  }

  async #succeeded(answer: ModelAnswer, ms: number) {
    const { request, run, write } = this.#state;
    const { connection } = request;
    const tenantId = this.#principal.workspaceId;
    const found = readUsage(answer.usage, connection);
    const counted = found ?? this.#estimate();
    const cost = await priceCall(this.#deps, tenantId, connection, counted);
    const { metrics } = this.#deps.models;
    metrics.called({ provider: connection.provider.id, outcome: "success", seconds: ms / 1000 });
    const input = counted.prompt_tokens ?? 0;
    const output = counted.completion_tokens ?? 0;
    metrics.used(connection.provider.id, { input, output });
    await this.#settle(cost, input + output);
    await storeEnd(write, run, {
      answer: { ...answer, usage: found ? answer.usage : undefined },
      firstTokenAt: this.#firstTokenAt,
    });
    const usage = found ? { input_tokens: input, output_tokens: output, total_tokens: input + output } : null;
    return { usage, cost: found ? (cost ?? null) : null };
  }

  async #failed(failure: ModelFailure, ms: number): Promise<void> {
    const { request, run, write } = this.#state;
    const { connection } = request;
    const { provider } = connection;
    this.#deps.models.metrics.called({ provider: provider.id, outcome: failure.kind, seconds: ms / 1000 });
    // what a provider has begun to answer is billed, as far as is known
    const counted = this.#text === "" ? undefined : this.#estimate();
    const cost = counted && (await priceCall(this.#deps, this.#principal.workspaceId, connection, counted));
    await this.#settle(cost, counted ? (counted.prompt_tokens ?? 0) + (counted.completion_tokens ?? 0) : 0);
    await storeEnd(write, run, {
      answer: { content: this.#text },
      error: `${failure.kind}: ${failure.message}`,
      firstTokenAt: this.#firstTokenAt,
    });
  }

  #estimate() {
    return {
      prompt_tokens: estimateTokens(this.#state.inputCharacters),
      completion_tokens: estimateTokens(this.#text.length),
    };
  }

  async #settle(cost: Cost | undefined, tokens: number): Promise<void> {
    const { reservation } = this.#state;
    await settle(this.#deps, this.#principal.workspaceId, reservation, { cost: cost?.total ?? "0", tokens });
  }
}

/** Returns messages without the data of images and files, which providers count differently. */
const withoutData = (messages: ModelRequest["messages"]) =>
  messages.map(({ content, ...rest }) => ({
    ...rest,
    content: typeof content === "string" ? content : content.map((block) => ("data" in block ? block.type : block)),
  }));
