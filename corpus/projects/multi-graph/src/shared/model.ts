import { ChatOpenAI } from "@langchain/openai";

let model: ChatOpenAI | undefined;

/** Creates the model on first use. */
export const getModel = (): ChatOpenAI => (model ??= new ChatOpenAI({ model: "gpt-4.1-mini" }));
