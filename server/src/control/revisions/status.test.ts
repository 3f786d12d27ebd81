import { expect, test } from "vitest";

import { EVENTS, isOver, STATUSES, statesBefore, type Status, TRANSITIONS } from "./status.ts";

const OVER: Status[] = ["CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "DEPLOYED", "SKIPPED"];

test("every state is reachable from the first, and exactly the final ones are over", () => {
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

test("a revision can be superseded in every state before it deploys, and while its state is unknown", () => {
  expect(statesBefore("superseded")).toEqual([
    "CREATING",
    "QUEUED",
    "AWAITING_BUILD",
    "BUILDING",
    "AWAITING_DEPLOY",
    "INTERRUPTED",
    "UNKNOWN",
  ]);
});

test("a failure belongs to the current step", () => {
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
