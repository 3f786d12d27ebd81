/** Describes runs as text for judges: conversations, the steps of a trace, calls of tools, retrieved documents. */
import type { Message } from "../models/message-schema.ts";
import { isObject, readMessage, readMessageList } from "../playground/read-messages.ts";
import type { EvaluatedRun } from "./schema.ts";
import { shorten } from "./shorten.ts";

/** Fields in which applications keep messages, questions and answers. */
const LISTS = ["messages", "chat_history", "history", "conversation"];
const QUESTIONS = ["question", "query", "input", "text", "prompt", "user_input", "message", "content"];
const ANSWERS = ["answer", "output", "response", "result", "text", "content", "completion", "generation", "message"];
/** Characters of a step's inputs, outputs and error. */
const MAX_STEP = 1500;
const MAX_STEPS = 300;

/** Returns the messages in inputs or outputs of any client; undefined when there are none. */
export function findMessages(value: unknown): Message[] | undefined {
  const list = Array.isArray(value)
    ? value
    : isObject(value)
      ? LISTS.map((name) => value[name]).find(Array.isArray)
      : undefined;
  if (!list) return fromModel(value);
  // LangChain's tracer sends batches of messages
  const flat: unknown[] = list.length === 1 && Array.isArray(list[0]) ? (list[0] as unknown[]) : list;
  const looksRight = flat.length > 0 && flat.every(isMessage);
  return looksRight ? readMessageList(flat, new Set()) : undefined;
}

const isMessage = (item: unknown): boolean =>
  isObject(item) &&
  ("role" in item ||
    "content" in item ||
    (item["type"] === "constructor" && Array.isArray(item["id"])) ||
    "data" in item);

/** Reads the outputs of a call to a model. */
function fromModel(value: unknown): Message[] | undefined {
  if (!isObject(value)) return undefined;
  const generations = Array.isArray(value["generations"]) ? (value["generations"] as unknown[]).flat() : [];
  const [generation] = generations;
  if (isObject(generation))
    return readMessage(generation["message"] ?? { role: "assistant", content: generation["text"] }, new Set());
  const [choice] = Array.isArray(value["choices"]) ? (value["choices"] as unknown[]) : [];
  if (isObject(choice) && isObject(choice["message"])) return readMessage(choice["message"], new Set());
  return undefined;
}

export const textOf = ({ content }: Message): string =>
  typeof content === "string"
    ? content
    : content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");

/** Returns the last message of the user, or the text that is the question; the whole inputs when neither is found. */
export function lastQuestion(inputs: unknown): unknown {
  const spoken = findMessages(inputs)?.findLast(({ role }) => role === "user");
  return spoken ? textOf(spoken) : pick(inputs, QUESTIONS);
}

/** Returns the last text of the assistant, or the text that is the answer; the whole outputs when neither is found. */
export function lastAnswer(outputs: unknown): unknown {
  const spoken = findMessages(outputs)?.findLast(
    (message) => message.role === "assistant" && textOf(message).trim() !== "",
  );
  return spoken ? textOf(spoken) : pick(outputs, ANSWERS);
}

function pick(value: unknown, names: string[]): unknown {
  if (!isObject(value)) return value ?? undefined;
  const name = names.find((each) => typeof value[each] === "string");
  if (name !== undefined) return value[name];
  const texts = Object.values(value).filter((each) => typeof each === "string");
  const isOnly = texts.length === 1 && Object.keys(value).length === 1;
  return isOnly ? texts[0] : Object.keys(value).length === 0 ? undefined : value;
}

/** Formats messages as lines of their authors. */
const messagesText = (messages: readonly Message[]): string =>
  messages
    .map((message) => {
      const calls = (message.tool_calls ?? []).map(({ name, args }) => `[calls ${name}(${JSON.stringify(args)})]`);
      const author =
        message.role === "tool" ? `tool${message.name === undefined ? "" : ` ${message.name}`}` : message.role;
      return `${author}: ${[textOf(message), ...calls].filter((part) => part !== "").join("\n")}`;
    })
    .join("\n");

/** The messages of a run; outputs of graphs repeat those of the inputs. */
export function conversationText(run: EvaluatedRun): unknown {
  const before = findMessages(run.inputs);
  const after = findMessages(run.outputs);
  if (after && (!before || after.length > before.length)) return messagesText(after);
  if (before) return messagesText([...before, ...(after ?? answerMessage(run.outputs))]);
  return messagesText(turn(run));
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 1));

const answerMessage = (outputs: unknown): Message[] => {
  const answer = lastAnswer(outputs);
  return answer === undefined ? [] : [{ role: "assistant", content: asText(answer) }];
};

function turn(run: EvaluatedRun): Message[] {
  const question = lastQuestion(run.inputs);
  const asked: Message[] = question === undefined ? [] : [{ role: "user", content: asText(question) }];
  const failed: Message[] =
    run.error === null ? [] : [{ role: "assistant", content: `[failed: ${shorten(run.error, 500)}]` }];
  return [...asked, ...answerMessage(run.outputs), ...failed];
}

/** Formats the turns of a thread: what the user said and what was answered. Outputs of graphs hold the whole history. */
export const threadText = (turns: readonly EvaluatedRun[]): string =>
  turns.map((run, i) => `--- turn ${i + 1}\n${messagesText(turn(run))}`).join("\n");

interface Step {
  run: EvaluatedRun;
  depth: number;
  hasChildren: boolean;
}

