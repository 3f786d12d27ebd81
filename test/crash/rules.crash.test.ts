import { expect, test } from "vitest";

import { testDatabase } from "../../server/test/db.ts";
import { runRuleFaults } from "./rule-faults.ts";

/** A short version of `scripts/faults/rule-faults.ts`. */
test("rules match each run once, and act on it once, while two platforms are killed and frozen", async () => {
  const db = await testDatabase();
  const { violations, ...report } = await runRuleFaults({ uri: db.uri, sql: db.sql, runs: 250, faults: 6, seed: 38 });
  expect(violations).toEqual([]);
  expect(report.runs).toBeGreaterThanOrEqual(250);
  expect(report.kills + report.freezes + report.longFreezes).toBeGreaterThanOrEqual(6);
}, 600_000);
