import type { BaseMessage } from "@langchain/core/messages";

import { unprocessable } from "../../base/errors.ts";
import type { ToBlock } from "./content-blocks.ts";
import { loadMessages } from "./load-package.ts";
import type { ContentBlock, Message } from "./message-schema.ts";

/**
 * Converts messages to LangChain's.
 * @param toBlock converts images and files as the provider's adapter takes them
 * @throws 422 for content that the adapter cannot send
 */
export async function toLangChain(messages: readonly Message[], toBlock: ToBlock): Promise<BaseMessage[]> {
  const { AIMessage, HumanMessage, SystemMessage, ToolMessage } = await loadMessages();
  return messages.map((message, index) => {
    const where = `messages.${index}.content`;
    const content =
      typeof message.content === "string"
        ? message.content
        : message.content.map((block, i) => convert(block, toBlock, `${where}.${i}`));
    const name = message.name === undefined ? {} : { name: message.name };
    switch (message.role) {
      case "system":
        return new SystemMessage({ content: content as string, ...name });
      case "user":
        return new HumanMessage({ content: content as string, ...name });
      case "assistant": {
        const tool_calls = (message.tool_calls ?? []).map((call, i) => ({
          type: "tool_call" as const,
          id: call.id ?? `call_${index}_${i}`,
          name: call.name,
          args: call.args,
        }));
        return new AIMessage({ content: content as string, tool_calls, ...name });
      }
      case "tool":
        if (message.tool_call_id === undefined) throw unprocessable(`messages.${index}.tool_call_id: required`);
        return new ToolMessage({ content: content as string, tool_call_id: message.tool_call_id, ...name });
    }
  });
}

function convert(block: ContentBlock, toBlock: ToBlock, where: string): object {
  if (block.type === "text") return block;
  const converted = toBlock(block);
  if (typeof converted === "string") throw unprocessable(`${where}: ${converted}`);
  return converted;
}
