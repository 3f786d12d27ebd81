/**
 * Judges a subject by a model: binds the prompt's variables, asks for an answer by the schema of the scores, and asks
 * once more with the reason when the answer does not match it.
 */
import type { Principal } from "../../base/auth/principal.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { type CallEnd, type CallFailure, startCall } from "../models/call-model.ts";
import type { Message } from "../models/message-schema.ts";
import type { ModelRequest } from "../models/stream-model.ts";
import { buildRequest, runMetadata } from "../playground/run-prompt.ts";
import { bindVariables, dataRule, newMark } from "./bind-variables.ts";
import { correctionMessage } from "./corrections.ts";
import type { LlmDefinition } from "./definition.ts";
import { prepareJudge, resolveJudgeModel } from "./prepare-judge.ts";
import type { Score, Subject } from "./schema.ts";
import { readAnswer } from "./score-schema.ts";
import { ensureJudgeProject } from "./sql.ts";
import { sumUsd } from "./sum-usd.ts";

const TIMEOUT_SECONDS = 180;

/** What a judgement came to, with what was sent. */
export interface Verdict {
  feedback: Score[];
  error: string | null;
  retryable: boolean;
  cost_usd: string | null;
  judge_run_id: string | null;
  judge_project_id: string | null;
  /** Messages that the model received; empty for code. */
  messages: Message[];
  /** Values of the prompt's variables; null for those that the subject does not have. */
  values: Record<string, string | null>;
  /** Output of code. */
  logs: string | null;
}

export const failed = (error: string, retryable = false): Verdict => ({
  feedback: [],
  error,
  retryable,
  cost_usd: null,
  judge_run_id: null,
  judge_project_id: null,
  messages: [],
  values: {},
  logs: null,
});

export interface JudgeOptions {
  signal: AbortSignal;
  /** Name and metadata of the judge's run. */
  name: string;
  metadata: Record<string, unknown>;
  /** Values of the variables, in place of those of the subject: labelled examples have no run. */
  values?: Record<string, string> | undefined;
}

/** @throws AppError for a judge that cannot be called: its prompt, model or budget */
export async function judge(
  deps: TraceDeps,
  principal: Principal,
  definition: LlmDefinition,
  subject: Subject,
  { signal, name, metadata, values: given }: JudgeOptions,
): Promise<Verdict> {
  const tenantId = principal.workspaceId;
  const prepared = await prepareJudge(deps, principal, definition);
  const readsReference = prepared.bindings.some(({ path }) => path.root.startsWith("reference"));
  if (readsReference && !subject.reference && !given) {
    return failed("The judge reads a reference, and the run belongs to no example of a dataset.");
  }
  const mark = newMark();
  const { variables, values } = bindVariables(subject, prepared.bindings, mark, given);
  const found = Object.values(values).filter((value) => value !== null).length;
  if (prepared.bindings.length > 0 && found === 0) {
    const paths = prepared.bindings.map((binding) => binding.name).join(", ");
    return failed(`The run has no value for any variable of the judge (${paths}). Check the variable mapping.`);
  }
  const connection = await resolveJudgeModel(deps, tenantId, prepared, definition);
  const request = buildRequest(connection, { ...prepared.prepared, tools: [] }, variables, {
    tools: [],
    response_schema: prepared.schema,
  });
  const examples = await correctionMessage(deps, tenantId, definition, mark);
  request.messages = withRules(request.messages, [dataRule(mark), ...(examples === null ? [] : [examples])]);
  const project = await ensureJudgeProject(deps.sql, tenantId, uuid7);
  const own = { ...runMetadata(prepared.prepared, connection, metadata), heddle_source: "evaluator" };
  const order = { project, runName: name, tags: ["evaluator"], timeoutSeconds: TIMEOUT_SECONDS };
  const shown = { messages: request.messages, values, logs: null, judge_project_id: project.id };

  const ask = (asked: ModelRequest, more: object) =>
    call(deps, principal, { ...order, request: asked, metadata: { ...own, ...more } }, signal);
  const first = await ask(request, {});
  if ("kind" in first) return { ...failed(describe(first), isRetryable(first)), judge_run_id: first.run_id, ...shown };
  const answer = read(prepared.scores, first);
  if (answer.problem === null) return { ...success(answer.feedback, [first]), ...shown };
  const repair: ModelRequest = {
    ...request,
    messages: [
      ...request.messages,
      { role: "assistant", content: first.answer.content === "" ? "(no text)" : first.answer.content },
      {
        role: "user",
        content: `The answer is invalid: ${answer.problem} Answer again, with nothing but the JSON object.`,
      },
    ],
  };
  const second = await ask(repair, { repairs_run_id: first.run_id });
  if ("kind" in second) {
    return {
      ...failed(describe(second), isRetryable(second)),
      ...success([], [first]),
      judge_run_id: second.run_id,
      ...shown,
      error: describe(second),
    };
  }
  const repaired = read(prepared.scores, second);
  if (repaired.problem === null) return { ...success(repaired.feedback, [first, second]), ...shown };
  return {
    ...success([], [first, second]),
    ...shown,
    error: `The model gave no valid answer, twice: ${repaired.problem}`,
  };
}

/** Adds instructions to the first message of the system. */
function withRules(messages: Message[], rules: string[]): Message[] {
  const text = rules.join("\n\n");
  const at = messages.findIndex(({ role }) => role === "system");
  if (at < 0) return [{ role: "system", content: text }, ...messages];
  return messages.map((message, i) => {
    if (i !== at) return message;
    const { content } = message;
    return {
      ...message,
      content: typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text" as const, text }],
    };
  });
}

function read(scores: Parameters<typeof readAnswer>[0], { answer }: CallEnd): ReturnType<typeof readAnswer> {
  if (answer.structured === null || answer.structured === undefined) {
    const cut = answer.finish_reason === "length" || answer.truncated;
    const why = cut ? "The answer was cut off; raise max_tokens of the model." : (answer.structured_error ?? "no JSON");
    return { feedback: null, problem: why };
  }
  // our own reading is the precise one: it names the property
  return readAnswer(scores, answer.structured);
}

const success = (feedback: Score[], calls: CallEnd[]) => ({
  feedback,
  error: null as string | null,
  retryable: false,
  cost_usd: sumUsd(calls.map(({ cost }) => cost?.total ?? null)),
  judge_run_id: calls.at(-1)!.run_id,
});

const describe = ({ message, kind }: CallFailure): string => `${kind}: ${message}`;

const RETRYABLE = new Set(["rate_limit", "provider", "network", "timeout", "malformed", "cancelled"]);
const isRetryable = ({ kind }: CallFailure): boolean => RETRYABLE.has(kind);

async function call(
  deps: TraceDeps,
  principal: Principal,
  order: Parameters<typeof startCall>[2],
  signal: AbortSignal,
): Promise<CallEnd | CallFailure> {
  const { events } = await startCall(deps, principal, order, signal);
  for await (const event of events) if (event.type !== "delta") return event.data;
  throw new Error("a call to a model ended without an event");
}
