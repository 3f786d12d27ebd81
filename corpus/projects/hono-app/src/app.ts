import { Client } from "@langchain/langgraph-sdk";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

export const app = new Hono();

app.use("*", async (c, next) => {
  await next();
  c.header("x-corpus", "hono");
});

app.post("/ask", async (c) => {
  const { question } = await c.req.json<{ question: string }>();
  const client = new Client();
  const values = await client.runs.wait(null, "agent", { input: { messages: [{ role: "user", content: question }] } });
  return c.json({ values });
});

app.get("/ticks", (c) =>
  streamSSE(c, async (stream) => {
    for (const n of [1, 2, 3]) await stream.writeSSE({ event: "tick", data: String(n) });
  }),
);
