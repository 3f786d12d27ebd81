import { SystemMessage, type AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph, type Runtime } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { chooseModel } from "./choose-model.ts";
import { tools } from "./tools.ts";

/** Configuration of an assistant of this graph, for example `context: { "name": "Ada" }`. */
const Context = z.object({ name: z.string().optional() });

const model = await chooseModel(tools);

async function callModel(state: typeof MessagesAnnotation.State, runtime: Runtime<z.infer<typeof Context>>) {
  const name = runtime.context?.name ?? "Heddle's example agent";
  const system = new SystemMessage(`You are ${name}. You know the weather and how to calculate.`);
  return { messages: [await model.invoke([system, ...state.messages])] };
}

function afterModel(state: typeof MessagesAnnotation.State): "tools" | typeof END {
  const last = state.messages.at(-1) as AIMessage;
  return last.tool_calls?.length ? "tools" : END;
}

export const graph = new StateGraph(MessagesAnnotation, Context)
  .addNode("call_model", callModel)
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "call_model")
  .addConditionalEdges("call_model", afterModel, ["tools", END])
  .addEdge("tools", "call_model")
  .compile({ name: "agent" });
