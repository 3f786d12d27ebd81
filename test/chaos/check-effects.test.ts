import { describe, expect, test } from "vitest";

import { checkCancels } from "./check/cancels.ts";
import { checkDeliveries } from "./check/deliveries.ts";
import { checkResumes } from "./check/resumes.ts";
import { type Break, line, row, violationsAfter } from "./check/broken-world.ts";
import { addOperation, runRow, sampleWorld, THREAD } from "./check/sample-world.ts";
import { checkTruth } from "./check/truth.ts";
import { describeStory } from "./story.ts";
import type { World } from "./check/world.ts";

describe("law 4, cancels", () => {
  const cancel = (world: World, action: "interrupt" | "rollback") =>
    addOperation(world, { name: "run.cancel", run: "r2", action });

  test.each<[string, Break, string]>([
    [
      "a late end",
      (w) => (cancel(w, "interrupt"), Object.assign(row(w, "r2"), { ended: 25_000, status: "interrupted" })),
      "no effect for 4990 ms",
    ],
    [
      "no end",
      (w) => (cancel(w, "interrupt"), Object.assign(row(w, "r2"), { ended: null, status: "running" })),
      "no effect at all",
    ],
    [
      "a natural end",
      (w) => (cancel(w, "rollback"), (line(w, "r2", 2, "end").t = 30_000)),
      "was cancelled (rollback) and went on to the end of step 2",
    ],
    [
      "a rollback that left the run",
      (w) => (cancel(w, "rollback"), Object.assign(row(w, "r2"), { ended: 21_000, status: "interrupted" })),
      "was rolled back while it ran",
    ],
    [
      "a run that its successor did not stop",
      (w) => {
        w.runs.push(runRow({ run: "r3", seq: 3, created: 20_000, started: 31_000, ended: 31_000 }));
        addOperation(w, { name: "run.create", run: "r3", strategy: "interrupt", accepted: 20_000 });
        row(w, "r2").ended = 30_000;
      },
      "the interrupt by r3 of run r2 had no effect",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violationsAfter(checkCancels, change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });

  test("allows for servers that are slow to respond", () => {
    const change = (w: World) => {
      cancel(w, "interrupt");
      Object.assign(row(w, "r2"), { ended: 25_000, status: "interrupted" });
      w.health.push({ sent: 22_000, t: 22_600, server: "api", endpoint: "/ok", status: 200 });
    };
    expect(violationsAfter(checkCancels, change)).toEqual([]);
  });

  test("ignores time with faults", () => {
    const change = (w: World) => {
      cancel(w, "interrupt");
      Object.assign(row(w, "r2"), { ended: 30_500, status: "interrupted" });
      w.calms = [{ from: 29_500, to: 60_000 }];
    };
    expect(violationsAfter(checkCancels, change)).toEqual([]);
  });
});

describe("law 5, deliveries", () => {
  test.each<[string, Break, string]>([
    [
      "a deleted thread that still exists",
      (w) => addOperation(w, { name: "thread.delete" }),
      "the deleted thread answers 200",
    ],
    [
      "rows of a deleted thread",
      (w) => (addOperation(w, { name: "thread.delete" }), (w.threads[0]!.answer = 404)),
      "has 9 rows",
    ],
    ["a thread that no longer exists", (w) => (w.threads[0]!.answer = 404), "was not deleted and answers 404"],
    ["a webhook that was never delivered", (w) => (w.hooks = []), "the webhook of run r2 was not delivered"],
    ["a webhook that was always rejected", (w) => (w.hooks[0]!.answered = 500), "was not delivered (1 attempts)"],
    ["a webhook with another id", (w) => w.hooks.push({ ...w.hooks[0]!, id: "other" }), "came under the id other"],
    ["two runs for one idempotency key", (w) => (row(w, "r2").key = "key-r1"), "the key key-r1 made 2 runs"],
    ["two responses for one idempotency key", (w) => (w.operations[1]!.key = "key-r1"), "was answered with 2 runs"],
    [
      "a repeated occurrence",
      (w) => {
        addOperation(w, { name: "cron.create", cron: "c", ended: w.end });
        for (const run of ["x", "y"])
          w.runs.push(runRow({ run, seq: 9, cron: "c", occurrence: "2026-01-01T00:00:00.000Z" }));
      },
      "started 2 runs",
    ],
    [
      "an occurrence that started no run",
      (w) => {
        addOperation(w, { name: "cron.create", cron: "c", ended: 0 });
        w.end = 200_000;
      },
      "started no run",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violationsAfter(checkDeliveries, change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });
});

describe("law 6, resumes", () => {
  const addAnsweredQuestion = (world: World, { named, created }: { named: boolean; created: number }) => {
    const about = { run: "r5", thread: THREAD, attempt: 1, pid: 11, token: "x", question: 2 };
    world.ledger.push({ t: 5000, phase: "ask", ...about }, { t: 5100, phase: "answer", ...about, answer: "a1-y" });
    world.runs.push(runRow({ run: "r5", seq: 5, created, ended: 6000 }));
    addOperation(world, { name: "run.create", run: "r5", answer: "a1-y", named, graph: "asks" });
  };

  test("finds an answer that reached a later question", () => {
    expect(violationsAfter(checkResumes, (w) => addAnsweredQuestion(w, { named: false, created: 4900 }))).toEqual([
      "the answer a1-y to question 1 landed on question 2",
    ]);
  });

  test("finds a named answer that reached a later question, whenever it was sent", () => {
    expect(violationsAfter(checkResumes, (w) => addAnsweredQuestion(w, { named: true, created: 5050 }))).toHaveLength(
      1,
    );
  });

  test("attributes an unnamed answer to a newer question to the client", () => {
    const world = sampleWorld();
    addAnsweredQuestion(world, { named: false, created: 5050 });
    expect(checkResumes(world)).toMatchObject({ violations: [], checked: { mistakes: 1 } });
  });

  test("finds an answer in the state that no node received", () => {
    expect(violationsAfter(checkResumes, (w) => (w.threads[0]!.answers = ["a1-z"]))).toEqual([
      "question 1 holds a1-z, which no node was given",
    ]);
  });
});

describe("law 7, truth", () => {
  const frozen = { id: 901, kind: "freeze-postgres", target: "postgres", begin: 70_000, end: 90_000 };
  test.each<[string, Break, string]>([
    [
      "an exit",
      (w) => w.exits.push({ t: 1, server: "api", how: "1", log: "TypeError" }),
      "api exited by itself (1): TypeError",
    ],
    ["a bare 500", (w) => addOperation(w, { name: "run.create", status: 500, error: "x" }), "was answered with 500"],
    [
      "a failing server in calm",
      (w) => (w.health[0]!.status = 503),
      "api answered 503 at /ok and everything had been well",
    ],
    [
      "a ready server without its database",
      (w) => (
        w.faults.push(frozen),
        w.health.push({ sent: 80_000, t: 80_010, server: "api", endpoint: "/ready", status: 200 })
      ),
      "api answered 200 at /ready 10.0 s into freeze-postgres",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violationsAfter(checkTruth, change)).toEqual([expect.stringContaining(text)]);
  });

  test("counts a server without a readiness endpoint", () => {
    const world = sampleWorld();
    world.health[1]!.status = 404;
    expect(checkTruth(world)).toMatchObject({ violations: [], checked: { withoutReadiness: 1 } });
  });
});

test("the story of a violation lists its operations, rows and faults in order of time", () => {
  const world = sampleWorld();
  world.faults.push({ id: 1, kind: "clock-ahead", target: "api", begin: 1500, end: 1500 });
  const story = describeStory(world, { law: 4, text: "", run: "r1" }).map((entry) => entry.slice(14));
  expect(story[0]).toContain("freeze-hosts worker1  for 0.1 s pids 77");
  expect(story).toEqual(
    expect.arrayContaining([expect.stringMatching(/^run.create enqueue one r1/), "table: run r1 created, seq 1"]),
  );
  const at = (text: string) => story.findIndex((entry) => entry.includes(text));
  expect(at("graph: end one 2")).toBeLessThan(at("clock-ahead"));
  expect(at("clock-ahead")).toBeLessThan(at("run r1 success"));
  expect(at("r2")).toBe(-1);
});
