import { Client } from "@langchain/langgraph-sdk";

export const ASSISTANT = "support";

/** The server that serves this page, whatever prefix it has. */
const apiUrl = location.href.replace(/\/chat\/?([?#].*)?$/, "");

/** Creates a client that acts for the user, and asks for a feedback link with each run. */
export function connect(token: string): Client {
  return new Client({
    apiUrl,
    apiKey: null,
    defaultHeaders: { Authorization: `Bearer ${token}` },
    onRequest(url, init) {
      if (init.method !== "POST" || !/\/runs(\/stream)?$/.test(url.pathname)) return init;
      return { ...init, body: JSON.stringify({ ...JSON.parse(init.body as string), feedback_keys: ["thumbs"] }) };
    },
  });
}

/** Records a thumb on the run's trace. Its link needs neither a key nor the trace platform's address. */
export async function sendThumb(client: Client, threadId: string, runId: string, isUp: boolean): Promise<void> {
  const { kwargs } = (await client.runs.get(threadId, runId)) as { kwargs?: { feedback_urls?: { thumbs?: string } } };
  const link = kwargs?.feedback_urls?.thumbs;
  if (!link) throw new Error("This run has no feedback link. Is the trace platform running?");
  const response = await fetch(link, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ score: isUp ? 1 : 0 }),
  });
  if (!response.ok) throw new Error(`The feedback was not accepted: ${await response.text()}`);
}
