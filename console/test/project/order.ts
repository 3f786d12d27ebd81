import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";

/** Asks for an answer that its payload describes by a JSON schema. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => {
    const answer = interrupt({
      question: "Where shall it be sent?",
      schema: {
        type: "object",
        properties: {
          city: { type: "string", title: "City" },
          express: { type: "boolean", title: "Express" },
          floor: { type: "integer", title: "Floor" },
        },
        required: ["city"],
      },
    });
    return { messages: [new AIMessage(`Sent: ${JSON.stringify(answer)}`)] };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();
