import { expect, test } from "vitest";

import { runMapping } from "../datasets/mapping-schema.ts";
import { canonicalJson, digestInputs } from "./canonical-inputs.ts";
import { mapRun } from "./map-run.ts";
import { transformExample } from "./transform-example.ts";

const run = {
  id: "r",
  inputs: { messages: [{ content: "a" }, { content: "b" }], "a.b": { c: 1 }, list: [[1, 2]] },
  outputs: "text",
  metadata: { user: "u" },
};

test("maps fields of a run by paths, and names those that are missing", () => {
  const mapping = {
    inputs: {
      last: "inputs.messages[-1].content",
      quoted: 'inputs["a.b"].c',
      deep: "inputs.list[0][1]",
      no: "inputs.x.y",
    },
    metadata: { who: "metadata.user" },
  };
  expect(mapRun(run, runMapping.parse(mapping))).toEqual({
    inputs: { last: "b", quoted: 1, deep: 2 },
    outputs: { output: "text" },
    metadata: { who: "u" },
    missing: ["inputs.x.y"],
  });
  expect(mapRun({ ...run, outputs: null }, null)).toMatchObject({ inputs: run.inputs, outputs: null, missing: [] });
  expect(mapRun(run, { inputs: "inputs.messages[0].content" }).inputs).toEqual({ input: "a" });
  // names of the prototype are ordinary ones, and not found where they are not
  expect(mapRun(run, { inputs: { x: "inputs.constructor", y: "inputs.__proto__" } })).toMatchObject({ inputs: {} });
  expect(
    Object.keys(
      mapRun(run, { inputs: JSON.parse('{"__proto__":"inputs.messages"}') as Record<string, string> }).inputs,
    ),
  ).toEqual(["__proto__"]);
});

test.each(["", "x", "inputs..a", "inputs[", "inputs[a]", 'inputs["a', "inputs.a]", "inputs[1e3]", ".inputs"])(
  "rejects the path %j",
  (path) => {
    expect(runMapping.safeParse({ inputs: { a: path } }).success).toBe(false);
  },
);

const context = { tools: [], schemas: { inputs: null, outputs: null } };
const at = (type: string, ...path: string[]) => ({ path, transformation_type: type as "remove_system_messages" });

test("transformations convert messages, drop system messages and extra fields, and take tools from the run", () => {
  const serialized = (name: string, kwargs: object) => ({ lc: 1, type: "constructor", id: ["x", name], kwargs });
  const call = { id: "1", name: "f", args: { a: 1 } };
  const inputs = {
    messages: [
      [
        serialized("SystemMessage", { content: "s" }),
        serialized("HumanMessage", { content: "h" }),
        { type: "ai", data: { content: "", tool_calls: [call] } },
        { type: "tool", content: "t", tool_call_id: "1" },
        ["user", "u"],
      ],
    ],
    other: 1,
  };
  const outputs = { generations: [[{ text: "x", message: serialized("AIMessageChunk", { content: "x" }) }]] };
  const changed = transformExample(
    { inputs, outputs },
    [
      at("extract_tools_from_run", "inputs", "tools"),
      at("remove_extra_fields", "inputs"),
      at("remove_system_messages", "inputs", "messages"),
      at("convert_to_openai_message", "inputs", "messages"),
      at("convert_to_openai_message", "outputs"),
      at("remove_system_messages", "inputs", "absent", "deep"),
    ],
    {
      tools: [{ name: "f", input_schema: { type: "object" } }],
      schemas: { inputs: { properties: { messages: {}, tools: {} } }, outputs: null },
    },
  );
  expect(changed).toEqual({
    inputs: {
      messages: [
        { role: "user", content: "h" },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
        },
        { role: "tool", content: "t", tool_call_id: "1" },
        { role: "user", content: "u" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    },
    outputs: { message: { role: "assistant", content: "x" } },
  });
});

test("values that are no messages or tools stay as they are", () => {
  const inputs = { messages: ["text", 1, null, { a: 1 }], tools: "none" };
  const all = ["convert_to_openai_message", "remove_system_messages", "convert_to_openai_tool", "remove_extra_fields"];
  for (const type of all) {
    for (const path of ["messages", "tools", "absent"]) {
      expect(transformExample({ inputs, outputs: null }, [at(type, "inputs", path)], context).inputs).toEqual(inputs);
    }
  }
});

test("equal inputs have equal digests, whatever the order of their names", () => {
  expect(digestInputs({ a: 1, b: [{ c: 1, d: "x" }] })).toBe(digestInputs({ b: [{ d: "x", c: 1 }], a: 1 }));
  expect(digestInputs({ a: "1" })).not.toBe(digestInputs({ a: 1 }));
  expect(canonicalJson({ b: undefined, a: [undefined] })).toBe('{"a":[null]}');
});
