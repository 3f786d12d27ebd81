import { isObject, listed, toObject, parsed } from "./attributes.ts";
import { messages, toolCall } from "./messages.ts";
import type { Attributes, OtelSpan } from "./otel-span.ts";

type Json = Record<string, unknown>;

export interface InputsOutputs {
  inputs?: Json;
  outputs?: Json;
}

/** Reads GenAI events, one per message. */
export function fromEvents({ events }: OtelSpan): InputsOutputs {
  const inputMessages: Json[] = [];
  const choices: Json[] = [];
  // beside a choice, which is the answer, they are those of earlier turns
  const outputMessages: Json[] = events.some(({ name }) => name === "gen_ai.choice") ? inputMessages : [];
  const result: InputsOutputs = {};
  for (const { name, attributes } of events) {
    if (name === "gen_ai.content.prompt") result.inputs = toObject(attributes["gen_ai.prompt"], "input");
    else if (name === "gen_ai.content.completion") result.outputs = toObject(attributes["gen_ai.completion"], "output");
    else if (name === "gen_ai.system.message" || name === "gen_ai.user.message")
      inputMessages.push(eventMessage(name, attributes));
    else if (name === "gen_ai.assistant.message" || name === "gen_ai.tool.message") {
      outputMessages.push(eventMessage(name, attributes));
    } else if (name === "gen_ai.choice") choices.push(eventChoice(attributes));
    else if (name === "gen_ai.client.inference.operation.details") {
      const [inputs, outputs] = [messages.inputs(attributes), messages.outputs(attributes)];
      if (inputs) result.inputs = inputs;
      if (outputs) result.outputs = outputs;
    }
  }
  if (inputMessages.length > 0) result.inputs = { ...result.inputs, messages: inputMessages };
  if (outputMessages !== inputMessages && outputMessages.length > 0)
    result.outputs = { ...result.outputs, messages: outputMessages };
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
  const finish_reason = attributes["finish_reason"] ?? null;
  if (attributes["message"] !== undefined) return { finish_reason, message: strandsMessage(attributes) };
  return {
    finish_reason,
    message: {
      role: attributes["message.role"] ?? "assistant",
      content: parsed(attributes["message.content"]) ?? "",
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  };
}

/** Strands Agents sends a message, or only its content, as JSON text; a tool's result has the id of its call. */
function strandsMessage({ message, id }: Attributes): Json {
  const content = parsed(message);
  if (isObject(content) && content["role"] !== undefined) return content;
  return id === undefined ? { role: "assistant", content } : { role: "tool", content, tool_call_id: id };
}
