import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  user: Annotation<string>(),
  fact: Annotation<string>(),
  known: Annotation<string[]>(),
  /** Query for semantic search; only the most similar fact is returned. */
  like: Annotation<string>(),
});

/** Remembers a fact of a user across threads, in the store. */
export const graph = new StateGraph(State)
  .addNode("remember", async ({ user, fact, like }, config: LangGraphRunnableConfig) => {
    const namespace = ["facts", user];
    if (fact) await config.store!.put(namespace, fact, { text: fact });
    const items = await config.store!.search(namespace, like ? { query: like, limit: 1 } : {});
    return { known: items.map((item) => String(item.value["text"])).sort() };
  })
  .addEdge(START, "remember")
  .compile();
