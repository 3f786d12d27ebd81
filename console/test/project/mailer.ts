import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

interface Decision {
  type: "approve" | "edit" | "reject";
  editedAction?: { args: { to: string } };
  message?: string;
}

/** Asks before it sends a mail, in the form of LangChain's human-in-the-loop middleware. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", ({ messages }) => {
    const last = messages.at(-1)!;
    if (last.getType() === "tool") return { messages: [new AIMessage(`Done: ${String(last.content)}`)] };
    const call = { id: `call_${messages.length}`, name: "send_mail", args: { to: "ada@example.com" } };
    return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
  })
  .addNode("review", ({ messages }) => {
    const [call] = (messages.at(-1) as AIMessage).tool_calls!;
    const { decisions } = interrupt({
      action_requests: [{ name: call!.name, args: call!.args, description: "Sends a mail to a person." }],
      review_configs: [{ action_name: call!.name, allowed_decisions: ["approve", "edit", "reject"] }],
    }) as { decisions: Decision[] };
    const [decision] = decisions;
    const to = decision!.editedAction?.args.to ?? (call!.args as { to: string }).to;
    const content = decision!.type === "reject" ? `not sent, ${decision!.message ?? "no reason"}` : `sent to ${to}`;
    return { messages: [new ToolMessage({ content, tool_call_id: call!.id!, name: call!.name })] };
  })
  .addEdge(START, "model")
  .addConditionalEdges(
    "model",
    ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? "review" : END),
    ["review", END],
  )
  .addEdge("review", "model")
  .compile();
