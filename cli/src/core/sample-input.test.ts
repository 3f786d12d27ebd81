import { expect, test } from "vitest";
import { sampleInput } from "./sample-input.ts";

test("fills messages and required fields by their type, and leaves out lists", () => {
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

test("leaves out optional fields and everything of an empty schema", () => {
  expect(sampleInput({ properties: { topic: { type: "string" } }, required: [] })).toEqual({});
  expect(sampleInput({})).toEqual({});
});
