import { expect, test } from "vitest";

import { toConditions } from "./conditions.ts";
import { isEventName, undecidedEvents } from "./events.ts";

test("accepts handlers for events, resources, actions of all resources and everything, and no others", () => {
  for (const name of ["threads:create_run", "store:list_namespaces", "crons", "*:delete", "*"]) {
    expect([name, isEventName(name)]).toEqual([name, true]);
  }
  for (const name of ["thread", "threads:put", "threads:", "*:destroy", "runs:create", "constructor", ""]) {
    expect([name, isEventName(name)]).toEqual([name, false]);
  }
});

test("lists events without a handler by resource, or one by one", () => {
  const handler = () => true;
  expect(undecidedEvents({})).toEqual(["threads", "assistants", "crons", "store"]);
  expect(undecidedEvents({ "*": handler })).toEqual([]);
  expect(undecidedEvents({ threads: handler, "*:read": handler, "store:put": handler })).toEqual([
    ...["create", "update", "delete", "search"].map((action) => `assistants:${action}`),
    ...["create", "update", "delete", "search"].map((action) => `crons:${action}`),
    ...["get", "search", "list_namespaces", "delete"].map((action) => `store:${action}`),
  ]);
});

test("accepts equality and containment filters, and blames the project for others", () => {
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
