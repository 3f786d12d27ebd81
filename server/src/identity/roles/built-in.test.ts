import { expect, test } from "vitest";

import { rolePermissions } from "./built-in.ts";

test("workspaces:manage implies managing exports in custom roles", () => {
  const manager = { built_in: false, name: "Manager", permissions: ["workspaces:manage", "runs:read"] };
  expect(rolePermissions(manager).toSorted()).toEqual([
    "bulk-exports:manage",
    "bulk-exports:read",
    "runs:read",
    "workspaces:manage",
  ]);
  const exporter = { built_in: false, name: "Exporter", permissions: ["bulk-exports:manage"] };
  expect(rolePermissions(exporter)).toEqual(["bulk-exports:manage"]);
  const reader = { built_in: false, name: "Reader", permissions: ["workspaces:read", "no:such"] };
  expect(rolePermissions(reader)).toEqual(["workspaces:read"]);
  const editor = rolePermissions({ built_in: true, name: "WORKSPACE_USER", permissions: [] });
  expect(editor).not.toContain("bulk-exports:manage");
  expect(editor).toContain("bulk-exports:read");
});
