import { Client } from "@langchain/langgraph-sdk";
import { Hono } from "hono";

/** Calls the server in every way that an app has, without a key and with its caller's headers. */
export const app = new Hono().post("/custom/drive", async (c) => {
  const headers = Object.fromEntries(c.req.raw.headers);
  const apiKey = headers["x-api-key"] ?? null;
  for (const name of ["content-length", "content-type", "host", "connection", "x-api-key", "cookie", "x-service-key"])
    delete headers[name];
  for (const client of [new Client({ apiKey: null }), new Client({ apiKey, defaultHeaders: headers })]) {
    const input = { messages: [{ role: "human", content: "hello" }] };
    const { thread_id } = await client.threads.create({ metadata: { made_by: "the app" } });
    await client.runs.wait(thread_id, "agent", { input });
    await client.runs.wait(null, "agent", { input });
    await client.runs.createBatch([{ assistantId: "agent", input }]);
    const debug = { input, streamMode: "debug", streamResumable: true } as const;
    for await (const event of client.runs.stream(thread_id, "agent", debug)) void event;
    await client.crons.create("agent", { schedule: "0 0 1 1 *", input });
    await client.threads.updateState(thread_id, { values: input });
  }
  return c.json({ own: null });
});
