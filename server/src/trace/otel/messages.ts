/**
 * Sources of a span's inputs and outputs. The two sides are separate functions, so that
 * reading one leaves the attributes of the other unread (`recordReads`).
 */
import { firstAttribute, isObject, listed, toObject, parsed } from "./attributes.ts";
import type { Attributes } from "./otel-span.ts";

type Json = Record<string, unknown>;
type Side = (attributes: Attributes) => Json | undefined;

interface Source {
  inputs: Side;
  outputs: Side;
}

export const toolCall = (call: Attributes): Json => ({
  id: firstAttribute(call, "id", "tool_call.id"),
  type: call["type"] ?? "function",
  function: {
    name: firstAttribute(call, "function.name", "tool_call.function.name", "name"),
    arguments: firstAttribute(call, "function.arguments", "tool_call.function.arguments", "arguments"),
  },
});

const under = (key: string, value: unknown): Json | undefined => (value === undefined ? undefined : { [key]: value });

/** Messages spelt out by index, or given whole (rule 10). */
export const messages: Source = {
  inputs: (attributes) =>
    under(
      "messages",
      spelt(attributes, "gen_ai.prompt") ??
        spelt(attributes, "llm.input_messages") ??
        withInstructions(list(attributes["gen_ai.input.messages"]), attributes),
    ),
  outputs: (attributes) =>
    under(
      "messages",
      spelt(attributes, "gen_ai.completion") ??
        spelt(attributes, "llm.output_messages") ??
        list(attributes["gen_ai.output.messages"]),
    ),
};

function spelt(attributes: Attributes, prefix: string): Json[] | undefined {
  const spelled = listed(attributes, prefix).map((item): Json => {
    // Traceloop sends role, OpenInference message.role
    const flat = Object.fromEntries(Object.entries(item).map(([key, value]) => [key.replace(/^message\./, ""), value]));
    const parts = listed(flat, "contents").map(contentPart);
    const calls = listed(flat, "tool_calls").map(toolCall);
    const { role, content, ...rest } = flat;
    const others = Object.entries(rest).filter(([key]) => !/^(?:contents|tool_calls)\.\d/.test(key));
    return {
      role: role ?? "user",
      content: parts.length > 0 ? parts : (content ?? ""),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...Object.fromEntries(others),
    };
  });
  return spelled.length > 0 ? spelled : undefined;
}

/** Converts a part of a message: text as such, an image or audio with its URL, which may contain the data. */
function contentPart(item: Attributes): Json {
  const part = Object.fromEntries(
    Object.entries(item).map(([key, value]) => [key.replace(/^message_content\./, ""), value]),
  );
  const { type, text, "image.image.url": image, "audio.audio.url": audio, ...others } = part;
  const rest = Object.fromEntries(
    Object.entries(others).map(([key, value]) => [key.replace(/^(?:image\.image|audio\.audio)\./, ""), value]),
  );
  if (image !== undefined) return { type: "image_url", image_url: { url: image }, ...withText(text), ...rest };
  if (audio !== undefined) return { type: "audio", url: audio, ...withText(text), ...rest };
  return { type: type ?? "text", ...withText(text), ...rest };
}

const withText = (text: unknown): Json => (text === undefined ? {} : { text: parsed(text) });

function list(value: unknown): unknown[] | undefined {
  const found = parsed(value);
  return Array.isArray(found) && found.length > 0 ? (found as unknown[]) : undefined;
}

function withInstructions(found: unknown[] | undefined, attributes: Attributes): unknown[] | undefined {
  const system = found && parsed(attributes["gen_ai.system_instructions"]);
  return system === undefined ? found : [{ role: "system", content: system }, ...found!];
}

/** The query and the documents of a retriever or a reranker (rule 9). */
export const retrieval: Source = {
  inputs(attributes) {
    const documents = listed(attributes, "reranker.input_documents").map(toDocument);
    const query = firstAttribute(attributes, "reranker.query", "input.value");
    if (query === undefined && documents.length === 0) return undefined;
    return { ...(query !== undefined && toObject(query, "query")), ...(documents.length > 0 && { documents }) };
  },
  outputs(attributes) {
    const documents = ["retrieval.documents", "reranker.output_documents"]
      .flatMap((prefix) => listed(attributes, prefix))
      .map(toDocument);
    return documents.length > 0 ? { documents } : undefined;
  },
};

function toDocument({ "document.content": content, "document.metadata": metadata, ...others }: Attributes): Json {
  const rest = Object.entries(others).map(([key, value]) => [key.replace(/^document\./, ""), value]);
  const own = parsed(metadata) ?? {};
  return {
    page_content: content ?? "",
    metadata: { ...(isObject(own) ? own : { metadata: own }), ...(Object.fromEntries(rest) as Json) },
    type: "Document",
  };
}

