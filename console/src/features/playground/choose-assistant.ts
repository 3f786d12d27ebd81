import type { Assistant } from "@langchain/langgraph-sdk";

import type { Thread } from "../threads/queries.ts";

/** Returns the assistant in the URL, else the one of the thread's last run, else the first. */
export function chooseAssistant(
  assistants: readonly Assistant[],
  named: string | undefined,
  thread: Thread | undefined,
): Assistant | undefined {
  const { metadata } = thread ?? {};
  for (const name of [named, metadata?.["assistant_id"], metadata?.["graph_id"]]) {
    if (typeof name !== "string") continue;
    const found = assistants.find((assistant) => assistant.assistant_id === name || assistant.graph_id === name);
    if (found) return found;
  }
  return assistants[0];
}
