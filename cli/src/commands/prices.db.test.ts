import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { runHeddle } from "../../test/run-heddle.ts";

const db = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), "heddle-prices-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const prices = (...args: string[]) => runHeddle(["prices", ...args], { DATABASE_URI: db.uri, HEDDLE_DATA_DIR: folder });

test("imports a price list, and reports a file that is none", async () => {
  const file = join(folder, "list.json");
  const write = (cost: number) =>
    writeFileSync(file, JSON.stringify({ "acme/m": { litellm_provider: "acme", input_cost_per_token: cost } }));
  write(1e-7);
  const dry = await prices("import", file, "--dry-run");
  expect([dry.code, dry.stdout.split("\n")]).toEqual([
    0,
    ["new  acme/m (acme): 0.1 / 0", "new  m (acme): 0.1 / 0", "2 prices would be added, 0 changed, 0 unchanged.", ""],
  ]);
  expect(await prices("import", "--file", file)).toMatchObject({
    code: 0,
    stdout: "2 prices added, 0 changed, 0 unchanged.\n",
  });
  write(2e-7);
  const from = "2026-01-02T00:00:00Z";
  expect((await prices("import", file, "--from", from)).stdout).toContain("2 changed");
  const rows = await db.sql`select prompt_cost::text as cost, start_time from model_prices where name = 'm' order by 1`;
  expect(rows.map((row) => [Number(row["cost"]), row["start_time"]])).toEqual([
    [1e-7, null],
    [2e-7, new Date(from)],
  ]);
  const log = await db.sql`select operation from audit_log where actor_kind = 'system'`;
  expect(log.map((line) => line["operation"])).toEqual(["heddle prices import", "heddle prices import"]);
  writeFileSync(file, "[]");
  const rejected = await prices("import", "--file", file);
  expect(rejected.code).not.toBe(0);
  expect(rejected.stderr).toContain("is not an object of models");
  const wrong = [["import"], [], ["import", file, "--from", "soon"], ["import", file, "--file", "x"]];
  const codes = await Promise.all(wrong.map(async (args) => (await prices(...args)).code));
  expect(codes).not.toContain(0);
}, 180_000);
