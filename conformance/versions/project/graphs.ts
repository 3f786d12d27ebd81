import { type AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation,
  Command,
  entrypoint,
  interrupt,
  MessagesAnnotation,
  type LangGraphRunnableConfig,
  Send,
  StateGraph,
  task,
} from "@langchain/langgraph";

/** Answers token by token. */
const model = new FakeListChatModel({ responses: ["Hello"] });
export const chat = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "model")
  .compile();

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => log.concat(more), default: () => [] }),
});

/** Interrupts, then acts on the answer. */
export const ask = new StateGraph(Log)
  .addNode("ask", () => ({ log: [`answer: ${JSON.stringify(interrupt({ question: "go on?" }))}`] }))
  .addNode("finish", () => ({ log: ["finished"] }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "finish")
  .compile();

/** A subgraph that interrupts. */
const inner = new StateGraph(Log)
  .addNode("pause", () => ({ log: [`inner: ${String(interrupt("deep"))}`] }))
  .addEdge("__start__", "pause")
  .compile();
export const nested = new StateGraph(Log).addNode("outer", inner).addEdge("__start__", "outer").compile();

/** Sends a message to each of two workers; one of them interrupts, so that the sends are read back from the database. */
export const fan = new StateGraph(Log)
  .addNode("split", () => ({ log: ["split"] }))
  .addNode("work", ({ message }: { message?: HumanMessage }) => {
    const text = String(message?.content);
    const suffix = text === "two" ? interrupt("which?") : "done";
    return { log: [`${text} ${message instanceof HumanMessage ? "message" : typeof message} ${suffix}`] };
  })
  .addEdge("__start__", "split")
  .addConditionalEdges("split", () =>
    ["one", "two"].map((word) => new Send("work", { message: new HumanMessage(word) })),
  )
  .compile();

/** Goes where a command leads. */
export const commands = new StateGraph(Log)
  .addNode("hall", () => new Command({ goto: "room", update: { log: ["hall"] } }), { ends: ["room"] })
  .addNode("room", () => ({ log: ["room"] }))
  .addEdge("__start__", "hall")
  .compile();

/** Writes to the store and reads it. */
export const memory = new StateGraph(Log)
  .addNode("remember", async ({ log }, config: LangGraphRunnableConfig) => {
    const { store } = config;
    await store!.put(["notes"], "last", { text: log.at(-1) });
    const [item, found] = await Promise.all([store!.get(["notes"], "last"), store!.search(["notes"])]);
    return { log: [`stored ${item!.value.text}, found ${found.length}`] };
  })
  .addEdge("__start__", "remember")
  .compile();

/** The functional API. */
const double = task("double", (n: number) => Promise.resolve(n * 2));
export const functional = entrypoint("functional", async ({ n }: { n: number }) => {
  const doubled = await double(n);
  return { doubled, answer: interrupt("sure?") as string };
});

/** A tool that does not end before its run is cancelled; the next input finds its call answered. */
export const tools = new StateGraph(MessagesAnnotation)
  .addNode("model", ({ messages }) => {
    const results = messages.filter((message) => message.getType() === "tool");
    if (results.length > 0) return { messages: [{ role: "ai", content: `results: ${results.length}` }] };
    return { messages: [{ role: "ai", content: "", tool_calls: [{ id: "call-1", name: "slow", args: {} }] }] };
  })
  .addNode("tools", async ({ messages }, { signal }) => {
    await new Promise((resolve, reject) => {
      setTimeout(resolve, 30_000).unref();
      signal?.addEventListener("abort", () => reject(new Error("aborted")));
    });
    const { tool_calls: calls = [] } = messages.at(-1) as AIMessage;
    return { messages: calls.map(({ id, name }) => new ToolMessage({ content: "", tool_call_id: id!, name })) };
  })
  .addEdge("__start__", "model")
  .addConditionalEdges("model", ({ messages }) =>
    (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : "__end__",
  )
  .addEdge("tools", "model")
  .compile();
