import { SimpleChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";

/** A chat model without a network, whose answer shows the instructions that it was given. */
export class QuotingModel extends SimpleChatModel {
  override _llmType(): string {
    return "quoting";
  }

  override _call(messages: BaseMessage[]): Promise<string> {
    const textOf = (type: string) => messages.findLast((message) => message.getType() === type)?.text ?? "";
    return Promise.resolve(`As I was told, "${textOf("system")}", I answer "${textOf("human")}" with: 42.`);
  }
}
