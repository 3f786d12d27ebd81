/** State of one column's answer: a reducer of the events that `POST /playground/stream` sends. */
import { asMessage, messageText } from "../../ui/messages/message.ts";

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

export interface AnswerToolCall {
  id?: string | undefined;
  name: string;
  args: string;
}

export interface AnswerError {
  kind: string;
  status: number | null;
  message: string;
  retryAfterSeconds: number | null;
}

export interface Answer {
  status: "running" | "done" | "failed" | "stopped";
  /** Milliseconds since 1970. */
  startedAt: number;
  runId: string | null;
  projectId: string | null;
  /** Name of the model that answers. */
  model: string;
  text: string;
  reasoning: string;
  toolCalls: AnswerToolCall[];
  structured: unknown;
  structuredError: string | null;
  isTruncated: boolean;
  usage: Usage | null;
  /** Dollars as decimal text; null for models without a price. */
  cost: string | null;
  latencyMs: number | null;
  firstTokenMs: number | null;
  error: AnswerError | null;
}

export type PlaygroundEvent =
  | { event: "start"; data: { run_id: string; project_id: string; model: string } }
  | { event: "delta"; data: Delta }
  | { event: "end"; data: End }
  | { event: "error"; data: Failure };

interface Delta {
  text?: string;
  reasoning?: string;
  tool_call?: { index: number; id?: string; name?: string; args_text?: string };
}
interface End {
  run_id: string;
  message: { content: unknown; tool_calls?: { id?: string; name: string; args: unknown }[] | null };
  structured: unknown;
  structured_error: string | null;
  usage: Usage | null;
  cost: { total: string | number | null } | null;
  latency_ms: number;
  first_token_ms: number | null;
  truncated: boolean;
}
interface Failure {
  run_id?: string | null;
  kind: string;
  status: number | null;
  message: string;
  retry_after_seconds?: number | null;
  latency_ms?: number | null;
}

export const startAnswer = (model: string, startedAt: number): Answer => ({
  status: "running",
  startedAt,
  runId: null,
  projectId: null,
  model,
  text: "",
  reasoning: "",
  toolCalls: [],
  structured: null,
  structuredError: null,
  isTruncated: false,
  usage: null,
  cost: null,
  latencyMs: null,
  firstTokenMs: null,
  error: null,
});

/** Applies an event. @param now milliseconds since 1970, for the time to the first token while it streams */
export function applyEvent(answer: Answer, { event, data }: PlaygroundEvent, now: number): Answer {
  if (answer.status !== "running") return answer;
  switch (event) {
    case "start":
      return { ...answer, runId: data.run_id, projectId: data.project_id, model: data.model };
    case "delta":
      return applyDelta({ ...answer, firstTokenMs: answer.firstTokenMs ?? now - answer.startedAt }, data);
    case "end":
      return {
        ...answer,
        status: "done",
        runId: data.run_id,
        text: messageText(data.message) || answer.text,
        toolCalls: (data.message.tool_calls ?? []).map(({ id, name, args }) => ({
          id,
          name,
          args: typeof args === "string" ? args : JSON.stringify(args),
        })),
        structured: data.structured,
        structuredError: data.structured_error,
        isTruncated: data.truncated,
        usage: data.usage,
        cost: data.cost?.total == null ? null : String(data.cost.total),
        latencyMs: data.latency_ms,
        firstTokenMs: data.first_token_ms ?? answer.firstTokenMs,
      };
    case "error":
      return {
        ...answer,
        status: data.kind === "cancelled" ? "stopped" : "failed",
        runId: data.run_id ?? answer.runId,
        latencyMs: data.latency_ms ?? now - answer.startedAt,
        error: {
          kind: data.kind,
          status: data.status,
          message: data.message,
          retryAfterSeconds: data.retry_after_seconds ?? null,
        },
      };
  }
}

function applyDelta(answer: Answer, { text = "", reasoning = "", tool_call: call }: Delta): Answer {
  const toolCalls = call === undefined ? answer.toolCalls : addCallDelta(answer.toolCalls, call);
  return { ...answer, text: answer.text + text, reasoning: answer.reasoning + reasoning, toolCalls };
}

function addCallDelta(calls: AnswerToolCall[], delta: NonNullable<Delta["tool_call"]>): AnswerToolCall[] {
  const before = calls[delta.index] ?? { name: "", args: "" };
  const next = {
    id: delta.id ?? before.id,
    name: delta.name ?? before.name,
    args: before.args + (delta.args_text ?? ""),
  };
  const copy = [...calls];
  copy[Math.min(delta.index, calls.length)] = next;
  return copy;
}

/** Ends an answer whose stream was closed by the user. */
export const stopAnswer = (answer: Answer, now: number): Answer =>
  answer.status === "running" ? { ...answer, status: "stopped", latencyMs: now - answer.startedAt } : answer;

/** Returns the text of a recorded answer, or its tool calls. */
export function contentToText(message: unknown): string {
  const read = asMessage(message);
  if (!read) return "";
  return joinParts(
    messageText(read),
    read.toolCalls.map(({ name, args }) => ({ name, args: JSON.stringify(args) })),
  );
}

/** Returns what an answer says, for differences: its text, or its structured value or tool calls as JSON. */
export function comparableText({ text, structured, toolCalls }: Answer): string {
  return joinParts(structured == null ? text : JSON.stringify(structured, null, 2), toolCalls);
}

const joinParts = (text: string, calls: AnswerToolCall[]): string =>
  [text, ...calls.map(({ name, args }) => `${name}(${args})`)].filter((part) => part !== "").join("\n\n");

/** Says what to do about an error. */
export function adviceFor({ kind, status, retryAfterSeconds, message }: AnswerError): string {
  if (status === 402) return "Raise the budget in Settings › Models, or wait until the next month.";
  if (status === 424 && /npm install/.test(message)) return "Install the package on the server and restart it.";
  if (status === 424) return "Add the key in Settings › Models.";
  if (status === 403 && kind === "request") return "Ask an admin of the workspace for the permission.";
  const wait = retryAfterSeconds === null ? "a moment" : `${retryAfterSeconds} s`;
  const advice: Record<string, string> = {
    auth: "Check the connection's key in Settings › Models.",
    rate_limit: `Retry in ${wait}, or choose another model.`,
    bad_request: "Change the messages, tools or parameters that the provider names.",
    not_found: "Check the model's name and the connection's base URL.",
    provider: `The provider failed. Retry in ${wait}.`,
    network: "Check the connection's base URL, and that the server may reach it (HEDDLE_OUTBOUND_ALLOW).",
    timeout: "Retry, or limit the answer's length.",
    malformed: "The endpoint does not speak the provider's API. Check the connection's base URL and provider.",
    blocked: "Allow the address in HEDDLE_OUTBOUND_ALLOW, or change the base URL.",
    request: "Correct the prompt and run it again.",
    connection: "Check that the server is running, then retry.",
  };
  return advice[kind] ?? "Retry, or open the trace for details.";
}
