import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { runHeddle } from "../../test/run-heddle.ts";

const home = mkdtempSync(join(tmpdir(), "heddle-new-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each(["agent", "approval"])("creates a Python project of the example %s that passes its test", async (graph) => {
  const directory = join(home, graph);
  const created = await runHeddle(["new", directory, "--template", `python-${graph}`, "--no-install"]);
  expect(created).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("node heddle.mjs dev") });
  const python = process.env["HEDDLE_PYTHON"] ?? "python3";
  // unittest prints to stderr
  const printed = execFileSync("sh", ["-c", '"$0" -m unittest 2>&1', python], { cwd: directory, encoding: "utf8" });
  expect(printed).toMatch(/^Ran [1-9]\d* tests? in .*\n\nOK$/m);
  const workflow = readFileSync(join(directory, ".github/workflows/test.yml"), "utf8");
  expect(workflow).toContain("- run: .venv/bin/python -m unittest\n");
});
