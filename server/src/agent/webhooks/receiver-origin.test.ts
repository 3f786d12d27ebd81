import { expect, test } from "vitest";

import { receiverIn, receiverOrigin } from "./receiver-origin.ts";

test.each([
  ["https://Hooks.Example:8443/a/b?c#d", "https://hooks.example:8443"],
  ["http://hooks.example?token=t", "http://hooks.example"],
  ["http://hooks.example\\@evil.example/", "http://hooks.example"],
  ["/own/path", "self"],
  [`http://${"a".repeat(400)}/`, `http://${"a".repeat(293)}`],
])("the receiver of %s is %s", (url, receiver) => expect(receiverOrigin(url)).toBe(receiver));

test("reads the receiver from a run's kwargs, and ignores a webhook key in the input", () => {
  expect(receiverIn('{"input": {"a": 1}}')).toBeNull();
  expect(receiverIn('{"input": {"webhook": "http://a.example/"}}')).toBeNull();
  expect(receiverIn('{"input": 1, "webhook": "http://a.example/x"}')).toBe("http://a.example");
  expect(receiverIn(JSON.stringify({ input: "x".repeat(100_000), webhook: "http://a.example/x" }))).toBeUndefined();
});
