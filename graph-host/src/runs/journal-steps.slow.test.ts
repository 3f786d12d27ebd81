import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  const ledger = text.split("\n").map((line) => JSON.parse(line) as Entry);
  return { wasKilled: !first, ledger, log: last.result.values.log as string[], outcome: last.outcome.outcome };
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
  if (point.startsWith("after-step")) expect(count(ledger, "first")).toBe(1);
});

test("tools of createAgent are steps by a middleware", async () => {
  const input = { messages: [{ role: "user", content: "What is the weather in Berlin and Paris?" }] };
  const { ledger, wasKilled, outcome } = await killed("agent", "in Paris", {}, input);
  expect([wasKilled, outcome]).toEqual([true, "success"]);
  expect(count(ledger, "Berlin")).toBe(1);
  expect(count(ledger, "Paris")).toBe(2);
  expect(new Set(ledger.map(({ key }) => key)).size).toBe(2);
});
