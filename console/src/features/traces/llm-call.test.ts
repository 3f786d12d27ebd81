import { expect, test } from "vitest";

import { callParameters, offeredTools } from "./llm-call.ts";

const schema = { type: "object", properties: { city: { type: "string" } } };
const call = (params: object) => ({ inputs: {}, extra: { invocation_params: params } });

test("lists the parameters of a call without its model, tools and unset values", () => {
  const params = { model: "m", temperature: 0, stop: null, tools: [], response_format: { type: "json" }, top_p: 0.9 };
  expect(callParameters(call(params))).toEqual([
    ["temperature", "0"],
    ["response_format", '{"type":"json"}'],
    ["top_p", "0.9"],
  ]);
  // a wrapped SDK's request
  expect(callParameters({ inputs: { model: "m", messages: [], max_tokens: 9 }, extra: {} })).toEqual([
    ["max_tokens", "9"],
  ]);
  expect(callParameters({ inputs: { question: "why" }, extra: null } as never)).toEqual([]);
});

test("reads tools in the formats of OpenAI, Anthropic and Google", () => {
  const expected = [{ name: "weather", description: "Tells it.", parameters: schema }];
  const named = { name: "weather", description: "Tells it." };
  for (const tools of [
    [{ type: "function", function: { ...named, parameters: schema } }],
    [{ ...named, input_schema: schema }],
    [{ functionDeclarations: [{ ...named, parametersJsonSchema: schema }] }],
  ]) {
    expect(offeredTools(call({ tools }))).toEqual(expected);
  }
  expect(offeredTools(call({ tools: [{ type: "web_search" }] }))).toEqual([
    { name: "web_search", description: null, parameters: null },
  ]);
  expect(offeredTools(call({}))).toEqual([]);
});
