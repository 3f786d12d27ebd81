import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../server/test/db.ts";
import { claimRun, finishRun, startOn } from "../../test/database-host.ts";
import type { HostProcess, RunHandle } from "../../test/host-process.ts";

const LIMIT = 90_000;
const db = await testDatabase();
let host: HostProcess;
const dir = mkdtempSync(join(tmpdir(), "heddle-retry-"));
let file: string;
let threadId: string;

const startHost = () =>
  startOn(db, { counted: "./counted.ts:graph", asking: "./counted.ts:asking", steps: "./human.ts:steps" });
beforeAll(async () => {
  host = await startHost();
});
afterAll(async () => {
  await host.stop();
  rmSync(dir, { recursive: true });
});
beforeEach(async () => {
  file = join(dir, randomUUID());
  threadId = randomUUID();
  await db.sql`insert into threads (thread_id) values (${threadId})`;
});

const ran = () => readFileSync(file, "utf8").trim().split("\n");
const configurable = (more: object = {}) => ({ config: { configurable: { file, ...more } } });

const claim = (runId: string, n: number) => claimRun(db, runId, threadId, n);
const finish = (runId: string) => finishRun(db, runId);

async function attempt(n: number, runId: string, graphId: string, kwargs: object): Promise<RunHandle> {
  await claim(runId, n);
  return host.start(graphId, kwargs, { runId, threadId, attempt: n });
}

test("a run continues from its last checkpoint after its host died", { timeout: LIMIT }, async () => {
  const runId = randomUUID();
  const kwargs = { input: { log: [] }, stream_mode: ["tasks"], ...configurable({ hang: 60_000 }) };
  const first = await attempt(1, runId, "counted", kwargs);
  await first.seen((event, data) => event === "tasks" && data.name === "two");
  host.child.kill("SIGKILL");
  await host.stop();
  host = await startHost();
  const second = await attempt(2, runId, "counted", kwargs);
  await second.end;
  expect(second.outcome).toMatchObject({ outcome: "success", attempt: 2 });
  expect(second.result.values).toEqual({ log: ["one", "two", "three"] });
  expect(ran()).toEqual(["one", "two", "two", "three"]);
});

test("a retry does not apply its input again to another run's state", { timeout: LIMIT }, async () => {
  const [runId, other] = [randomUUID(), randomUUID()];
  const kwargs = { input: { log: [] }, stream_mode: ["tasks"], ...configurable({ hang: 60_000 }) };
  const first = await attempt(1, runId, "counted", kwargs);
  await first.seen((event, data) => event === "tasks" && data.name === "two");
  host.child.kill("SIGKILL");
  await host.stop();
  host = await startHost();
  await finish(runId);
  const between = await attempt(1, other, "counted", { ...kwargs, ...configurable() });
  await between.end;
  await finish(other);
  const before = ran();
  const second = await attempt(2, runId, "counted", { ...kwargs, ...configurable() });
  await second.end;
  expect(ran().filter((node) => node === "one")).toEqual(before.filter((node) => node === "one"));
});

test(
  "an attempt that lost the run writes nothing more, ends as fenced and reports no error",
  { timeout: LIMIT },
  async () => {
    const other = await startHost();
    const runId = randomUUID();
    const kwargs = { input: { log: [] }, stream_mode: ["tasks"], ...configurable({ hang: 3000 }) };
    const zombie = await attempt(1, runId, "counted", kwargs);
    await zombie.seen((event, data) => event === "tasks" && data.name === "two");
    await claim(runId, 2);
    const second = await other.run("counted", kwargs, { runId, threadId, attempt: 2 });
    const rows = () => db.sql`select checkpoint_id, metadata from checkpoints where thread_id = ${threadId} order by 1`;
    const before = await rows();
    await zombie.end;
    expect(zombie.outcome).toMatchObject({ outcome: "fenced", attempt: 1 });
    expect(zombie.names()).not.toContain("error");
    expect(await rows()).toEqual(before);
    expect(second.outcome.outcome).toBe("success");
    await other.stop();
  },
);

