import { describe, expect, test } from "vitest";

import { runRow, sampleWorld } from "./check/sample-world.ts";
import { checkWaits } from "./check/waits.ts";
import type { LedgerLine, Operation, RunRow, ThreadView, World } from "./check/world.ts";

interface Waiting {
  world: World;
  create: Operation;
  /** Signals 1 and 2; the first was sent twice. */
  sent: Operation[];
  /** By wait and phase. */
  line(wait: number, phase: LedgerLine["phase"]): LedgerLine;
  resumed: RunRow[];
  view: ThreadView;
}

/** Returns a world with a thread that has waited for a timer and twice for a signal. */
function waitingWorld(): Waiting {
  const world = sampleWorld();
  const thread = "t2";
  const create: Operation = {
    ...{ id: 50, name: "run.create", invoked: 3000, ended: 3010, outcome: "ok", thread, run: "w0", graph: "waits" },
    ...{ waits: 3, signals: 2 },
  };
  const sent = [1, 1, 2].map((signal, at): Operation => ({
    ...{ id: 51 + at, name: "signal.send", invoked: 2000, ended: 2010, outcome: "ok", thread, signal },
    created: at !== 1,
  }));
  world.operations.push(create, ...sent);
  const ended = ["1:timer", "2:signal:1", "3:signal:2"];
  const resumed = ended.map((_, at) =>
    runRow({ run: `w${at + 1}`, seq: 11 + at, thread, resumedBy: at === 0 ? "timer" : "go" }),
  );
  world.runs.push(runRow({ run: "w0", seq: 10, thread }), ...resumed);
  for (const [at, answer] of ended.entries()) {
    const about = { thread, attempt: 1, pid: 11, token: "w", wait: at + 1 };
    const t = 3000 + at * 1000;
    world.ledger.push({ ...about, t, run: `w${at}`, phase: "wait", ...(at === 0 && { until: 3900 }) });
    world.ledger.push({ ...about, t: t + 950, run: `w${at + 1}`, phase: "woken", answer });
    for (const step of [2 * at + 1, 2 * at + 2])
      world.ledger.push({ ...about, t, run: `w${at}`, phase: "effect", step, key: `key-${step}` });
  }
  const view: ThreadView = { thread, rows: 9, answer: 200, status: "idle", ended };
  world.threads.push(view);
  const line = (wait: number, phase: LedgerLine["phase"]) =>
    world.ledger.find((entry) => entry.wait === wait && entry.phase === phase)!;
  return { world, create, sent, line, resumed, view };
}

const violations = (change: (waiting: Waiting) => unknown): string[] => {
  const waiting = waitingWorld();
  change(waiting);
  return checkWaits(waiting.world).violations.map(({ text }) => text);
};

describe("law 6, waits", () => {
  test("accepts timers and signals, some of them repeated or early", () => {
    expect(checkWaits(waitingWorld().world)).toEqual({
      violations: [],
      checked: { threads: 1, timers: 1, signals: 2, repeated: 1, early: 3 },
    });
  });

  test.each<[string, (waiting: Waiting) => unknown, string]>([
    ["a timer that ends early", ({ line }) => (line(1, "woken").t = 3800), "the timer of wait 1 ended 100 ms early"],
    ["a timer nobody set", ({ line }) => delete line(1, "wait").until, "the timer of wait 1 ended NaN ms early"],
    [
      "a timer whose time has moved",
      ({ world, line }) => world.ledger.push({ ...line(1, "wait"), until: 4200 }),
      "wait 1 had the times 3900 and 4200",
    ],
    [
      "two ends of a wait",
      ({ world, line }) => world.ledger.push({ ...line(2, "woken"), answer: "2:signal:2" }),
      "wait 2 was ended by 2:signal:1 and 2:signal:2",
    ],
    [
      "a signal that ends two waits",
      ({ view, line }) => (view.ended![2] = line(3, "woken").answer = "3:signal:1"),
      "signal 2 was due and wait 3 took 1",
    ],
    [
      "signals in another order",
      ({ view }) => (view.ended = ["1:timer", "2:signal:2", "3:signal:1"]),
      "signal 1 was due and wait 2 took 2",
    ],
    ["an end that no node was given", ({ view }) => (view.ended![2] = "3:timer"), "the state holds 3:timer, which no"],
    ["a signal created twice", ({ sent }) => (sent[1]!.created = true), "signal 1 was created twice"],
    [
      "two runs of one end",
      ({ world, resumed }) => world.runs.push({ ...resumed[1]!, run: "w9" }),
      "3 waits have ended and created 4 runs",
    ],
    ["a wait without an end", ({ view }) => view.ended!.pop(), "2 of 3 waits have ended, and all signals were sent"],
    [
      "an effect with another key after the wait",
      ({ world, line }) => world.ledger.push({ ...line(1, "effect"), key: "other" }),
      "the effects of 3 waits have 7 keys",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violations(change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });

  test("excuses waits whose signal was not acknowledged", () => {
    expect(
      violations(({ view, sent, resumed, world }) => {
        sent[2]!.outcome = "fail";
        view.ended!.pop();
        world.runs = world.runs.filter((row) => row !== resumed[2]);
      }),
    ).toEqual([]);
  });
});
