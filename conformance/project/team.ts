import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";

const log = Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] });
const State = Annotation.Root({ members: Annotation<string[]>(), log });
const Member = Annotation.Root({ name: Annotation<string>(), log, ...MessagesAnnotation.spec });

/** Asks a human, then lists the types of its messages. */
const member = new StateGraph({ stateSchema: Member, output: Annotation.Root({ log }) })
  .addNode("think", ({ name }) => ({ messages: [new AIMessage(`I am ${name}.`)] }))
  .addNode("ask", ({ name }) => ({ log: [`${name}: ${interrupt({ name })}`] }))
  .addNode("list", ({ name, messages }) => ({
    log: [`${name} has ${messages.map((message) => message.getType()).join(", ")}`],
  }))
  .addEdge(START, "think")
  .addEdge("think", "ask")
  .addEdge("ask", "list")
  .compile();

/** Sends each name with a message to a member; all of them stop for a human in the same step. */
export const graph = new StateGraph(State)
  .addNode("member", member)
  .addNode("close", () => ({ log: ["closed"] }))
  .addConditionalEdges(
    START,
    ({ members }) => members.map((name) => new Send("member", { name, messages: [new HumanMessage("Go.")] })),
    ["member"],
  )
  .addEdge("member", "close")
  .compile();
