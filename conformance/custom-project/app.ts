import { Client } from "@langchain/langgraph-sdk";
import { Hono } from "hono";

type Variables = { auth: { user: { identity: string } } };

export const app = new Hono<{ Variables: Variables }>()
  .use(async (c, next) => {
    await next();
    c.header("x-served-by", "the project");
  })
  .get("/whoami", (c) => c.json(c.get("auth").user))
  .post("/ask", async (c) => {
    const authorization = c.req.header("authorization") ?? "";
    const client = new Client({ apiKey: null, defaultHeaders: { authorization } });
    return c.json(await client.runs.wait(null, "agent", { input: { messages: [] } }));
  });
