import { describe, expect, test } from "vitest";

import { checkAll } from "./check/all-laws.ts";
import { type Break, line, reader, row, violationsAfter, setState } from "./check/broken-world.ts";
import { checkEndings } from "./check/endings.ts";
import { addOperation, addReader, sampleWorld } from "./check/sample-world.ts";
import { checkState } from "./check/state.ts";
import { checkStreams } from "./check/streams.ts";
import type { World } from "./check/world.ts";

test("a valid world breaks no law, and every law has checked something", () => {
  const verdicts = checkAll(sampleWorld());
  expect(Object.values(verdicts).flatMap(({ violations }) => violations)).toEqual([]);
  expect(verdicts["1 state"]!.checked).toMatchObject({ threads: 1, runs: 2, checkpoints: 4 });
  expect(verdicts["3 streams"]!.checked).toMatchObject({ readers: 2, whole: 2, frames: 12, shared: 1 });
});

describe("law 1, state", () => {
  test.each<[string, Break, string]>([
    ["a lost run", (w) => setState(w, ["one/1", "one/2"]), "run r2 is a success of 2 steps, the state holds 0"],
    ["a lost step", (w) => setState(w, ["one/1", "one/2", "two/1"]), "the state holds 1 of them"],
    [
      "a repeated step",
      (w) => setState(w, ["one/1", "one/2", "one/2", "two/1", "two/2"]),
      'the state holds ["one/1","one/2","one/2"]',
    ],
    ["runs mixed", (w) => setState(w, ["one/1", "two/1", "one/2", "two/2"]), 'the state holds ["one/1","two/1"]'],
    [
      "runs in the wrong order",
      (w) => setState(w, ["two/1", "two/2", "one/1", "one/2"]),
      "run r1 (seq 1) comes after r2",
    ],
    [
      "a run without a row",
      (w) => setState(w, ["ghost/1", "one/1", "one/2", "two/1", "two/2"]),
      "ghost/1 of a run that there is not",
    ],
    [
      "a start from an older state",
      (w) => Object.assign(line(w, "r2", 1), { seen: 0, last: null }),
      "run r2 began from 0 entries",
    ],
    ["a history with a different head", (w) => (w.threads[0]!.history = ["c21"]), "/history begins with c21"],
    [
      "a checkpoint saver with a different head",
      (w) => (w.threads[0]!.saverHead = "c12"),
      "the official saver is at c12",
    ],
    ["a checkpoint saver with different values", (w) => (w.threads[0]!.saverDone = []), "the official saver reads []"],
    ["stale values of the thread", (w) => (w.threads[0]!.valuesDone = ["one/1"]), "the thread's values are"],
    ["a checkpoint below its parent", (w) => (w.checkpoints[2]!.id = "c00"), "checkpoint c00 has the parent c12"],
    [
      "a fork",
      (w) => (w.checkpoints[3]!.parent = "c12"),
      "checkpoint c22 has the parent c12; the one before it is c21",
    ],
    [
      "a lost update",
      (w) => addOperation(w, { name: "state.update", token: "update-1" }),
      "update-1 (ok) is there 0 times",
    ],
    [
      "an update before a run that had ended",
      (w) => {
        addOperation(w, { name: "state.update", token: "update-1" });
        setState(w, ["update-1/1", "one/1", "one/2", "two/1", "two/2"]);
      },
      "stands before run r1",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violationsAfter(checkState, change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });
});

describe("law 2, endings", () => {
  test.each<[string, Break, string]>([
    [
      "a run without an end",
      (w) => Object.assign(row(w, "r2"), { status: "running", ended: null }),
      "run r2 is still running",
    ],
    ["a final run without an end time", (w) => (row(w, "r2").ended = null), "run r2 is success and has no end"],
    [
      "an acknowledged run that no longer exists",
      (w) => (w.runs = [row(w, "r1")]),
      "run r2 was acknowledged and is gone",
    ],
    [
      "an error that no graph raised",
      (w) => Object.assign(row(w, "r1"), { status: "error", error: "no" }),
      "did not cause: no",
    ],
    ["two ends", (w) => w.hooks.push({ ...w.hooks[0]!, status: "error" }), "run r2 ended twice"],
    [
      "a step repeated after a later one",
      (w) => w.ledger.push({ ...line(w, "r1", 1), t: 1500, attempt: 2 }),
      "step 1 started again (attempt 2)",
    ],
    [
      "an effect that was repeated after its result was used",
      (w) => {
        w.ledger.push({ ...line(w, "r1", 1, "effect"), attempt: 2 });
      },
      "the effect of one/1 was repeated (attempt 2)",
    ],
    [
      "an effect with two keys",
      (w) => w.ledger.push({ ...line(w, "r1", 1, "effect"), key: "l" }),
      "the effect of one/1 has the keys r1.1 and l",
    ],
    [
      "two effects with one key",
      (w) => (line(w, "r2", 1, "effect").key = "r1.1"),
      "the effect of two/1 has the key of t1 one/1",
    ],
    [
      "a step without an effect",
      (w) => (w.ledger = w.ledger.filter((entry) => entry !== line(w, "r2", 2, "effect"))),
      "the state holds two/2, which has no effect",
    ],
    [
      "an effect that a resumed run repeated",
      (w) => w.ledger.push({ ...line(w, "r1", 1, "effect"), run: "r2" }),
      "the effect of one/1 was repeated",
    ],
    [
      "a step after the end",
      (w) => w.ledger.push({ ...line(w, "r1", 2), t: 1900 }),
      "step 2 started 300 ms after the run's end",
    ],
    [
      "a run that overtook an older one",
      (w) => (row(w, "r1").ended = 2500),
      "run r2 began before the older run r1 had ended",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violationsAfter(checkEndings, change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });

  test("excuses a step that a frozen process had started", () => {
    const again = (w: World) => w.ledger.push({ ...line(w, "r1", 1), t: 1500, pid: 77 });
    const thawed = (w: World) => (w.faults[0]!.end = 1490);
    expect(violationsAfter(checkEndings, (w) => (again(w), thawed(w)))).toEqual([]);
  });

  test("excuses a missing run whose thread was deleted", () => {
    const change = (w: World) => (addOperation(w, { name: "thread.delete" }), (w.runs = []));
    expect(violationsAfter(checkEndings, change)).toEqual([]);
  });
});

describe("law 3, streams", () => {
  test.each<[string, Break, string]>([
    ["readers that differ", (w) => (reader(w, "b").frames![2]!.data = "{}"), "reader b has 2 custom {}"],
    [
      "a frame that is not stored",
      (w) => reader(w, "a").frames!.push({ id: "6", event: "x", data: "1" }),
      "6 x 1, which is not kept",
    ],
    ["a gap", (w) => reader(w, "a").frames!.splice(2, 1), "reader a got frame 3 where 2 was to come"],
    [
      "a gap in the stored frames",
      (w) => w.streams[0]!.frames.splice(2, 1),
      "the stored stream holds frame 3 at place 2",
    ],
    [
      "half a stream as whole",
      (w) => reader(w, "a").frames!.splice(3),
      "without event 1 of step 2, event 2 of step 2 of attempt 1",
    ],
    ["a stream without its last state", (w) => reader(w, "a").frames!.splice(5), "as whole without the final state"],
    [
      "a complete stream of another attempt",
      (w) => {
        row(w, "r1").attempt = 2;
        for (const step of [1, 2]) Object.assign(line(w, "r1", step, "end"), { attempt: 2, execution: `22.${step}` });
      },
      "of attempt 2",
    ],
    [
      "an event that the run does not confirm",
      (w) => addReader(w, { run: "r1", reader: "c", frames: [{ event: "incomplete", data: "{}" }] }),
      "and the run does not say so",
    ],
  ])("finds %s", (_, change, text) => {
    expect(violationsAfter(checkStreams, change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });

  test("counts a reader of a non-resumable stream that saw frames of a lost attempt", () => {
    const world = sampleWorld();
    Object.assign(reader(world, "a"), { resumable: false, closed: "broken" }).frames!.splice(3);
    reader(world, "a").frames![2]!.data = "{}";
    expect(checkStreams(world)).toMatchObject({ violations: [], checked: { unkept: 1 } });
  });

  test("counts such a reader in either order of readers", () => {
    const world = sampleWorld();
    world.streams = [];
    for (const name of ["a", "b"]) reader(world, name).resumable = false;
    const first = world.operations.find((op) => op.name === "stream.read")!;
    first.closed = "broken";
    first.frames![2]!.data = "{}";
    expect(checkStreams(world)).toMatchObject({ violations: [], checked: { unkept: 1 } });
  });

  test("counts such a reader that received an incomplete event", () => {
    const world = sampleWorld();
    row(world, "r1").streamIncomplete = true;
    const missing = { id: "3", event: "incomplete", data: "{}" };
    Object.assign(reader(world, "a"), { resumable: false }).frames!.splice(3, 9, missing);
    reader(world, "a").frames![2]!.data = "{}";
    expect(checkStreams(world)).toMatchObject({ violations: [], checked: { unkept: 1, incomplete: 1 } });
    reader(world, "a").resumable = true;
    expect(checkStreams(world).violations).toHaveLength(1);
  });

  test("treats a broken stream as a prefix", () => {
    const change = (w: World) => (reader(w, "a").frames!.splice(3), (reader(w, "a").closed = "broken"));
    expect(violationsAfter(checkStreams, change)).toEqual([]);
  });

  test("excuses a stream marked incomplete, as its run is", () => {
    const world = sampleWorld();
    row(world, "r1").streamIncomplete = true;
    for (const name of ["a", "b"]) reader(world, name).frames!.splice(3, 9, { event: "incomplete", data: "{}" });
    const { violations, checked } = checkStreams(world);
    expect(violations).toEqual([]);
    expect(checked).toMatchObject({ incomplete: 2 });
  });
});
