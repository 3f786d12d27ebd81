import { expect, test } from "vitest";
import { sampleInput } from "./sample-input.ts";

test("messages get a message, required fields a value of their type, lists are left out", () => {
  const schema = {
    $ref: "#/definitions/State",
    definitions: {
      State: {
        type: "object",
        properties: {
          messages: {},
          topic: { type: "string" },
          count: { $ref: "#/definitions/N" },
          log: { type: "array" },
        },
        required: ["messages", "topic", "count", "log"],
      },
      N: { type: "integer" },
    },
  };
  expect(sampleInput(schema)).toEqual({
    messages: [{ role: "user", content: "Hello" }],
    topic: "hello",
    count: 1,
  });
});

test("optional fields are left out, and so is everything of a schema that says nothing", () => {
  expect(sampleInput({ properties: { topic: { type: "string" } }, required: [] })).toEqual({});
  expect(sampleInput({})).toEqual({});
});
