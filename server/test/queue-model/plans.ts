/** Random calls, weighted towards those with interesting consequences. */
import fc from "fast-check";

import { queueSection, type QueueRules } from "../../src/agent/project/queue-config.ts";
import type { State } from "./model.ts";
import type { Plan } from "./operations.ts";

const server = fc.nat(2);
/** Without flow control only the first three: those of one thread concern each other. */
const thread = fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 5, 6, 7);
/** Resolved to a run when the call is made; smaller is older. */
const run = fc.nat(63);
const rarely = fc.nat(7).map((n) => n === 7);
const state: fc.Arbitrary<State> = fc.record({ values: fc.nat(9), next: fc.constantFrom([], [], ["ask"]) });

/** What rules look at. */
const traits = {
  customer: fc.constantFrom("x", "x", "x", "y", "z", null),
  group: fc.constantFrom("chat", null, null),
  user: fc.constantFrom("u", "u", "v", "w", null),
  model: fc.constantFrom("m", null, null),
  priority: fc.constantFrom("default", "batch", "batch", null, null, null),
  expires: fc.constantFrom(null, null, null, 7),
};

const seconds = fc.constantFrom(0.5, 1, 2, 5, 10, 60);

const create: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constant("create"),
  ...traits,
  input: fc.boolean(),
  refusable: fc.nat(3).map((n) => n > 0),
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
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("timePasses"), seconds }) },
) as fc.Arbitrary<Plan>;

/** Declarations of flow control; null: none. Most sequences have few rules, so that those are felt. */
export const rules: fc.Arbitrary<QueueRules | null> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  {
    weight: 5,
    arbitrary: fc
      .record({
        concurrency: fc.oneof(
          fc.constant([]),
          fc.subarray(
            [
              { key: "metadata.customer", limit: 1 },
              { key: "metadata.customer", limit: 2 },
              { key: "auth.identity", limit: 1 },
              { key: "config.configurable.model", limit: 1 },
              { key: "graph", limit: 2 },
              { key: "all", limit: 2, graphs: ["a"] },
            ],
            { maxLength: 3 },
          ),
        ),
        throttle: fc.subarray(
          [
            { key: "metadata.customer", limit: 2, period: 4, burst: 2 },
            { key: "auth.identity", limit: 1, period: 5 },
            { key: "all", limit: 60, period: 60, burst: 3, graphs: ["b"] },
          ],
          { maxLength: 1 },
        ),
        priority: fc.constantFrom(
          [],
          [{ name: "chat", match: { "metadata.group": "chat" } }, { name: "default" }, { name: "batch" }],
          [
            { name: "default" },
            { name: "low" },
            { name: "lower" },
            { name: "batch", match: { "metadata.customer": "x" } },
          ],
        ),
        ageing: fc.constantFrom(0, 5, 10),
        fair: fc.constantFrom(null, "metadata.customer", "auth.identity"),
        waiting: fc.constantFrom(
          [],
          [],
          [
            { key: "auth.identity", limit: 2 },
            { key: "metadata.customer", limit: 3 },
          ],
        ),
        debounce: fc.constantFrom(undefined, undefined, { seconds: 5, longest: 8 }),
        expires_after: fc.constantFrom(undefined, undefined, 20),
      })
      .map((declared) => queueSection.parse(declared)),
  },
);

const crowdedClaim: fc.Arbitrary<Plan> = fc.record({
  ...{ kind: fc.constant("claim" as const), server: fc.constantFrom(0, 0, 0, 0, 2) },
  limit: fc.integer({ min: 1, max: 3 }),
});
/** A run ends, and a claim follows, so that no two keys are free at once. */
export const endAndClaim: fc.Arbitrary<Plan[]> = fc
  .tuple(
    fc.record({
      ...{ kind: fc.constant("finish" as const), run, stale: fc.constant(false), state: fc.constant(null) },
      outcome: fc.constantFrom("success" as const),
    }),
    crowdedClaim,
  )
  .map((plans) => [...plans]);

/** Runs with two keys among many with one of them, which may pass over the former. */
const single = { ...traits, group: fc.constant(null), model: fc.constant(null), expires: fc.constant(null) };
export const crowdedPlans: fc.Arbitrary<Plan> = fc.oneof(
  { weight: 2, arbitrary: crowdedClaim },
  {
    weight: 6,
    arbitrary: fc
      .record({
        kind: fc.constant("create" as const),
        ...{ ...single, priority: fc.constantFrom(null, null, "batch") },
        keys: fc.constantFrom<[string | null, string | null]>(
          ["x", null],
          ["x", null],
          [null, "u"],
          [null, "u"],
          ["x", "u"],
        ),
        thread: fc.integer({ min: 1, max: 500 }),
        graph: fc.constantFrom("a" as const),
        server,
      })
      .map(({ keys: [customer, user], ...rest }) => ({
        ...{ ...rest, customer, user, input: false, refusable: false, strategy: "enqueue" as const },
        ...{ createThread: true, delayed: false, temporary: false, claim: false },
      })),
  },
  {
    weight: 1,
    arbitrary: fc.oneof<fc.Arbitrary<Plan>[]>(
      fc.record({ kind: fc.constant("cancel" as const), run, action: fc.constantFrom("interrupt" as const) }),
      fc.record({ kind: fc.constant("release" as const), run, stale: fc.constant(false), blame: fc.constant(false) }),
      fc.record({ kind: fc.constant("timePasses" as const), seconds }),
    ),
  },
);

/** Declarations with which runs have two keys or three. */
export const crowdedRules: fc.Arbitrary<QueueRules | null> = fc
  .record({
    concurrency: fc
      .record({ customer: fc.constantFrom(1, 1, 2), user: fc.constantFrom(1, 1, 2), all: fc.constantFrom(null, 2, 3) })
      .map(({ customer, user, all }) => [
        ...[
          { key: "metadata.customer", limit: customer },
          { key: "auth.identity", limit: user },
        ],
        ...(all === null ? [] : [{ key: "all", limit: all }]),
      ]),
    throttle: fc.constantFrom([], [], [{ key: "auth.identity", limit: 1, period: 1 }]),
    priority: fc.constantFrom([], [{ name: "default" }, { name: "batch" }]),
    ageing: fc.constantFrom(0, 5),
    fair: fc.constantFrom(null, null, "metadata.customer", "auth.identity"),
  })
  .map((declared) => queueSection.parse(declared));

/** Calls that flow control does not concern. */
export const BESIDE_FLOW: Plan["kind"][] = [
  ...(["append", "complete", "deleteRun", "deleteThread", "prune"] as const),
  ...(["refresh", "register", "beat", "expire", "sweep"] as const),
];

/** Kinds of calls that a sequence omits: most failures take few kinds of calls, but many of them. */
export const leftOut: fc.Arbitrary<Plan["kind"][]> = fc.subarray<Plan["kind"]>([
  ...BESIDE_FLOW,
  ...(["finish", "release", "cancel", "timePasses"] as const),
]);
