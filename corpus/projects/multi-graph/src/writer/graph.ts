import { StateGraph } from "@langchain/langgraph";
import { getModel } from "@shared/model";
import { State } from "@shared/state";

export const builder = new StateGraph(State)
  .addNode("write", async ({ messages, drafts }) => {
    const reply = await getModel().invoke(messages);
    return { messages: [reply], drafts: [...drafts, reply.text] };
  })
  .addEdge("__start__", "write");

export const graph = builder.compile();
