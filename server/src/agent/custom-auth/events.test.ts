import { expect, test } from "vitest";

import { toConditions } from "./conditions.ts";
import { isEventName } from "./events.ts";

test("handlers are for events, resources, actions of all resources, and everything; nothing else", () => {
  for (const name of ["threads:create_run", "store:list_namespaces", "crons", "*:delete", "*"]) {
    expect([name, isEventName(name)]).toEqual([name, true]);
  }
  for (const name of ["thread", "threads:put", "threads:", "*:destroy", "runs:create", "constructor", ""]) {
    expect([name, isEventName(name)]).toEqual([name, false]);
  }
});

test("filters are equality and containment; what is neither is the project's mistake", () => {
  expect(
    toConditions({ owner: "a", team: { $eq: "b" }, members: { $contains: "c" }, tags: { $contains: ["d"] } }),
  ).toEqual([
    { key: "owner", op: "$eq", operand: "a" },
    { key: "team", op: "$eq", operand: "b" },
    { key: "members", op: "$contains", operand: ["c"] },
    { key: "tags", op: "$contains", operand: ["d"] },
  ]);
  for (const wrong of [{ a: null }, { a: {} }, { a: ["b"] }, { a: { $gt: 1 } }, { a: { $eq: {} } }]) {
    expect(() => toConditions(wrong as object)).toThrow(/the filter's "a"/);
  }
});
