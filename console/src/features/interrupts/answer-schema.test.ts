import { expect, test } from "vitest";

import { answerSchema, missingFields } from "./answer-schema.ts";

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

test("finds the schema of an answer in a payload, and ignores what describes no object", () => {
  expect(answerSchema({ question: "Where?", schema })).toBe(schema);
  expect(answerSchema({ requestedSchema: schema })).toBe(schema);
  for (const payload of ["Where?", null, { schema: "city" }, { schema: { type: "string" } }, { schema: {} }]) {
    expect(answerSchema(payload)).toBeNull();
  }
});

test("names the required fields that an answer lacks", () => {
  expect(missingFields(schema, {})).toEqual(["city"]);
  expect(missingFields(schema, { city: "Rome" })).toEqual([]);
});
