import { uuid7 } from "../../base/ids.ts";
import { type CodeRunner, Unavailable } from "./code-runner.ts";
import type { Language } from "./languages.ts";
import { MAX_DEPTH } from "../../base/json-structure.ts";

export interface CodeOrder {
  language: Language;
  code: string;
  /** Workspace, for fair turns. */
  tenantId: string;
  run: object;
  example: object | null;
  /** A pair or thread, as the function's third argument. */
  more?: object;
  /** Default: that of the setting, which is also the maximum. */
  timeoutMs?: number;
  signal: AbortSignal;
}

/** `unavailable` may be tried again later: this server cannot evaluate the language, or is busy or stopping. */
export type CodeFailure = "error" | "timeout" | "memory" | "syntax" | "unavailable";
export type CodeResult =
  | { ok: true; value: unknown; logs: string }
  | { ok: false; kind: CodeFailure; message: string; logs: string };

interface CodeDeps {
  codeRunner: CodeRunner;
}

/** Largest code in characters. */
export const MAX_CODE = 256 * 1024;
/** Largest input in bytes: what it becomes in an interpreter takes several times as much memory. */
const MAX_INPUT = 16 * 1024 * 1024;
/** Code that is only loaded needs less than code that is called. */
const CHECK_MS = 2000;

/**
 * Calls the function of an evaluator with a run and an example: `performEval(run, example)` in JavaScript,
 * `perform_eval(run, example)` in Python. Returns its value, which is JSON, and what it printed. Never throws for code
 * that fails.
 */
export async function runCode({ codeRunner }: CodeDeps, order: CodeOrder): Promise<CodeResult> {
  const { run, example, more = null, ...rest } = order;
  const input = JSON.stringify({ run, example, more });
  if (Buffer.byteLength(input) > MAX_INPUT) {
    const megabytes = Math.ceil(Buffer.byteLength(input) / 1024 / 1024);
    return failure("memory", `The run and its reference have ${megabytes} MiB; evaluators in code get at most 16.`);
  }
  const limit = codeRunner.settings.codeEvaluatorSeconds * 1000;
  return await evaluate(codeRunner, { ...rest, input, timeoutMs: Math.min(order.timeoutMs ?? limit, limit) });
}

/** Loads code without calling its function. Returns why it cannot be used. Throws if this server cannot tell. */
export async function checkCode(
  { codeRunner }: CodeDeps,
  language: Language,
  code: string,
  tenantId: string = uuid7(),
): Promise<{ ok: true } | { ok: false; message: string }> {
  const signal = new AbortController().signal;
  const order = { language, code, tenantId, input: "null", timeoutMs: CHECK_MS, signal, check: true };
  const result = await evaluate(codeRunner, order);
  return result.ok ? { ok: true } : { ok: false, message: result.message };
}

interface Order {
  language: Language;
  code: string;
  tenantId: string;
  input: string;
  timeoutMs: number;
  signal: AbortSignal;
  check?: boolean;
}

async function evaluate(codeRunner: CodeRunner, order: Order): Promise<CodeResult> {
  const { language, tenantId, signal, code, input, timeoutMs, check = false } = order;
  if (code.length > MAX_CODE) return failure("syntax", `The code has more than ${MAX_CODE} characters.`);
  try {
    const body = Buffer.from(JSON.stringify({ code, input, timeoutMs, check }));
    const outcome = await codeRunner.run({ language, tenantId, order: body, timeoutMs, signal });
    switch (outcome.how) {
      case "replied":
        return readReply(outcome.reply);
      case "timeout":
        return late(timeoutMs);
      case "aborted":
        return failure("unavailable", "The evaluation was cancelled.");
      case "died":
        return explainDeath(outcome.by, timeoutMs);
    }
  } catch (error) {
    if (error instanceof Unavailable) return failure("unavailable", error.message);
    throw error;
  }
}

function explainDeath(by: string, timeoutMs: number): CodeResult {
  // the limit of processor time
  if (by === "SIGXCPU") return late(timeoutMs);
  if (by === "SIGKILL" || by === "SIGABRT")
    return failure("memory", `The code ended its interpreter (${by}), probably for lack of memory.`);
  return failure("error", `The code ended its interpreter (${by}).`);
}

const late = (timeoutMs: number) => failure("timeout", `The code ran longer than ${timeoutMs / 1000} s.`);

const failure = (kind: CodeFailure, message: string): CodeResult => ({ ok: false, kind, message, logs: "" });

interface Reply {
  ok: boolean;
  /** JSON. */
  value: string;
  kind: CodeFailure;
  message: string;
  logs: string;
}

/** Reads a reply, which a hostile evaluator may have written itself. */
function readReply(body: Buffer): CodeResult {
  try {
    const { ok, value, kind, message, logs } = JSON.parse(body.toString()) as Reply;
    if (ok === true) return { ok: true, value: readValue(value), logs: String(logs) };
    const known = (["error", "timeout", "memory", "syntax"] as const).find((name) => name === kind);
    return { ok: false, kind: known ?? "error", message: String(message), logs: String(logs) };
  } catch (error) {
    return failure("error", `The evaluator's result cannot be read: ${(error as Error).message}`);
  }
}

function readValue(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (depth(value) > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** Counts the levels of a value, without recursion. */
function depth(value: unknown): number {
  let level = [value];
  for (let levels = 0; ; levels++) {
    level = level.filter((each) => typeof each === "object" && each !== null).flatMap((each) => Object.values(each!));
    if (level.length === 0 || levels > MAX_DEPTH) return levels;
  }
}
