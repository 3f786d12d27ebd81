import { type AIMessage, SystemMessage } from "@langchain/core/messages";
import { END, type LangGraphRunnableConfig, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";

import { chooseModel } from "./model.ts";
import { tools } from "./tools.ts";
import { userOf } from "./user.ts";

const model = (await chooseModel()).bindTools!(tools);

async function answer(state: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) {
  const user = userOf(config);
  const facts = await config.store!.search(["facts", user], { limit: 20 });
  const known = facts.map(({ value }) => String(value["fact"])).sort();
  const system = new SystemMessage(
    `You answer customers of a shop, briefly. You talk to ${user}.` +
      (known.length > 0 ? `\nThey told you: ${known.join("; ")}` : ""),
  );
  return { messages: [await model.invoke([system, ...state.messages], config)] };
}

/** Starts a node for each tool call, so that each has its own question, and an answer to one repeats no other. */
function callTools(state: typeof MessagesAnnotation.State): Send[] | typeof END {
  const { tool_calls: calls = [] } = state.messages.at(-1) as AIMessage;
  return calls.length > 0 ? calls.map((call) => new Send("tools", { ...state, lg_tool_call: call })) : END;
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", answer)
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "answer")
  .addConditionalEdges("answer", callTools, ["tools", END])
  .addEdge("tools", "answer")
  .compile({ name: "support" });
