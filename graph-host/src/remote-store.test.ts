import { expect, test } from "vitest";
import { HostProcess } from "../test/host-process.ts";

test("sends store operations in batches, and returns dates as Date objects", async () => {
  const host = await HostProcess.start("agents", { keeper: "./keeper.ts:graph" });
  const batches: unknown[][] = [];
  const item = {
    namespace: ["users", "1"],
    key: "name",
    value: { name: "Ada" },
    created_at: "2026-01-02T03:04:05.678Z",
    updated_at: "2026-01-02T03:04:05.678Z",
  };
  host.storeCall = (operations) => {
    batches.push(operations);
    return operations.map((operation) => {
      const { op, key } = operation as { op: string; key?: string };
      if (op === "search") return [{ ...item, score: 0.5 }];
      if (op === "list") return [["users", "1"]];
      return op === "get" && key === "name" ? item : null;
    });
  };
  const run = await host.run("keeper", { input: { seen: null } });
  expect(run.outcome.error).toBeUndefined();
  expect(run.result.values.seen).toEqual({
    at: item.created_at,
    found: 1,
    namespaces: [["users", "1"]],
    a: null,
    b: null,
  });
  expect(batches).toEqual([
    [{ op: "put", namespace: ["users", "1"], key: "name", value: { name: "Ada" } }],
    [{ op: "get", namespace: ["users", "1"], key: "name" }],
    [{ op: "search", namespace_prefix: ["users"], limit: 5, offset: 0 }],
    [{ op: "list", match_conditions: [{ match_type: "prefix", path: ["users"] }], limit: 100, offset: 0 }],
    [
      { op: "get", namespace: ["a"], key: "1" },
      { op: "get", namespace: ["b"], key: "2" },
    ],
  ]);
  host.storeCall = () => Object.assign(new Error("the label is empty"), { name: "InvalidNamespaceError" });
  const failed = await host.run("keeper", { input: { seen: null } });
  expect(failed.outcome).toMatchObject({
    outcome: "error",
    error: { error: "InvalidNamespaceError", message: "the label is empty" },
  });
  await host.stop();
});
