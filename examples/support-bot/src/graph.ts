import { SystemMessage } from "@langchain/core/messages";
import { type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";

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

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("answer", answer)
  .addNode("tools", new ToolNode(tools))
  .addEdge(START, "answer")
  .addConditionalEdges("answer", toolsCondition)
  .addEdge("tools", "answer")
  .compile({ name: "support" });
