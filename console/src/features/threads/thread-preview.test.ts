import { expect, test } from "vitest";

import type { ThreadLine } from "./queries.ts";
import { previewThread } from "./thread-preview.ts";

const line = (fields: object) => previewThread({ interrupts: {}, error: null, ...fields } as unknown as ThreadLine);

test("previews a thread by its error, its interrupt or its last message", () => {
  const error = { error: "CustomError", message: "no bread", stack: "at oven" };
  expect(line({ error, extracted: { last: "hello" } })).toBe("no bread");
  expect(line({ interrupts: { task: [{ value: { question: "Publish bread?" } }] } })).toBe("Publish bread?");
  const requests = [{ name: "send_mail", description: "Sends a mail." }];
  expect(line({ interrupts: { task: [{ value: { action_requests: requests } }] } })).toBe("Sends a mail.");
  expect(line({ interrupts: { task: [{ value: "Which one?" }] } })).toBe("Which one?");
  expect(line({ extracted: { last: null, first: "hi" } })).toBe("hi");
  expect(line({ extracted: { last: [{ type: "text", text: "look" }, { type: "image_url" }] } })).toBe("look");
  expect(line({})).toBe("");
});
