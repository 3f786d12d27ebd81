import { describe, expect, test } from "vitest";

import { modelServer, readEvents } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import { PROVIDER_IDS, type ProviderId } from "./providers.ts";

const KEY = "key-of-the-workspace-0123456789";
const provider = await modelServer();
const { call, platform } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };

const PATHS: Record<ProviderId, string> = {
  openai: "/v1",
  "openai-responses": "/v1",
  "azure-openai": "/azure",
  anthropic: "",
  "google-genai": "",
  bedrock: "/bedrock",
  mistral: "/mistral",
  ollama: "",
  "openai-compatible": "/v1",
};

const secretKeys = [
  ...["OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "OLLAMA_API_KEY"],
];
await call(
  "POST",
  "/workspaces/current/secrets",
  secretKeys.map((key) => ({ key, value: KEY })),
  mine,
);

const connections = new Map<ProviderId, string>();
for (const id of PROVIDER_IDS) {
  const settings = { base_url: `${provider.url}${PATHS[id]}` };
  const { json } = await call("POST", "/models/connections", { name: id, provider: id, settings }, mine);
  connections.set(id, json.id as string);
}

/** Streams a call, and returns the deltas' text and the last event. */
async function run(id: ProviderId, model: string, body: object = {}) {
  const answer = await call(
    "POST",
    "/playground/stream",
    {
      messages: [{ role: "user", content: "hi" }],
      model: { connection_id: connections.get(id), model, parameters: { max_tokens: 2000 } },
      ...body,
    },
    mine,
  );
  expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
  const got = readEvents(answer.text);
  const { event, data } = got.at(-1)!;
  return { event, data, text: got.map((each) => each.data.text ?? "").join(""), all: got };
}

const schema = {
  title: "weather",
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
};
const tool = { name: "weather", description: "Weather of a city", parameters: { ...schema, title: undefined } };

describe.each(PROVIDER_IDS)("%s", (id) => {
  const { supports } = { supports: { tool_choice: id !== "ollama", files: id !== "ollama" && id !== "mistral" } };

  test("streams text with its usage, with the workspace's key", async () => {
    const { event, data, all } = await run(id, "model-a");
    expect([event, data]).toMatchObject([
      "end",
      {
        message: { content: "Hello from model-a: hi", tool_calls: [] },
        usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
        truncated: false,
      },
    ]);
    expect(all.filter((each) => each.event === "delta").length).toBeGreaterThan(3);
    const { headers } = provider.calls.at(-1)!;
    const sent = ["authorization", "x-api-key", "api-key", "x-goog-api-key"].map((name) => headers[name] ?? "").join();
    // OpenAI-compatible servers need no key
    expect(sent.includes(KEY)).toBe(id !== "openai-compatible");
  });

  test("streams a call of a tool", async () => {
    const { event, data } = await run(id, "model-a", {
      tools: [tool],
      ...(supports.tool_choice && { tool_choice: "any" }),
    });
    expect([event, data.message?.tool_calls, data.message?.invalid_tool_calls]).toEqual([
      "end",
      [{ id: expect.any(String), name: "weather", args: { city: "sample", degrees: 42 } }],
      undefined,
    ]);
  });

  test("continues after a tool's result", async () => {
    const { data } = await run(id, "model-a", {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Weather?" },
        { role: "assistant", content: "", tool_calls: [{ id: "call_1", name: "weather", args: { city: "Bern" } }] },
        { role: "tool", content: "sunny", tool_call_id: "call_1" },
      ],
    });
    expect(data.message.content).toContain("Hello from model-a");
    expect(JSON.stringify(provider.calls.at(-1)!.body)).toContain("sunny");
  });

  test("answers by a schema", async () => {
    const { event, data } = await run(id, "model-a", { response_schema: schema });
    expect([event, data.structured, data.structured_error]).toEqual(["end", { city: "sample", degrees: 42 }, null]);
    expect(JSON.parse(data.message.content)).toEqual(data.structured);
  });

  test("sends an image", async () => {
    const image = { type: "image", data: "aGVsbG8=", mime_type: "image/png" };
    const content = [{ type: "text", text: "What?" }, image];
    const { event, data } = await run(id, "gemini-2.5-flash", { messages: [{ role: "user", content }] });
    expect([event, data.message?.content]).toEqual(["end", id === "ollama" ? "saw 8 characters " : "saw image/png "]);
  });

  test.runIf(supports.files)("sends a file", async () => {
    const file = { type: "file", data: "aGVsbG8=", mime_type: "application/pdf", filename: "a.pdf" };
    const content = [{ type: "text", text: "What?" }, file];
    const { event, data } = await run(id, "gemini-2.5-flash", { messages: [{ role: "user", content }] });
    expect([event, data.message?.content]).toEqual(["end", "saw application/pdf "]);
  });

  test.each([
    ["fail-401", "auth", 401],
    ["fail-429", "rate_limit", 429],
    ["fail-500", "provider", 500],
  ])("reports %s without the key", async (model, kind, status) => {
    const { event, data, all } = await run(id, model);
    expect([event, data]).toMatchObject(["error", { kind, status, message: expect.stringContaining(`"${id}"`) }]);
    expect(JSON.stringify(all)).not.toContain(KEY);
    expect(data.retry_after_seconds).toBe(kind === "rate_limit" ? 7 : null);
  });

  test.each(["broken", "cut"])("reports a response that is %s as malformed", async (model) => {
    const { event, data } = await run(id, model);
    expect([event, data]).toMatchObject(["error", { kind: "malformed", message: expect.stringContaining(`"${id}"`) }]);
  });

  test("gives up on a response that stalls", async () => {
    const { event, data } = await run(id, "stall", { timeout_seconds: 1 });
    expect([event, data]).toMatchObject(["error", { kind: "timeout" }]);
    await provider.calls.at(-1)!.aborted;
  });

  test("ignores an impossible usage", async () => {
    const { event, data } = await run(id, "lies");
    expect([event, data.usage, data.cost]).toEqual(["end", null, null]);
  });

  test("cancels the provider's call when the reader leaves", async () => {
    const before = provider.calls.length;
    const { createTraceApp } = await import("../../trace-app.ts");
    const { openGuard } = await import("../../../test/principal.ts");
    const response = await createTraceApp(platform.deps, openGuard).request("/playground/stream", {
      method: "POST",
      headers: { "content-type": "application/json", ...mine },
      body: JSON.stringify({
        messages: [{ role: "user", content: "hi" }],
        model: { connection_id: connections.get(id), model: "endless" },
      }),
    });
    const reader = response.body!.getReader();
    let received = "";
    while (!received.includes("event: delta")) received += Buffer.from((await reader.read()).value!).toString();
    await reader.cancel();
    await provider.calls[before]!.aborted;
    const [start] = readEvents(received.slice(0, received.indexOf("\n\n") + 2));
    await expect
      .poll(async () => (await call("GET", `/runs/${start!.data.run_id}`, undefined, mine)).json?.error)
      .toContain("cancelled");
  });
});
