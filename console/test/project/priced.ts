import type { BaseMessage } from "@langchain/core/messages";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";

import { RuleModel } from "../../../conformance/project/model.ts";

/** Reports a model name and usage, so that its calls have a price. */
class PricedModel extends RuleModel {
  override getLsParams(options: this["ParsedCallOptions"]) {
    return { ...super.getLsParams(options), ls_model_name: "priced-1" };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: Parameters<RuleModel["_streamResponseChunks"]>[2],
  ): AsyncGenerator<ChatGenerationChunk> {
    yield* super._streamResponseChunks(messages, options, runManager);
    const usage_metadata = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    yield new ChatGenerationChunk({ message: new AIMessageChunk({ content: "", usage_metadata }), text: "" });
  }
}

const model = new PricedModel({});

/** Answers in one step with a model whose tokens are priced. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "answer")
  .addEdge("answer", "__end__")
  .compile();
