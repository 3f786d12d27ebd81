import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { runHeddle } from "../../test/run-heddle.ts";

const NODE_MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "heddle-new-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each(["agent", "approval"])(
  "creates a project of the example %s that compiles and passes its test",
  async (template) => {
    const directory = join(home, `my ${template}`);
    const created = await runHeddle(["new", directory, "--template", template, "--no-install"]);
    expect(created).toMatchObject({ code: 0, stderr: "" });
    expect(created.stdout).toContain(`Created ${directory}.`);
    const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name: `my-${template}`, scripts: { dev: expect.stringMatching(/ dev$/) } });
    expect(Object.values(manifest.dependencies)).not.toContain("^undefined");
    symlinkSync(NODE_MODULES, join(directory, "node_modules"));
    const node = (...args: string[]) =>
      execFileSync(process.execPath, args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    expect(node(join(NODE_MODULES, "typescript-native/bin/tsc"), "--noEmit")).toBe("");
    expect(node(join(NODE_MODULES, "vitest/vitest.mjs"), "run", "--root", directory)).toMatch(/Test Files .*1 passed/);
  },
);

test("refuses a directory that is not empty, and an unknown example", async () => {
  expect(await runHeddle(["new", home])).toMatchObject({ code: 2, stderr: expect.stringContaining("is not empty") });
  const unknown = await runHeddle(["new", join(home, "x"), "--template", "nothing"]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("must be agent or approval") });
});
