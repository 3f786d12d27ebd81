import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { Annotation, END, type LangGraphRunnableConfig, Send, START, StateGraph } from "@langchain/langgraph";

import { chooseModel } from "./model.ts";
import { readTickets, type Ticket } from "./tickets.ts";

const TOPICS = ["payment", "delivery", "other"];

const State = Annotation.Root({
  tickets: Annotation<Ticket[]>,
  /** Topic of each ticket, by its id. */
  topics: Annotation<Record<string, string>>({ reducer: (old, next) => ({ ...old, ...next }), default: () => ({}) }),
  digest: Annotation<string>,
});

const model = await chooseModel();

async function sort({ ticket }: { ticket: Ticket }, config: LangGraphRunnableConfig) {
  const task = new SystemMessage(`Answer with the topic of the ticket, one word of: ${TOPICS.join(", ")}.`);
  const { text } = await model.invoke([task, new HumanMessage(ticket.text)], config);
  const topic = TOPICS.find((name) => text.toLowerCase().includes(name)) ?? "other";
  return { topics: { [ticket.id]: topic } };
}

function write({ tickets, topics }: typeof State.State) {
  const counts = TOPICS.map((topic) => [topic, Object.values(topics).filter((each) => each === topic).length] as const);
  return { digest: `${tickets.length} tickets: ${counts.map(([topic, n]) => `${n} ${topic}`).join(", ")}` };
}

export const graph = new StateGraph(State)
  .addNode("load", async () => ({ tickets: await readTickets() }))
  .addNode("sort", sort)
  .addNode("write", write)
  .addEdge(START, "load")
  // a node for each ticket: those that are sorted are not sorted again when the run is interrupted by a restart
  .addConditionalEdges("load", ({ tickets }) => tickets.map((ticket) => new Send("sort", { ticket })), ["sort"])
  .addEdge("sort", "write")
  .addEdge("write", END)
  .compile({ name: "digest" });
