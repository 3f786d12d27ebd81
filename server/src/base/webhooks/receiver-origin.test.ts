import { expect, test } from "vitest";

import { receiverOrigin } from "./receiver-origin.ts";

test.each([
  ["https://Hooks.Example:8443/a/b?c#d", "https://hooks.example:8443"],
  ["http://hooks.example?token=t", "http://hooks.example"],
  ["http://hooks.example\\@evil.example/", "http://hooks.example"],
  ["/own/path", "self"],
  [`http://${"a".repeat(400)}/`, `http://${"a".repeat(293)}`],
])("the receiver of %s is %s", (url, receiver) => expect(receiverOrigin(url)).toBe(receiver));
