import { firstAttribute, isObject, listed, toObject, parsed } from "./attributes.ts";
import type { Attributes, OtelSpan } from "./otel-span.ts";

type Json = Record<string, unknown>;

export interface InputsOutputs {
  inputs?: Json;
  outputs?: Json;
}

/** Reads GenAI events, one per message (contract §2.3, rule 2). */
export function fromEvents({ events }: OtelSpan): InputsOutputs {
  const inputMessages: Json[] = [];
  const outputMessages: Json[] = [];
  const choices: Json[] = [];
  const result: InputsOutputs = {};
  for (const { name, attributes } of events) {
    if (name === "gen_ai.content.prompt") result.inputs = toObject(attributes["gen_ai.prompt"], "input");
    else if (name === "gen_ai.content.completion") result.outputs = toObject(attributes["gen_ai.completion"], "output");
    else if (name === "gen_ai.system.message" || name === "gen_ai.user.message")
      inputMessages.push(eventMessage(name, attributes));
    else if (name === "gen_ai.assistant.message" || name === "gen_ai.tool.message") {
      outputMessages.push(eventMessage(name, attributes));
    } else if (name === "gen_ai.choice") choices.push(eventChoice(attributes));
  }
  if (inputMessages.length > 0) result.inputs = { ...result.inputs, messages: inputMessages };
  if (outputMessages.length > 0) result.outputs = { ...result.outputs, messages: outputMessages };
  if (choices.length > 0) result.outputs = { ...result.outputs, choices };
  return result;
}

function eventMessage(event: string, attributes: Attributes): Json {
  const whole = parsed(attributes["gen_ai.event.content"]);
  if (isObject(whole)) return { role: eventRole(event), ...whole };
  const { id, role, content } = attributes;
  return {
    role: role ?? eventRole(event),
    content: parsed(content) ?? "",
    ...(id !== undefined && { tool_call_id: id }),
  };
}

const eventRole = (event: string): string => event.split(".")[1]!;

function eventChoice(attributes: Attributes): Json {
  const whole = parsed(attributes["gen_ai.event.content"]);
  if (isObject(whole)) return whole;
  const calls = listed(attributes, "tool_calls").map(toolCall);
  return {
    finish_reason: attributes["finish_reason"] ?? null,
    message: {
      role: attributes["message.role"] ?? "assistant",
      content: parsed(attributes["message.content"]) ?? "",
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  };
}

const toolCall = (call: Attributes): Json => ({
  id: firstAttribute(call, "id", "tool_call.id"),
  type: call["type"] ?? "function",
  function: {
    name: firstAttribute(call, "function.name", "tool_call.function.name", "name"),
    arguments: firstAttribute(call, "function.arguments", "tool_call.function.arguments", "arguments"),
  },
});

/** Reads messages spelt out by index, or given whole (rule 10). */
export function fromMessages({ attributes }: OtelSpan): InputsOutputs {
  const inputs =
    spelt(attributes, "gen_ai.prompt") ??
    spelt(attributes, "llm.input_messages") ??
    whole(attributes["gen_ai.input.messages"], attributes["gen_ai.system_instructions"]);
  const outputs =
    spelt(attributes, "gen_ai.completion") ??
    spelt(attributes, "llm.output_messages") ??
    whole(attributes["gen_ai.output.messages"], undefined);
  return { ...(inputs && { inputs: { messages: inputs } }), ...(outputs && { outputs: { messages: outputs } }) };
}

function spelt(attributes: Attributes, prefix: string): Json[] | undefined {
  const messages = listed(attributes, prefix).map((item): Json => {
    // Traceloop sends role, OpenInference message.role
    const flat = Object.fromEntries(Object.entries(item).map(([key, value]) => [key.replace(/^message\./, ""), value]));
    const parts = listed(flat, "contents").map((part) => parsed(firstAttribute(part, "message_content.text", "text")));
    const calls = listed(flat, "tool_calls").map(toolCall);
    const id = firstAttribute(flat, "tool_call_id");
    return {
      role: flat["role"] ?? "user",
      content: parts.length > 0 ? parts.map((text) => ({ type: "text", text })) : (flat["content"] ?? ""),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(id !== undefined && { tool_call_id: id }),
      ...(flat["finish_reason"] !== undefined && { finish_reason: flat["finish_reason"] }),
    };
  });
  return messages.length > 0 ? messages : undefined;
}

function whole(value: unknown, instructions: unknown): unknown[] | undefined {
  const messages = parsed(value);
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const system = parsed(instructions);
  return system === undefined ? messages : [{ role: "system", content: system }, ...(messages as unknown[])];
}

/** Reads the query and the documents of a retriever (rule 9). */
export function fromRetriever({ attributes }: OtelSpan): InputsOutputs {
  const documents = listed(attributes, "retrieval.documents").map((item) => ({
    page_content: item["document.content"] ?? "",
    metadata: parsed(item["document.metadata"]) ?? {},
    type: "Document",
  }));
  const query = attributes["input.value"];
  return {
    ...(query !== undefined && { inputs: toObject(query, "query") }),
    ...(documents.length > 0 && { outputs: { documents } }),
  };
}

/** Reads whole values (rule 11), including Logfire's list of events. */
export function fromValues({ attributes }: OtelSpan): InputsOutputs {
  const input = firstAttribute(
    attributes,
    "input.value",
    "traceloop.entity.input",
    "gen_ai.prompt",
    "prompt",
    "gen_ai.tool.call.arguments",
  );
  const output = firstAttribute(
    attributes,
    "output.value",
    "traceloop.entity.output",
    "gen_ai.completion",
    "all_messages_events",
    "gen_ai.tool.call.result",
  );
  const result: InputsOutputs = {
    ...(input !== undefined && { inputs: toObject(input, "input") }),
    ...(output !== undefined && { outputs: toObject(output, "text") }),
  };
  const events = parsed(attributes["events"]);
  if (!Array.isArray(events)) return result;
  const objects = events.filter(isObject);
  const choices = objects.filter((event) => event["event.name"] === "gen_ai.choice");
  const rest = objects.filter((event) => event["event.name"] !== "gen_ai.choice");
  if (rest.length > 0) result.inputs ??= { input: rest };
  if (choices.length > 0) result.outputs ??= { choices };
  return result;
}
