/** Settings of a page, from its query. The thread is kept there too, as applications do, so that a reload finds it. */
const query = new URLSearchParams(location.search);

export const page = {
  apiUrl: query.get("api")!,
  apiKey: query.get("key") ?? undefined,
  assistantId: query.get("assistant") ?? "agent",
  threadId: query.get("thread"),
  transport: query.get("transport") ?? "sse",
  /** URL of the CopilotKit runtime. */
  runtimeUrl: query.get("runtime") ?? "",
};

export function keepThread(threadId: string | null | undefined): void {
  if (!threadId) return;
  const url = new URL(location.href);
  url.searchParams.set("thread", threadId);
  history.replaceState(null, "", url);
}

/** Input of the example graphs: `approval` takes a topic, the others messages. */
export const toInput = (text: string): Record<string, unknown> =>
  page.assistantId === "approval" ? { topic: text } : { messages: [{ type: "human", content: text }] };

/** Text of a message's content, which is a string or blocks. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: { text?: string }) => block.text ?? "").join("");
}
