import { fileURLToPath } from "node:url";

import * as ts from "typescript";
import { expect, test } from "vitest";

import { MESSAGES } from "../calls/channel-schema.ts";
import { type ParsedFiles, readTypes } from "./read-types.ts";

const agents = (name: string) => fileURLToPath(new URL(`../../test/fixtures/agents/${name}`, import.meta.url));
const parsed: ParsedFiles = new Map();
const read = (file: string, name: string) => readTypes(ts, agents(file), name, MESSAGES, parsed).schemas;

const top = { top: { type: "string" } };
const child = { child: { type: "string", enum: ["one", "two"] } };
const parent = { parent: { type: "number" } };
const nested = { "": top, parent, "parent|child": child };

test.each([
  ["compiledLast", nested],
  ["inStatements", { ...nested, imported: { count: { type: "number" } } }],
  ["built", nested],
  ["makeGraph", nested],
  ["invoked", { "": top, call: child }],
  ["inline", { "": top, inner: { inner: { type: "boolean" } }, "inner|child": child }],
  ["several", { ...nested, compiled: child, listed: { count: { type: "number" } } }],
])("reads the types of the subgraphs of %s", { timeout: 240_000 }, (name, expected) => {
  const schemas = Object.entries(read("builders.ts", name));
  expect(Object.fromEntries(schemas.map(([path, { state }]) => [path, state!["properties"]]))).toEqual(expected);
});

test("names messages, and defines them once for a state", { timeout: 240_000 }, () => {
  const { state, config } = read("declared.ts", "declared")[""]!;
  const name = "BaseMessage<MessageStructure<MessageToolSet>,MessageType>";
  expect(state).toMatchObject({
    properties: { messages: { type: "array", langgraph_type: "messages", items: { $ref: `#/definitions/${name}` } } },
    definitions: {
      [name]: {
        description: expect.stringMatching(/^Base class for all types of messages/),
        oneOf: [{ $ref: "#/definitions/RemoveMessage" }],
        properties: MESSAGES.items.properties,
      },
      RemoveMessage: { type: "object" },
    },
  });
  expect(config).not.toHaveProperty("definitions");
});
