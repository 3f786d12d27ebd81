import { messagesStateReducer } from "@langchain/langgraph";

interface Channel {
  lc_graph_name?: string;
  operator?: unknown;
  reducer?: unknown;
  initialValueFactory?: () => unknown;
}

/** Derives the JSON Schema of a channel from its reducer and default. An unknown type is `{}`: anything. */
export function channelSchema(name: string, channel: unknown): object {
  const { operator, reducer, initialValueFactory } = (channel ?? {}) as Channel;
  const initial = initialValue(initialValueFactory);
  if (
    operator === messagesStateReducer ||
    reducer === messagesStateReducer ||
    (name === "messages" && Array.isArray(initial))
  ) {
    return MESSAGES;
  }
  if (Array.isArray(initial)) return { type: "array", items: {} };
  if (initial === null || initial === undefined) return {};
  if (typeof initial === "object") return { type: "object" };
  return ["string", "number", "boolean"].includes(typeof initial) ? { type: typeof initial } : {};
}

function initialValue(factory: (() => unknown) | undefined): unknown {
  try {
    return factory?.();
  } catch {
    return undefined;
  }
}

/** Schema by which LangGraph's servers and clients recognize a list of messages. */
export const MESSAGES = {
  type: "array",
  langgraph_type: "messages",
  items: {
    type: "object",
    properties: {
      type: { type: "string", enum: ["human", "ai", "system", "tool", "function", "remove"] },
      content: { anyOf: [{ type: "string" }, { type: "array", items: { type: "object" } }] },
      id: { type: "string" },
      name: { type: "string" },
    },
    required: ["type", "content"],
  },
};