const isHidden = (run: EvaluatedRun): boolean =>
  run.tags.includes("langsmith:hidden") ||
  /^(ChannelWrite|ChannelRead|__start__|RunnableSequence|RunnableLambda)/.test(run.name);

/** Returns the runs below in depth-first order. Internal steps of LangGraph are left out; what is below them stays. */
function steps(root: EvaluatedRun): Step[] {
  const below = new Map<string, EvaluatedRun[]>();
  for (const child of root.children ?? []) {
    const parent = child.parent_run_id ?? "";
    below.set(parent, [...(below.get(parent) ?? []), child]);
  }
  const found: Step[] = [];
  const stack: { run: EvaluatedRun; depth: number }[] = [{ run: root, depth: 0 }];
  const seen = new Set<string>();
  while (stack.length > 0 && found.length < MAX_STEPS) {
    const { run, depth } = stack.pop()!;
    if (seen.has(run.id)) continue;
    seen.add(run.id);
    const children = below.get(run.id) ?? [];
    const isShown = depth === 0 || !isHidden(run);
    if (isShown) found.push({ run, depth, hasChildren: children.length > 0 });
    for (const child of children.toReversed()) stack.push({ run: child, depth: depth + (isShown ? 1 : 0) });
  }
  return found;
}

/** Formats a trace as indented steps: types, names, and of calls their inputs and outputs. */
export function traceText(root: EvaluatedRun): string {
  const lines: string[] = [];
  const all = steps(root);
  for (const { run, depth, hasChildren } of all) {
    const indent = "  ".repeat(Math.min(depth, 20));
    lines.push(`${indent}- [${run.run_type}] ${run.name}${duration(run)}`);
    const isCall = ["tool", "llm", "retriever"].includes(run.run_type) || !hasChildren || depth === 0;
    const put = (label: string, value: unknown) => {
      if (value !== null && value !== undefined)
        lines.push(`${indent}  ${label}: ${shorten(fieldText(value), MAX_STEP)}`);
    };
    if (isCall) put("input", run.inputs);
    if (isCall) put("output", run.outputs);
    if (run.error !== null) put("error", run.error);
  }
  const total = (root.children?.length ?? 0) + 1;
  if (all.length === MAX_STEPS && total > MAX_STEPS) lines.push(`[… ${total - MAX_STEPS} more steps are not shown]`);
  return lines.join("\n");
}

function duration({ start_time, end_time }: EvaluatedRun): string {
  return end_time === null ? "" : ` (${((Date.parse(end_time) - Date.parse(start_time)) / 1000).toFixed(1)} s)`;
}

/** Formats a value: messages as a conversation, text as it is, other values as JSON. */
export function fieldText(value: unknown): string {
  if (typeof value === "string") return value;
  const messages = findMessages(value);
  const others = isObject(value) ? Object.keys(value).filter((name) => !LISTS.includes(name)) : [];
  if (messages && (others.length === 0 || Array.isArray(value))) return messagesText(messages);
  return JSON.stringify(value, null, 1) ?? "";
}

/** Formats the calls of tools of a trace; those of the messages when the trace has no runs of tools. */
export function toolCallsText(root: EvaluatedRun): string | undefined {
  const tools = steps(root).filter(({ run, depth }) => run.run_type === "tool" && depth > 0);
  if (tools.length > 0) {
    return tools
      .map(({ run }, i) => {
        const result = run.error === null ? fieldText(run.outputs ?? "") : `failed: ${run.error}`;
        return `${i + 1}. ${run.name}(${shorten(fieldText(run.inputs ?? ""), MAX_STEP)})\n   result: ${shorten(result, MAX_STEP)}`;
      })
      .join("\n");
  }
  const messages = findMessages(root.outputs) ?? [];
  const since = messages.findLastIndex(({ role }) => role === "user");
  const lines = messages.slice(since + 1).flatMap((message) => {
    if (message.role === "tool")
      return [`   result of ${message.name ?? message.tool_call_id ?? "tool"}: ${shorten(textOf(message), MAX_STEP)}`];
    return (message.tool_calls ?? []).map(({ name, args }) => `- ${name}(${shorten(JSON.stringify(args), MAX_STEP)})`);
  });
  return lines.length > 0 ? lines.join("\n") : undefined;
}

/** Formats the documents that a run retrieved: outputs of retrievers below, else its own fields. */
export function contextText(root: EvaluatedRun): string | undefined {
  const retrieved = steps(root).filter(({ run }) => run.run_type === "retriever");
  const lists = retrieved.map(({ run }) =>
    isObject(run.outputs) ? (run.outputs["documents"] ?? run.outputs["output"] ?? run.outputs) : run.outputs,
  );
  for (const field of [root.outputs, root.inputs]) {
    if (lists.length > 0 || !isObject(field)) continue;
    const own = ["context", "documents", "docs", "sources", "retrieved_documents", "contexts"]
      .map((name) => field[name])
      .find((each) => each != null);
    if (own !== undefined) lists.push(own);
  }
  const documents = lists.flat().filter((each) => each != null);
  if (documents.length === 0) return undefined;
  return documents.map((document, i) => `[${i + 1}] ${documentText(document)}`).join("\n");
}

function documentText(document: unknown): string {
  if (!isObject(document)) return asText(document);
  const inner = isObject(document["kwargs"]) ? document["kwargs"] : document;
  const text = [inner["page_content"], inner["pageContent"], inner["content"], inner["text"]].find(
    (each) => typeof each === "string",
  );
  return typeof text === "string" ? text : asText(document);
}
