import { expect, test } from "vitest";

import { isControlFlow } from "./control-flow.ts";

test("a question and a command to the parent graph are control flow, in the texts of both languages", () => {
  const interrupts = '[\n  {\n    "id": "a",\n    "value": "ok?"\n  }\n]';
  const ofJavaScript = (name: string, message: string) =>
    `${message}\n\n${message === "" ? name : `${name}: ${message}`}\n    at node (file:///graph.js:1:1)`;
  expect(isControlFlow("GraphInterrupt((Interrupt(value='ok?'),))Traceback (most recent call last):")).toBe(true);
  expect(isControlFlow('GraphInterrupt: [{"value":"ok?"}]')).toBe(true);
  expect(isControlFlow("langgraph.errors.NodeInterrupt: x")).toBe(true);
  expect(isControlFlow("ParentCommand(Command(graph='__parent__'))")).toBe(true);
  expect(isControlFlow(ofJavaScript("GraphInterrupt", interrupts))).toBe(true);
  expect(isControlFlow(ofJavaScript("ParentCommand", ""))).toBe(true);
  expect(isControlFlow("GraphInterrupt")).toBe(true);
  expect(isControlFlow("ValueError: GraphInterrupt is not allowed here")).toBe(false);
  expect(isControlFlow("GraphInterruptions: x")).toBe(false);
  expect(isControlFlow(ofJavaScript("TypeError", interrupts))).toBe(false);
  expect(isControlFlow("no\n\nGraphInterrupt: yes")).toBe(false);
});
