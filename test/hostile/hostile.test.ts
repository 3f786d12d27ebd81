/**
 * Some thousand hostile inputs against real servers with 512 MB of heap. `main.ts` does the same at length.
 */
import { afterAll, beforeAll, expect, test } from "vitest";

import { describeFinding, planTasks, Run } from "./run.ts";
import { SERVERS } from "./servers.ts";
import { SURFACES } from "./surfaces.ts";
import { World } from "./world.ts";

/** Fixed, so that a change is judged by its own effect. */
const SEED = 8;
const INPUTS = 4_000;
const TIME_LIMIT_MS = 60_000;
const START_MS = 400_000;

let world: World;
beforeAll(async () => {
  world = await World.open(SERVERS);
}, START_MS);
afterAll(() => world?.close(), START_MS);

test("no input breaks a rule", { timeout: 900_000 }, async () => {
  const run = new Run(world, {
    inputs: INPUTS,
    seed: SEED,
    surfaces: SURFACES,
    servers: SERVERS,
    timeLimitMs: TIME_LIMIT_MS,
    print: () => {},
  });
  const { sent, findings, counts, watched } = await run.execute();
  const lines = [...counts].map(([surface, labels]) => `${surface}: ${JSON.stringify(Object.fromEntries(labels))}`);
  console.log(`${sent} inputs\n${lines.join("\n")}\n${watched}`);
  expect(findings.map((finding) => describeFinding(finding, SEED)).join("\n")).toBe("");
  // every surface was reached, and its requests got further than the authentication
  for (const surface of SURFACES) {
    const labels = [...counts].filter(([name]) => name.startsWith(`${surface.name} `)).flatMap(([, each]) => [...each]);
    const total = labels.reduce((sum, [, count]) => sum + count, 0);
    const turnedAway = labels.reduce((sum, [label, count]) => sum + (/40[13]$|16$/.test(label) ? count : 0), 0);
    expect([surface.name, total > 0, turnedAway < total * 0.7]).toEqual([surface.name, true, true]);
  }
});

test("the same seed makes the same plan, and every surface takes part in it", () => {
  const plan = planTasks({ inputs: 1000, surfaces: SURFACES, servers: SERVERS });
  expect(new Set(plan.map(({ surface }) => surface.name))).toEqual(new Set(SURFACES.map(({ name }) => name)));
  expect(plan.length).toBeGreaterThan(900);
});
