import { expect, test } from "vitest";

import { EVENTS, isOver, STATUSES, statesBefore, type Status, TRANSITIONS } from "./status.ts";

const OVER: Status[] = ["CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "DEPLOYED", "SKIPPED"];

test("every state can be reached from the first, and every other leads to an end", () => {
  const reached = new Set<Status>(["CREATING"]);
  for (const status of reached) {
    for (const event of EVENTS) {
      const next = TRANSITIONS[status][event];
      if (next !== null) reached.add(next);
    }
  }
  expect([...reached].toSorted()).toEqual([...STATUSES].toSorted());
  for (const status of STATUSES) expect([status, isOver(status)]).toEqual([status, OVER.includes(status)]);
});

test("what is about to serve is not skipped, everything before it is", () => {
  expect(statesBefore("superseded")).toEqual([
    "CREATING",
    "QUEUED",
    "AWAITING_BUILD",
    "BUILDING",
    "AWAITING_DEPLOY",
    "INTERRUPTED",
  ]);
});

test("a failure is that of the step at hand", () => {
  const failures = Object.fromEntries(statesBefore("failed").map((status) => [status, TRANSITIONS[status].failed]));
  expect(failures).toEqual({
    CREATING: "CREATE_FAILED",
    QUEUED: "CREATE_FAILED",
    AWAITING_BUILD: "BUILD_FAILED",
    BUILDING: "BUILD_FAILED",
    AWAITING_DEPLOY: "DEPLOY_FAILED",
    DEPLOYING: "DEPLOY_FAILED",
    UNKNOWN: "DEPLOY_FAILED",
  });
});
