import { expect, test } from "vitest";

import { compareEnvironments } from "./variable-changes.ts";

test("names added, changed and removed variables, and no values", () => {
  const before = [
    { name: "SAME", value: "1" },
    { name: "OLD", value: "2" },
    { name: "KEY", value: "secret-3" },
  ];
  const after = [
    { name: "KEY", value: "secret-4" },
    { name: "NEW", value: "5" },
    { name: "SAME", value: "1" },
  ];
  const changes = compareEnvironments(before, after);
  expect(changes).toEqual({ added: ["NEW"], changed: ["KEY"], removed: ["OLD"] });
  expect(JSON.stringify(changes)).not.toContain("secret");
});
