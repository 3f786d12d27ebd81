import { Annotation, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";

const State = Annotation.Root({
  note: Annotation<string>(),
  question: Annotation<string>(),
  found: Annotation<string[]>(),
});

async function remember({ note }: typeof State.State, { store }: LangGraphRunnableConfig) {
  if (note) await store!.put(["notes"], crypto.randomUUID(), { text: note });
  return {};
}

async function recall({ question }: typeof State.State, { store }: LangGraphRunnableConfig) {
  const items = await store!.search(["notes"], { query: question, limit: 1 });
  return { found: items.map(({ value }) => value.text as string) };
}

export const graph = new StateGraph(State)
  .addNode("remember", remember)
  .addNode("recall", recall)
  .addEdge("__start__", "remember")
  .addEdge("remember", "recall")
  .compile();
