/** Random calls, weighted towards those with interesting consequences. */
import fc from "fast-check";

import type { State } from "./model.ts";
import type { Plan } from "./operations.ts";

const server = fc.nat(2);
const thread = fc.constantFrom(1, 1, 1, 2, 2, 3);
/** Resolved to a run when the call is made; smaller is older. */
const run = fc.nat(63);
const rarely = fc.nat(7).map((n) => n === 7);
const state: fc.Arbitrary<State> = fc.record({ values: fc.nat(9), next: fc.constantFrom([], [], ["ask"]) });

const create: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constant("create"),
  thread,
  graph: fc.constantFrom("a", "a", "b"),
  strategy: fc.constantFrom("enqueue", "enqueue", "enqueue", "reject", "interrupt", "rollback"),
  createThread: fc.boolean().map((no) => !no),
  delayed: rarely,
  temporary: fc.boolean(),
  server,
  claim: fc.boolean(),
});

const claim: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constant("claim"),
  server,
  limit: fc.integer({ min: 1, max: 3 }),
});

export const planArbitrary: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 8, arbitrary: create },
  { weight: 6, arbitrary: claim },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("append"), run, stale: rarely }) },
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant("finish"), run, stale: rarely },
      outcome: fc.constantFrom("success", "success", "error", "cancelled"),
      state: fc.option(state),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("complete"), run, stale: rarely, state }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("release"), run, stale: rarely, blame: fc.nat(3).map((n) => n > 0) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant("cancel"), run, action: fc.constantFrom("interrupt", "rollback", "timeout") },
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deleteRun"), run }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("deleteThread", "prune"), thread }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("refresh"), thread, state }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("register", "beat", "expire", "sweep"), server }) },
  { weight: 1, arbitrary: fc.constant({ kind: "timePasses" }) },
) as fc.Arbitrary<Plan>;

/** Kinds of calls that a sequence omits: most failures take few kinds of calls, but many of them. */
export const leftOut: fc.Arbitrary<Plan["kind"][]> = fc.subarray<Plan["kind"]>([
  ...(["append", "finish", "complete", "release", "cancel", "deleteRun", "deleteThread", "prune"] as const),
  ...(["refresh", "register", "beat", "expire", "sweep", "timePasses"] as const),
]);