test("a newer attempt on the same host replaces the older one", async () => {
  const runId = randomUUID();
  const kwargs = { input: { log: [] }, stream_mode: ["tasks"], ...configurable({ hang: 500 }) };
  const first = await attempt(1, runId, "counted", kwargs);
  await first.seen((event, data) => event === "tasks" && data.name === "two");
  const second = await attempt(2, runId, "counted", kwargs);
  await second.end;
  expect(second.outcome).toMatchObject({ outcome: "success", attempt: 2 });
  // a run that waits as long as the first attempt, and began later
  const later = await attempt(1, randomUUID(), "counted", kwargs);
  await later.end;
  expect(second.events.at(-1)!.data).toMatchObject({ name: "three" });
});

test("a retry of a run that reached its interrupt does not ask again", async () => {
  const runId = randomUUID();
  await (
    await attempt(1, runId, "asking", { input: { log: [] }, ...configurable() })
  ).end;
  const again = await attempt(2, runId, "asking", { input: { log: [] }, ...configurable() });
  await again.end;
  expect(again.outcome.outcome).toBe("success");
  expect(again.data("values")).toEqual([{ log: ["one"] }, { __interrupt__: [{ id: expect.any(String), value: "?" }] }]);
  expect(Object.values(again.result.interrupts!)).toMatchObject([[{ value: "?" }]]);
  expect(ran()).toEqual(["one", "ask"]);
});

test.each([{ interrupt_before: ["two"] }, { interrupt_after: ["one"] }, { interrupt_before: "*" as const }])(
  "a retry of a run that reached its breakpoint does not run past it: %o",
  async (breakpoint) => {
    const runId = randomUUID();
    const kwargs = { input: { log: [] }, ...breakpoint, ...configurable() };
    const first = await attempt(1, runId, "counted", kwargs);
    await first.end;
    const again = await attempt(2, runId, "counted", kwargs);
    await again.end;
    expect(again.result).toEqual(first.result);
    expect(again.data("values").at(-1)).toEqual({ __interrupt__: [] });
    await finish(runId);
    const next = await attempt(1, randomUUID(), "counted", { input: null, ...configurable() });
    await next.end;
    expect(next.result.values).toEqual({ log: ["one", "two", "three"] });
    expect(ran()).toEqual(["one", "two", "three"]);
  },
);

test("a retry of a run from an older checkpoint continues from the run's own head", async () => {
  const base = randomUUID();
  await (
    await attempt(1, base, "counted", { input: { log: [] }, ...configurable() })
  ).end;
  await finish(base);
  const [{ checkpoint_id }] = (await db.sql`
    select checkpoint_id from checkpoints where thread_id = ${threadId} and metadata ->> 'step' = '1'`) as unknown as [
    { checkpoint_id: string },
  ];
  const runId = randomUUID();
  const kwargs = { input: null, interrupt_before: ["three"], ...configurable({ checkpoint_id }) };
  await (
    await attempt(1, runId, "counted", kwargs)
  ).end;
  const again = await attempt(2, runId, "counted", { ...kwargs, interrupt_before: null });
  await again.end;
  expect(again.result.values).toEqual({ log: ["one", "two", "three"] });
  expect(ran()).toEqual(["one", "two", "three", "two", "three"]);
});

test("a later attempt of a run that had not begun begins with its input", async () => {
  const interruptedId = randomUUID();
  await (
    await attempt(1, interruptedId, "asking", { input: { log: [] }, ...configurable() })
  ).end;
  await finish(interruptedId);
  const resumed = await attempt(2, randomUUID(), "asking", { command: { resume: "now" }, ...configurable() });
  await resumed.end;
  expect(resumed.result.values).toEqual({ log: ["one", "now"] });
});

test("checkpoints name their run, attempt and graph", async () => {
  const runId = randomUUID();
  const kwargs = {
    input: { log: [] },
    config: { configurable: { file, "x-team": "blue" }, metadata: { colour: "red" } },
  };
  await (
    await attempt(1, runId, "steps", kwargs)
  ).end;
  const rows = await db.sql`select metadata from checkpoints where thread_id = ${threadId} order by checkpoint_id`;
  expect(rows).toHaveLength(5);
  for (const { metadata } of rows) {
    expect(metadata).toMatchObject({
      run_id: runId,
      thread_id: threadId,
      graph_id: "steps",
      run_attempt: 1,
      "x-team": "blue",
      colour: "red",
      langgraph_version: expect.any(String),
    });
  }
});
