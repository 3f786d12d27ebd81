import { expect, test } from "vitest";

import { buildTarget, EMPTY_TARGET, isTargetReady } from "./build-target.ts";

test("a prompt is named by its tag, with the model of a connection", () => {
  const values = { ...EMPTY_TARGET, prompt: "answer", commit: "staging", connectionId: "c1", model: " m " };
  expect(buildTarget(values)).toEqual({
    type: "prompt",
    prompt: { repo: "answer", commit: "staging" },
    model: { connection_id: "c1", model: "m" },
  });
  expect(isTargetReady(EMPTY_TARGET)).toBe(false);
});

test("an assistant has input, output and headers as templates", () => {
  const values = {
    ...EMPTY_TARGET,
    kind: "assistant" as const,
    url: " https://agent.example ",
    assistantId: "agent",
    input: '{"messages": ["{{inputs.q}}"]}',
    output: "{{output.messages.-1.content}}",
    headers: "X-Api-Key: {{secrets.KEY}}\n\nX-Plain: a:b",
  };
  expect(buildTarget(values)).toEqual({
    type: "assistant",
    url: "https://agent.example",
    assistant_id: "agent",
    input: { messages: ["{{inputs.q}}"] },
    output: "{{output.messages.-1.content}}",
    headers: { "X-Api-Key": "{{secrets.KEY}}", "X-Plain": "a:b" },
  });
});

test("names what to correct", () => {
  const values = { ...EMPTY_TARGET, kind: "http" as const, url: "https://a.example" };
  expect(() => buildTarget({ ...values, input: "{" })).toThrow(/Body/);
  expect(() => buildTarget({ ...values, headers: "nonsense" })).toThrow(/write "Name: value"/);
});
