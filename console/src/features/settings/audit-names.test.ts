import { expect, test } from "vitest";

import { nameOperation, nameResource, readOperation } from "./audit-names.ts";

test("operations and resources are called as the console calls them", () => {
  expect(nameOperation("update_session")).toBe("Update project");
  expect(nameOperation("create_api_key")).toBe("Create API key");
  expect(nameResource("session_id")).toBe("project");
  expect(nameResource("dataset_id")).toBe("dataset");
});

test("an action is found by either of its names", () => {
  expect(["Update project", "update_session", "Create API key"].map(readOperation)).toEqual([
    "update_session",
    "update_session",
    "create_api_key",
  ]);
});
