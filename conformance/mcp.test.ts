import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { url } from "./clients.ts";

// "/mcp/" is the spelling in the documentation of comparable servers
const clients = ["/mcp", "/mcp/"].map((path) => ({ path, client: new Client({ name: "a test", version: "1" }) }));
beforeAll(async () => {
  for (const { path, client } of clients) {
    await client.connect(new StreamableHTTPClientTransport(new URL(path, url)) as never);
  }
});
afterAll(() => Promise.all(clients.map(({ client }) => client.close())));

test.each(clients)("every assistant is a tool of $path, with its input schema", async ({ client }) => {
  expect(client.getServerVersion()).toMatchObject({ name: "heddle" });
  const { tools } = await client.listTools();
  const agent = tools.find(({ name }) => name === "agent");
  expect(agent).toMatchObject({
    description: "Calls a weather tool; streams token by token.",
    inputSchema: { type: "object", properties: { messages: expect.anything() } },
  });
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["counter", "echo", "slow"]));
});

test.each(clients)("a call over $path runs the graph and returns its state", async ({ client }) => {
  const messages = [{ role: "user", content: "weather in Oslo" }];
  const { content, isError } = await client.callTool({ name: "agent", arguments: { messages } });
  const [{ text }] = content as [{ text: string }];
  expect(isError).toBe(false);
  const replies = (JSON.parse(text) as { messages: { content: string }[] }).messages;
  expect(replies.at(-1)!.content).toBe("The tool says: sunny in Oslo");
});

test("a slow call returns its result, a failing one a tool error, and an unknown tool is rejected", async () => {
  const { client } = clients[0]!;
  const slow = await client.callTool({ name: "slow", arguments: { ms: 1500, steps: 1 } });
  expect(slow.isError).toBe(false);
  const failed = await client.callTool({ name: "failing", arguments: {} });
  expect(failed.isError).toBe(true);
  await expect(client.callTool({ name: "nobody", arguments: {} })).rejects.toMatchObject({ code: -32602 });
});
