import { SimpleChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";

const WORDS: [word: RegExp, topic: string][] = [
  [/refund|money|paid|invoice/i, "payment"],
  [/parcel|deliver|arriv/i, "delivery"],
];

/** A model by rules, without a network: names the topic of a text. */
export class LocalModel extends SimpleChatModel {
  override _llmType(): string {
    return "local";
  }

  override _call(messages: BaseMessage[]): Promise<string> {
    return Promise.resolve(WORDS.find(([word]) => word.test(messages.at(-1)!.text))?.[1] ?? "other");
  }
}
