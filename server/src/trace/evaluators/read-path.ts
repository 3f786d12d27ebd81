/**
 * Paths from a subject to a value: a root, then steps (../datasets/run-path.ts), such as `output.messages[-1].content`
 * or `metadata["ls.key"]`.
 */
import { parseSteps, readPath as follow, type Step } from "../datasets/run-path.ts";
import {
  conversationText,
  lastAnswer,
  lastQuestion,
  threadText,
  toolCallsText,
  traceText,
  contextText,
} from "./describe-subject.ts";
import type { EvaluatedRun, Subject } from "./schema.ts";

export interface Path {
  root: string;
  steps: Step[];
}

/** Spellings of other clients and products. */
const ALIASES: Record<string, string> = {
  inputs: "input",
  outputs: "output",
  reference_output: "reference",
  reference_outputs: "reference",
  referenceOutput: "reference",
  referenceOutputs: "reference",
  expected: "reference",
  expected_output: "reference",
  ground_truth: "reference",
  referenceInput: "reference_inputs",
  reference_input: "reference_inputs",
};

export const ROOTS: Record<string, string> = {
  input: "inputs of the run",
  output: "outputs of the run",
  question: "last message of the user in the inputs",
  answer: "last message of the assistant in the outputs",
  conversation: "messages of the inputs and outputs, as text",
  context: "documents that the run retrieved, as text",
  tool_calls: "calls of tools in the trace with their results, as text",
  trace: "runs of the trace as indented steps",
  thread: "conversation of the thread, as text",
  reference: "outputs of the reference example",
  reference_inputs: "inputs of the reference example",
  reference_metadata: "metadata of the reference example",
  metadata: "metadata of the run",
  tags: "tags of the run",
  name: "name of the run",
  error: "error of the run",
  latency_seconds: "seconds from the start to the end of the run",
  total_tokens: "tokens of the run, of a root those of its trace",
  total_cost: "cost of the run in US dollars, of a root that of its trace",
  other: "the other run of a pair: other.output and so on",
};

const MAX_STEPS = 50;
const HEAD = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Parses a path. Returns undefined for an invalid one, or one with an unknown root. */
export function parsePath(text: string): Path | undefined {
  const parsed = parseSteps(text.trim().replace(/^run\./, ""));
  if (typeof parsed === "string" || parsed.length > MAX_STEPS) return undefined;
  const [head, ...steps] = parsed;
  if (typeof head !== "string" || !HEAD.test(head)) return undefined;
  let root = ALIASES[head] ?? head;
  if (head === "example" && typeof steps[0] === "string") {
    const part = { outputs: "reference", inputs: "reference_inputs", metadata: "reference_metadata" }[
      steps.shift() as string
    ];
    if (part === undefined) return undefined;
    root = part;
  }
  return Object.hasOwn(ROOTS, root) ? { root, steps } : undefined;
}

/** Returns the value at a path; undefined when the subject has none. */
export function readPath(subject: Subject, { root, steps }: Path): unknown {
  if (root === "other") {
    const [first, ...rest] = steps;
    const inner = typeof first === "string" ? (ALIASES[first] ?? first) : "output";
    if (!subject.other || !Object.hasOwn(ROOTS, inner) || inner === "other") return undefined;
    const other: Subject = { kind: "run", run: subject.other, reference: subject.reference };
    return readPath(other, { root: inner, steps: typeof first === "string" ? rest : steps });
  }
  return follow(readRoot(subject, root), steps) ?? undefined;
}

function readRoot({ run, reference, thread }: Subject, root: string): unknown {
  switch (root) {
    case "input":
      return run.inputs;
    case "output":
      return run.outputs;
    case "question":
      return lastQuestion(run.inputs);
    case "answer":
      return lastAnswer(run.outputs);
    case "conversation":
      return conversationText(run);
    case "context":
      return contextText(run);
    case "tool_calls":
      return toolCallsText(run);
    case "trace":
      return traceText(run);
    case "thread":
      return thread && threadText(thread);
    case "reference":
      return reference?.outputs;
    case "reference_inputs":
      return reference?.inputs;
    case "reference_metadata":
      return reference?.metadata;
    case "latency_seconds":
      return latency(run);
    case "metadata":
    case "tags":
    case "name":
    case "error":
    case "total_tokens":
    case "total_cost":
      return run[root] ?? undefined;
    default:
      return undefined;
  }
}

/** Seconds, as lists show them; undefined while the run is pending. */
export const latency = ({ start_time, end_time }: EvaluatedRun): number | undefined =>
  end_time === null ? undefined : Math.max(0, Date.parse(end_time) - Date.parse(start_time)) / 1000;
