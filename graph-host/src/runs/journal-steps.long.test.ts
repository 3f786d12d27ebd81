import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../../server/test/db.ts";
import { claimRun, startOn } from "../../test/database-host.ts";

const GRAPHS = { steps: "./stepped.ts:steps", nested: "./stepped.ts:nested", agent: "./stepped.ts:agent" };
const db = await testDatabase();
const dir = mkdtempSync(join(tmpdir(), "heddle-steps-"));
afterAll(() => rmSync(dir, { recursive: true }));

interface Entry {
  key: string;
  name: string;
  given: string;
  answer: string;
}

const entries = (file: string): Entry[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);

/** Runs a graph whose host is killed in the first attempt, then in a new host. Returns the ledger and the final log. */
async function killed(graphId: string, dieAt: string, env: Record<string, string> = {}, input: object = { log: [] }) {
  const [threadId, runId, file] = [randomUUID(), randomUUID(), join(dir, randomUUID())];
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  const kwargs = { input, config: { configurable: { file, dieAt } }, durability: "sync" };
  const attempt = async (n: number, environment: Record<string, string>) => {
    const host = await startOn(db, GRAPHS, environment);
    await claimRun(db, runId, threadId, n);
    const run = host.start(graphId, kwargs as never, { runId, threadId, attempt: n });
    const ended = await run.end.catch(() => undefined);
    await host.stop();
    return ended && run;
  };
  const first = await attempt(1, env);
  const last = first ?? (await attempt(2, {}))!;
  return {
    wasKilled: !first,
    ledger: entries(file),
    log: last.result.values.log as string[],
    outcome: last.outcome.outcome,
  };
}

const count = (ledger: Entry[], name: string) => ledger.filter((entry) => entry.name === name).length;

test.concurrent.each(["steps", "nested"])("%s: a completed step is not repeated after its host died", async (graph) => {
  const { ledger, log, wasKilled } = await killed(graph, "after first");
  expect([wasKilled, ledger.length]).toEqual([true, 3]);
  expect(log).toEqual(["first", "second", "third"].map((name) => ledger.find((e) => e.name === name)!.answer));
});

test.concurrent.each(["steps", "nested"])("%s: a step repeated after a crash has the same key", async (graph) => {
  const { ledger, log } = await killed(graph, "in first");
  expect(ledger.map(({ name }) => name).sort()).toEqual(["first", "first", "second", "third"]);
  expect(new Set(ledger.map(({ key }) => key)).size).toBe(3);
  expect(log[0]).toBe(ledger[1]!.answer);
});

test.concurrent.each([
  ...[1, 2, 3].flatMap((n) => [`before-checkpoint:${n}`]),
  ...[1, 3].flatMap((n) => [`before-step:${n}`, `after-step:${n}`]),
])("a kill at %s: one key per step, and no result that was used is computed again", async (point) => {
  const { ledger, log, outcome } = await killed("steps", "", { HEDDLE_FAULT_POINTS: point });
  expect(outcome).toBe("success");
  expect(new Set(ledger.map(({ key }) => key)).size).toBe(3);
  for (const { given } of ledger.filter(({ name }) => name !== "first")) expect(given).toBe(log[0]);
  expect(point.startsWith("after-step") ? count(ledger, "first") : 1).toBe(1);
});

const input = { messages: [{ role: "user", content: "What is the weather in Berlin and Paris?" }] };
test("tools of createAgent are steps by a middleware", async () => {
  const { ledger, wasKilled, outcome } = await killed("agent", "in Paris", {}, input);
  expect([wasKilled, outcome]).toEqual([true, "success"]);
  expect(count(ledger, "Berlin")).toBe(1);
  expect(count(ledger, "Paris")).toBe(2);
  expect(new Set(ledger.map(({ key }) => key)).size).toBe(2);
});

test("a tool that is a step may ask, and is not repeated with the answer to another one", async () => {
  const [threadId, file] = [randomUUID(), join(dir, randomUUID())];
  await db.sql`insert into threads (thread_id) values (${threadId})`;
  const host = await startOn(db, GRAPHS);
  const config = { configurable: { file, asks: true } };
  const run = async (kwargs: object) => {
    const runId = randomUUID();
    await claimRun(db, runId, threadId, 1);
    return host.run("agent", { config, ...kwargs } as never, { runId, threadId });
  };
  const asked = Object.values((await run({ input })).result.interrupts!).flat() as { id: string; value: string }[];
  expect(asked.map(({ value }) => value).sort()).toEqual(["Berlin", "Paris"]);
  const [one, other] = asked.map(({ id }) => id);
  expect((await run({ command: { resume: { [one!]: "yes" } } })).outcome.outcome).toBe("success");
  expect(entries(file)).toHaveLength(1);
  const last = await run({ command: { resume: { [other!]: "yes" } } });
  await host.stop();
  expect(last.result.interrupts).toEqual({});
  expect(new Set(entries(file).map(({ name }) => name)).size).toBe(2);
  expect(entries(file)).toHaveLength(2);
});
