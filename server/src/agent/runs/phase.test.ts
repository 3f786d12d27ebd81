import { expect, test } from "vitest";

import { isInHost, isWaiting, type Phase, PHASES, type RunEvent, TRANSITIONS } from "./phase.ts";

type Name = RunEvent["is"];

/** Phases that a run can be in after these events. */
function after(...events: Name[]): Phase {
  let phase: Phase = "starting";
  for (const event of events) phase = TRANSITIONS[phase][event]?.[0] ?? phase;
  return phase;
}

const before = (event: Name): Phase[] => PHASES.filter((phase) => TRANSITIONS[phase][event] !== null);
const next = (phase: Phase): Phase[] => Object.values(TRANSITIONS[phase]).flatMap((step) => (step ? [step[0]] : []));

/** Phases reachable from one, itself included. */
function reachable(from: Phase): Set<Phase> {
  const seen = new Set([from]);
  for (const phase of seen) for (const to of next(phase)) seen.add(to);
  return seen;
}

test("every phase is reached, and from every phase a run leaves the server", () => {
  expect([...reachable("starting")].sort()).toEqual([...PHASES].sort());
  expect(PHASES.filter((phase) => !reachable(phase).has("gone"))).toEqual([]);
});

test("a run that has left the server reacts to nothing", () => {
  expect(next("gone")).toEqual([]);
});

test("a run whose end is being written starts no second one, except to return it", () => {
  expect(TRANSITIONS.ending).toMatchObject({ ended: null, cancelled: null, stalled: null, capacity: null });
  expect(next("ending").filter((phase) => phase !== "gone")).toEqual(["ending"]);
  expect(TRANSITIONS.ending.returned?.[1]).toBe("release");
});

test("another server's claim, a later attempt and a return are possible in every phase until a run is gone", () => {
  const owned = PHASES.filter((phase) => phase !== "gone");
  for (const event of ["lost", "superseded", "returned"] as const) expect(before(event)).toEqual(owned);
});

test("a run is dispatched only when its stream is ready, a host may be free, or its row was confirmed", () => {
  const dispatching = PHASES.flatMap((phase) =>
    Object.entries(TRANSITIONS[phase]).flatMap(([event, step]) =>
      step?.[1] === "dispatch" ? [`${phase} ${event}`] : [],
    ),
  );
  expect(dispatching).toEqual(["starting prepared", "waiting capacity", "unconfirmed confirmed"]);
});

test("a cancelled run is never dispatched", () => {
  expect(after("cancelled", "prepared")).toBe("ending");
  expect(after("prepared", "cancelled", "capacity")).toBe("ending");
  expect(after("prepared", "doubted", "cancelled", "confirmed")).toBe("ending");
});

test("a run that a host has keeps its host until it ends, is returned or does not stop", () => {
  expect(after("prepared", "hosted", "capacity", "unhosted", "confirmed")).toBe("executing");
  expect(after("prepared", "hosted", "cancelled", "cancelled")).toBe("cancelling");
  expect(after("prepared", "hosted", "stalled")).toBe("executing");
  expect(after("prepared", "hosted", "cancelled", "stalled", "ended", "stored")).toBe("gone");
  expect(PHASES.filter(isInHost)).toEqual(["executing", "cancelling"]);
  expect(PHASES.filter(isWaiting)).toEqual(["waiting", "unconfirmed"]);
});
