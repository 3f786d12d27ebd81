import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { NODE_PACKAGES, notePackages, packagesKey, takePackages } from "./reuse-packages.ts";

const root = mkdtempSync(join(tmpdir(), "heddle-packages-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let createdCount = 0;
function write(files: Record<string, string>): string {
  const directory = join(root, `files-${++createdCount}`);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const CI = "npm ci --prefer-offline";
const manifest = { name: "a", dependencies: { b: "1.0.0" } };
const lock = { lockfileVersion: 3, packages: { "": manifest, "node_modules/b": { version: "1.0.0" } } };
const project = (changes: { manifest?: object; packages?: object; more?: Record<string, string> } = {}): string =>
  write({
    "package.json": JSON.stringify({ ...manifest, ...changes.manifest }),
    "package-lock.json": JSON.stringify({ ...lock, packages: { ...lock.packages, ...changes.packages } }),
    ...changes.more,
  });

test("the key depends on the lock file, npm settings and install command", () => {
  const key = packagesKey(project(), CI, { PATH: "/bin" });
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(packagesKey(project({ more: { "graph.mjs": "another" } }), CI, { PATH: "/usr/bin" })).toBe(key);
  const others = [
    packagesKey(project({ packages: { "node_modules/b": { version: "1.0.1" } } }), CI, {}),
    packagesKey(project({ more: { ".npmrc": "registry=https://elsewhere.example" } }), CI, {}),
    packagesKey(project(), CI, { npm_config_registry: "https://elsewhere.example" }),
    packagesKey(project(), `${CI} --omit=dev`, {}),
  ];
  expect(new Set([key, ...others]).size).toBe(5);
});

test.each<[string, string, string]>([
  ["an install script of the project", project({ manifest: { scripts: { postinstall: "node x.js" } } }), CI],
  ["workspaces", project({ manifest: { workspaces: ["a"] } }), CI],
  ["a linked package", project({ packages: { "node_modules/c": { link: true, resolved: "c" } } }), CI],
  ["a package from a local file", project({ packages: { "node_modules/c": { resolved: "file:c.tgz" } } }), CI],
  ["a package outside node_modules", project({ packages: { "vendor/c": { version: "1.0.0" } } }), CI],
  ["another manager", project(), "pnpm install --frozen-lockfile"],
  ["no lock file", write({ "package.json": "{}" }), CI],
  ["an old lock file", write({ "package.json": "{}", "package-lock.json": '{"lockfileVersion":1}' }), CI],
  ["a malformed lock file", write({ "package.json": "{}", "package-lock.json": "{" }), CI],
])("a project with %s installs its packages each time", (_, directory, command) => {
  expect(packagesKey(directory, command, {})).toBeNull();
});

test("reuses packages only of a complete build of the same deployment with the same key", async () => {
  const builds = join(root, "builds");
  const note = { deployment: "one", key: "k", where: "" };
  const build = async (name: string, of: typeof note, isComplete = true) => {
    const bin = join(builds, name, "src/node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    mkdirSync(join(builds, name, "src/node_modules/b"));
    writeFileSync(join(builds, name, "src/node_modules/b/index.js"), `of ${name}`);
    symlinkSync("../b/index.js", join(bin, "b"));
    await notePackages(join(builds, name), NODE_PACKAGES, of);
    if (isComplete) writeFileSync(join(builds, name, "complete"), "");
    return name;
  };
  await build("1-whole", note);
  await build("2-half", note, false);
  await build("3-other-deployment", { ...note, deployment: "two" });
  await build("4-other-packages", { ...note, key: "l" });
  const home = join(builds, "5-new");
  mkdirSync(join(home, "src"), { recursive: true });
  expect(await takePackages(builds, home, NODE_PACKAGES, note)).toBe("1-whole");
  const packages = join(home, "src/node_modules");
  expect(readFileSync(join(packages, ".bin/b"), "utf8")).toBe("of 1-whole");
  expect(readlinkSync(join(packages, ".bin/b"))).toBe("../b/index.js");
  // the previous build may be removed
  rmSync(join(builds, "1-whole"), { recursive: true });
  expect(readFileSync(join(packages, "b/index.js"), "utf8")).toBe("of 1-whole");

  const another = join(builds, "6-another");
  mkdirSync(join(another, "src"), { recursive: true });
  expect(await takePackages(builds, another, NODE_PACKAGES, note)).toBeNull();
  expect(existsSync(join(another, "src/node_modules"))).toBe(false);
});

test("reinstalls packages with a link that leads out of them", async () => {
  const builds = join(root, "leading-out");
  const note = { deployment: "one", key: "k", where: "sub" };
  const packages = join(builds, "1/src/sub/node_modules");
  mkdirSync(packages, { recursive: true });
  symlinkSync("../../secret", join(packages, "b"));
  await notePackages(join(builds, "1"), NODE_PACKAGES, note);
  writeFileSync(join(builds, "1/complete"), "");
  mkdirSync(join(builds, "2/src/sub"), { recursive: true });
  expect(await takePackages(builds, join(builds, "2"), NODE_PACKAGES, note)).toBeNull();
  expect(existsSync(join(builds, "2/src/sub/node_modules"))).toBe(false);
});