/** The texts and vectors of an embedding in OpenInference. */
export const embedding: Source = {
  inputs(attributes) {
    const texts = embeddings(attributes, "text");
    return texts.length > 0 ? { texts } : undefined;
  },
  outputs(attributes) {
    const vectors = embeddings(attributes, "vector");
    return vectors.length > 0 ? { embeddings: vectors } : undefined;
  },
};

function embeddings(attributes: Attributes, part: "text" | "vector"): unknown[] {
  const names = Object.keys(attributes).filter((name) =>
    new RegExp(`^embedding\\.embeddings\\.\\d{1,5}\\.embedding\\.${part}$`).test(name),
  );
  const index = (name: string) => Number(name.split(".")[2]);
  return names.toSorted((a, b) => index(a) - index(b)).map((name) => attributes[name]);
}

/** Prompts, responses, tools and embeddings of the Vercel AI SDK. */
export const vercel: Source = {
  inputs(attributes) {
    const prompted = list(attributes["ai.prompt.messages"]);
    if (prompted) return { messages: prompted };
    const value = firstAttribute(attributes, "ai.prompt", "ai.toolCall.args", "ai.toolCall.input");
    if (value !== undefined) return toObject(value, "input");
    const texts = [attributes["ai.value"] ?? attributes["ai.values"] ?? []].flat().map(parsed);
    return texts.length > 0 ? { texts } : undefined;
  },
  outputs(attributes) {
    const text = firstAttribute(attributes, "ai.response.text", "ai.result.text");
    const calls = list(firstAttribute(attributes, "ai.response.toolCalls", "ai.result.toolCalls"));
    const reasoning = firstAttribute(attributes, "ai.response.reasoning");
    if (text !== undefined || calls) {
      const message = { role: "assistant", content: text ?? "", ...(calls && { tool_calls: calls.map(vercelCall) }) };
      return { messages: [{ ...message, ...(reasoning !== undefined && { reasoning }) }] };
    }
    const value = firstAttribute(attributes, "ai.response.object", "ai.result.object", "ai.toolCall.result");
    if (value !== undefined) return toObject(value, "output");
    const vectors = [attributes["ai.embedding"] ?? attributes["ai.embeddings"] ?? []].flat().map(parsed);
    return vectors.length > 0 ? { embeddings: vectors } : undefined;
  },
};

function vercelCall(call: unknown): unknown {
  if (!isObject(call)) return call;
  const { toolCallId, toolName, args, input, ...rest } = call;
  const given = args ?? input;
  return {
    id: toolCallId,
    type: "function",
    function: { name: toolName, arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}) },
    ...rest,
  };
}

/** Whole values (rule 11), including Logfire's list of events. */
export const values: Source = {
  inputs(attributes) {
    const value = firstAttribute(
      attributes,
      "input.value",
      "traceloop.entity.input",
      "gen_ai.prompt",
      "prompt",
      "gen_ai.tool.call.arguments",
      "tool_arguments",
    );
    if (value !== undefined) return toObject(value, "input");
    const events = logfireEvents(attributes, false);
    if (events.length > 0) return { input: events };
    const request = parsed(attributes["request_data"]);
    if (isObject(request)) return request;
    const asked = conversation(attributes).asked;
    return asked && asked.length > 0 ? { messages: asked } : undefined;
  },
  outputs(attributes) {
    const value = firstAttribute(
      attributes,
      "output.value",
      "traceloop.entity.output",
      "gen_ai.completion",
      "gen_ai.tool.call.result",
      "tool_response",
    );
    if (value !== undefined) return toObject(value, "text");
    const { answer } = conversation(attributes);
    const final = parsed(attributes["final_result"]);
    // a text is that of the answer, which says more
    if (final !== undefined && (isObject(final) || !answer)) return toObject(final, "text");
    const choices = logfireEvents(attributes, true);
    if (choices.length > 0) return { choices };
    const response = parsed(attributes["response_data"]);
    if (isObject(response)) return logfireResponse(response);
    if (answer) return { messages: [answer] };
    const events = attributes["all_messages_events"];
    return events === undefined || list(events) ? undefined : toObject(events, "text");
  },
};

/** Logfire's instrumentation of a client has the message of an answer, or the text of a streamed one. */
function logfireResponse({ message, ...response }: Json): Json {
  if (message === undefined) return response;
  return { messages: [isObject(message) ? message : { role: "assistant", content: message }], ...response };
}

/** A whole conversation of Pydantic AI, whose last message is the answer unless the agent failed. */
function conversation(attributes: Attributes): { asked?: unknown[]; answer?: Json } {
  const all = list(firstAttribute(attributes, "pydantic_ai.all_messages", "all_messages_events"));
  if (!all) return {};
  const last = all.at(-1);
  return isObject(last) && last["role"] === "assistant" ? { asked: all.slice(0, -1), answer: last } : { asked: all };
}

function logfireEvents(attributes: Attributes, choices: boolean): Json[] {
  const events = list(attributes["events"]) ?? [];
  return events.filter(isObject).filter((event) => (event["event.name"] === "gen_ai.choice") === choices);
}
