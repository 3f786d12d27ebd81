import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const PROJECT = fileURLToPath(new URL("../../../../examples/langgraph.json", import.meta.url));

test("keys cannot be chosen by request: the header is rejected, and nothing is stored", async () => {
  const { call, stop } = await testAgentServer({}, PROJECT);
  const headers = { "X-Encryption-Context": Buffer.from('{"tenant_id":"a"}').toString("base64") };
  for (const [method, path, body] of [
    ["POST", "/threads", { metadata: { by: "header" } }],
    ["POST", "/runs/wait", { assistant_id: "agent", input: {} }],
    ["PUT", "/store/items", { namespace: ["a"], key: "k", value: {} }],
  ] as const) {
    const answer = await call(method, path, body, headers);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("keys are not chosen by request")]);
  }
  expect((await call("POST", "/threads/search", { metadata: { by: "header" } })).json).toEqual([]);
  expect((await call("POST", "/threads", { metadata: { by: "header" } })).status).toBe(200);
  expect((await call("GET", "/ok", undefined, headers)).status).toBe(200);
  await stop();
});
