import { expect, test } from "vitest";

import { receiverIn } from "./receiver-in.ts";

test("reads the receiver from a run's kwargs, and ignores a webhook key in the input", () => {
  expect(receiverIn('{"input": {"a": 1}}')).toBeNull();
  expect(receiverIn('{"input": {"webhook": "http://a.example/"}}')).toBeNull();
  expect(receiverIn('{"input": 1, "webhook": "http://a.example/x"}')).toBe("http://a.example");
  expect(receiverIn(JSON.stringify({ input: "x".repeat(100_000), webhook: "http://a.example/x" }))).toBeUndefined();
});
