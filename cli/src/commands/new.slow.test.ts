import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { runHeddle } from "../../test/run-heddle.ts";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const NODE_MODULES = join(REPOSITORY, "node_modules");
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
    const workflow = readFileSync(join(directory, ".github/workflows/test.yml"), "utf8");
    expect(workflow).toMatch(/- run: npm install\n +- run: npm test\n +- run: npm run types\n$/);
    symlinkSync(NODE_MODULES, join(directory, "node_modules"));
    const node = (...args: string[]) =>
      execFileSync(process.execPath, args, { cwd: directory, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    expect(node(join(NODE_MODULES, "typescript-native/bin/tsc"), "--noEmit")).toBe("");
    expect(manifest.scripts.test).toBe("node --import tsx --test src/*.test.ts");
    expect(node("--import", "tsx", "--test", `src/${template}.test.ts`)).toMatch(/^# pass [1-9]\d*$[^]*^# fail 0$/m);
  },
);

test("takes the directory before or after the options", async () => {
  const directory = join(home, "after");
  const created = await runHeddle(["new", "--template", "approval", "--no-install", directory]);
  expect(created).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(`Created ${directory}.`) });
  const two = await runHeddle(["new", join(home, "b"), "--no-install", join(home, "c")]);
  expect(two).toMatchObject({ code: 2, stderr: expect.stringContaining('Unexpected argument "') });
});

test("a checkout of a created project starts the Heddle of its own machine, or says how to install it", async () => {
  const directory = join(home, "shared");
  await runHeddle(["new", directory, "--no-install"]);
  const ignored = new Set(readFileSync(join(directory, ".gitignore"), "utf8").split("\n"));
  const checkout = join(home, "checkout");
  cpSync(directory, checkout, { recursive: true, filter: (path) => !ignored.has(basename(path)) });
  // no file that others get names a path of this machine
  const files = readdirSync(checkout, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect(texts.length).toBeGreaterThan(4);
  expect(texts.filter((text) => text.includes(REPOSITORY))).toEqual([]);
  const start = (cwd: string, env: Record<string, string> = {}) => {
    const { dev } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")).scripts as { dev: string };
    const [program, ...args] = dev.replace(/ dev$/, " --version").split(" ");
    expect(program).toBe("node");
    const own = { PATH: "/usr/bin:/bin", HOME: home, ...env };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env: own, encoding: "utf8" });
    return { status, stdout, stderr };
  };
  const version = expect.stringMatching(/^(heddle )?\d+\.\d+\.\d+/);
  expect(start(directory)).toEqual({ status: 0, stdout: version, stderr: "" });
  expect(start(checkout)).toEqual({ status: 1, stdout: "", stderr: expect.stringContaining("npm install --global") });
  const launcher = join(REPOSITORY, "cli/bin/heddle.js");
  expect(start(checkout, { HEDDLE_CLI: launcher })).toEqual({ status: 0, stdout: version, stderr: "" });
  // as npm links an installed package, and as other package managers do
  const bin = join(home, "bin");
  mkdirSync(bin);
  symlinkSync(launcher, join(bin, "heddle"));
  expect(start(checkout, { PATH: `${bin}:/usr/bin:/bin` })).toEqual({ status: 0, stdout: version, stderr: "" });
  rmSync(join(bin, "heddle"));
  writeFileSync(join(bin, "heddle"), `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`, { mode: 0o755 });
  expect(start(checkout, { PATH: `${bin}:/usr/bin:/bin` })).toEqual({ status: 0, stdout: version, stderr: "" });
});

test("rejects a directory that is not empty, and an unknown example", async () => {
  expect(await runHeddle(["new", home])).toMatchObject({ code: 2, stderr: expect.stringContaining("is not empty") });
  const unknown = await runHeddle(["new", join(home, "x"), "--template", "nothing"]);
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("must be agent, approval, python-agent, or python-approval"),
  });
});
