import type { BaseMessage } from "@langchain/core/messages";

export const lastText = (messages: BaseMessage[]): string => messages.at(-1)?.text ?? "";
