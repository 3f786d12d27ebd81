import { expect, test } from "vitest";

import { modelServer } from "../../../test/model-server.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";

const provider = await modelServer();
const { call, clickhouse } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
const tenant = uuid7();
const mine = { "x-test-workspace": tenant };

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
type Json = any;

/** Parses the events of a response. */
function events(text: string): { event: string; data: Json }[] {
  return text
    .split("\n\n")
    .filter((frame) => frame.startsWith("event: "))
    .map((frame) => {
      const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? [];
      return { event, data: JSON.parse(data) as unknown };
    });
}

const stream = async (body: object) => {
  const answer = await call("POST", "/playground/stream", body, mine);
  return { ...answer, events: events(answer.text) };
};

await call("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }], mine);
const { json: connection } = await call(
  "POST",
  "/models/connections",
  { name: "fake", provider: "openai", settings: { base_url: `${provider.url}/v1` } },
  mine,
);

test("streams an answer and traces it with its tokens and cost", async () => {
  const { status, events: got } = await stream({
    messages: [
      { role: "system", content: "Be brief, {name}." },
      { role: "user", content: "Say {what}" },
    ],
    template_format: "f-string",
    variables: { name: "Ada", what: "hi" },
    model: { connection_id: connection.id, model: "gpt-4o-mini", parameters: { temperature: 0 } },
  });
  expect(status).toBe(200);
  expect(got.map(({ event }) => event)).toEqual(["start", "delta", "delta", "delta", "delta", "end"]);
  expect(got[0]!.data).toMatchObject({ provider: "openai", model: "gpt-4o-mini", project_name: "playground" });
  const end = got.at(-1)!.data;
  expect(end).toMatchObject({
    message: { role: "assistant", content: "Hello from gpt-4o-mini: Say hi", tool_calls: [] },
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    cost: { total: "0.00000585" },
    finish_reason: "stop",
    truncated: false,
  });
  expect(provider.calls.at(-1)!.headers["authorization"]).toBe("Bearer sk-test-0123456789");
  const [run] = await clickhouse.rows<Json>({
    name: "t",
    query: "select name, status, inputs, outputs, total_tokens, total_cost from runs final where id = {id:UUID}",
    params: { id: end.run_id },
  });
  expect(run).toMatchObject({ status: "success", total_cost: "0.00000585" });
  expect(run.inputs).toContain("Be brief, Ada.");
  expect(run.outputs).toContain("Hello from gpt-4o-mini: Say hi");
});

test("opens a traced call with its messages, tools, schema and parameters", async () => {
  const body = {
    messages: [
      { role: "system", content: "Use the tools." },
      {
        role: "user",
        content: [
          { type: "text", text: "Weather?" },
          { type: "image", data: "aGVsbG8=", mime_type: "image/png" },
        ],
      },
      { role: "assistant", content: "", tool_calls: [{ id: "c1", name: "weather", args: { city: "Bern" } }] },
      { role: "tool", content: "sunny", tool_call_id: "c1" },
    ],
    tools: [
      {
        name: "weather",
        description: "Weather of a city",
        parameters: { type: "object", properties: { city: { type: "string" } } },
      },
    ],
    tool_choice: "any",
    model: {
      connection_id: connection.id,
      model: "gpt-4o-mini",
      parameters: { temperature: 0.5, max_tokens: 50, stop: ["END"] },
    },
  };
  const { events: got } = await stream(body);
  const end = got.at(-1)!.data;
  expect(end.message.tool_calls).toEqual([{ id: "call_1", name: "weather", args: { city: "sample" } }]);
  const { status, json } = await call("GET", `/playground/from-run/${end.run_id}`, undefined, mine);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    messages: body.messages,
    tools: body.tools,
    tool_choice: "any",
    model: { ...body.model, provider: "openai" },
    provider_known: true,
    output: { message: { role: "assistant", tool_calls: end.message.tool_calls } },
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    notes: [],
  });
  expect((await call("GET", `/playground/from-run/${end.run_id}`)).status).toBe(404);
});
