import type { BaseMessage } from "@langchain/core/messages";

import { unprocessable } from "../../base/errors.ts";
import { loadMessages } from "./load-package.ts";
import type { ContentBlock, Message } from "./message-schema.ts";
import type { Provider } from "./providers.ts";

/**
 * Converts messages to LangChain's. Images and files become LangChain's standard content blocks, or `image_url` blocks
 * for adapters that take no others.
 *
 * @throws 422 for content that the provider's adapter cannot send
 */
export async function toLangChain(
  messages: readonly Message[],
  provider: Provider,
  imageUrls: boolean,
): Promise<BaseMessage[]> {
  const { AIMessage, HumanMessage, SystemMessage, ToolMessage } = await loadMessages();
  return messages.map((message, index) => {
    const where = `messages.${index}.content`;
    const content =
      typeof message.content === "string"
        ? message.content
        : message.content.map((block, i) => toBlock(block, provider, imageUrls, `${where}.${i}`));
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

function toBlock(block: ContentBlock, provider: Provider, imageUrls: boolean, where: string): object {
  if (block.type === "text") return block;
  const { supports, name } = provider;
  if (block.type === "image" ? !supports.images : !supports.files) {
    throw unprocessable(`${where}: ${name} cannot be sent a block of the type "${block.type}"`);
  }
  if (imageUrls) {
    const url = "url" in block ? block.url : `data:${block.mime_type};base64,${block.data}`;
    if (provider.id === "ollama" && "url" in block) {
      throw unprocessable(`${where}.url: Ollama fetches no images; send the image as base64 data`);
    }
    return { type: "image_url", image_url: url };
  }
  if ("url" in block) {
    return {
      type: block.type,
      source_type: "url",
      url: block.url,
      ...(block.mime_type !== undefined && { mime_type: block.mime_type }),
    };
  }
  return {
    type: block.type,
    source_type: "base64",
    mime_type: block.mime_type,
    data: block.data,
    // OpenAI requires the name of a file
    metadata: { filename: block.filename ?? "file", name: block.filename ?? "file" },
  };
}
