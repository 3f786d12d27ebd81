import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { createHash } from "node:crypto";

/** Remembers across threads: facts stored in one conversation are found in every later one of the same user. */
async function respond(state: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) {
  const { store } = config;
  if (!store) throw new Error("This graph needs a store; Heddle provides one.");
  const user = String(config.configurable?.["user_id"] ?? "default");
  const namespace = ["users", user, "facts"];
  const asked = state.messages.at(-1)?.text ?? "";

  const fact = /\bremember(?: that)?\s+(.+?)[.!]?$/i.exec(asked)?.[1];
  if (fact) {
    // The same fact twice is one item.
    const key = createHash("sha256").update(fact.toLowerCase()).digest("hex").slice(0, 16);
    await store.put(namespace, key, { fact });
    return answer(`I will remember that ${fact}.`);
  }
  const known = await store.search(namespace, { limit: 100 });
  if (/\bforget\b/i.test(asked)) {
    for (const item of known) await store.delete(namespace, item.key);
    return answer(`I forgot ${known.length} facts.`);
  }
  if (known.length === 0) return answer('I know nothing about you yet. Say "remember that ...".');
  const facts = known.map((item) => String(item.value["fact"])).sort();
  return answer(`I remember: ${facts.join("; ")}.`);
}

function answer(text: string) {
  return { messages: [new AIMessage(text)] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("respond", respond)
  .addEdge(START, "respond")
  .compile({ name: "memory" });
