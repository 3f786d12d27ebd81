/** Isolation as this machine has it, tried with real commands. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { compileSources } from "../../../../../../scripts/build/compile-sources.mjs";
import { chooseIsolation, tryIsolation } from "./choose-isolation.ts";
import { DeploymentAccounts } from "./deployment-accounts.ts";
import type { IsolationKind } from "./isolation.ts";
import { readIdRange } from "../../../../base/confined-users.ts";

const launcher = fileURLToPath(new URL("../../../../../../cli/bin/heddle.js", import.meta.url));

function controlDirectory(): string {
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-isolation-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const directory = join(dataDir, "control");
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

const isolationOptions = (directory: string, processIsolation: "auto" | IsolationKind) => ({
  directory,
  launcher,
  settings: { processIsolation, processReadable: "" },
});

/** With a PATH that lacks what isolation needs. */
async function withoutPrograms<T>(work: () => Promise<T>): Promise<T> {
  const path = process.env["PATH"];
  process.env["PATH"] = "/nonexistent";
  return work().finally(() => (process.env["PATH"] = path));
}

test("a configured isolation that does not work prevents the start with the reason", async () => {
  const directory = controlDirectory();
  for (const kind of ["bubblewrap", "user"] as const) {
    const starting = withoutPrograms(() => chooseIsolation(isolationOptions(directory, kind)));
    await expect(starting).rejects.toThrow(
      new RegExp(`HEDDLE_PROCESS_ISOLATION=${kind} does not work here. ${kind}: (\\w+ is not installed|it needs)`),
    );
  }
});

test("auto falls back to no isolation where none works, with the consequence and the reason", async () => {
  const { isolation, explanation } = await withoutPrograms(() =>
    chooseIsolation(isolationOptions(controlDirectory(), "auto")),
  );
  expect(isolation.kind).toBe("none");
  expect(explanation).toMatch(
    /can read its files, environment and secrets\. Tried bubblewrap: bwrap is not installed; user: /,
  );
});

/** The launchers of a checkout: of its sources, and of those that `npm start` compiles. */
const launchers = async () => [
  launcher,
  join(await compileSources(join(dirname(launcher), "../..")), "cli/bin/heddle.js"),
];

const isRoot = process.getuid?.() === 0;
const worksHere = async (kind: "bubblewrap" | "user") => {
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-isolation-"));
  mkdirSync(join(dataDir, "control"));
  const tried = await tryIsolation(kind, isolationOptions(join(dataDir, "control"), kind));
  rmSync(dataDir, { recursive: true });
  return !("problem" in tried);
};

for (const kind of ["bubblewrap", "user"] as const) {
  test.skipIf(!(await worksHere(kind)))(`${kind}: a command has its own files and no capabilities`, async () => {
    const directory = controlDirectory();
    const { isolation, accounts } = await chooseIsolation(isolationOptions(directory, kind));
    expect(isolation.kind).toBe(kind);
    const account = await accounts.prepare("d");
    const own = join(directory, "builds", "b", "src");
    mkdirSync(own, { recursive: true });
    for (let path = own; path !== dirname(directory); path = dirname(path)) chmodSync(path, 0o711);
    if (account.uid !== null) spawnSync("chown", [`${account.uid}`, own]);
    const script = 'cd "$0" && echo text > written && id -u && grep CapEff /proc/self/status && cat "$1"';
    writeFileSync(join(directory, "secret"), "secret", { mode: 0o600 });
    const command = ["/bin/sh", "-c", script, own, join(directory, "secret")];
    const [program, ...args] = isolation.wrap({
      account,
      command,
      writable: [own],
      temporary: own,
      endsWithParent: true,
    });
    const { stdout, stderr } = spawnSync(program!, args, { encoding: "utf8" });
    const uid = account.uid ?? process.getuid!();
    expect(stdout).toBe(`${uid}\nCapEff:\t0000000000000000\n`);
    expect(stderr).toMatch(/secret: (No such file|Permission denied)/);
    expect(statSync(join(own, "written")).uid).toBe(uid);
  });

  test.skipIf(!(await worksHere(kind)))(`${kind}: a command can run Heddle, from sources and compiled`, async () => {
    for (const launcher of await launchers()) {
      const options = { ...isolationOptions(controlDirectory(), kind), launcher };
      const { isolation, accounts } = await chooseIsolation(options);
      const [program, ...args] = isolation.wrap({
        account: await accounts.prepare("d"),
        command: [process.execPath, launcher, "--version"],
        writable: [],
        temporary: tmpdir(),
        endsWithParent: true,
      });
      const { stdout, stderr } = spawnSync(program!, args, { encoding: "utf8", env: {} });
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^\S*\d+\.\d+\.\d+/);
    }
  });
}

test.skipIf(!isRoot)("the user isolation removes other users' access to files of the data directory", async () => {
  const directory = controlDirectory();
  const file = join(dirname(directory), "old.log");
  writeFileSync(file, "", { mode: 0o644 });
  if ("problem" in (await tryIsolation("user", isolationOptions(directory, "user")))) return;
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.skipIf(!isRoot)("a deployment keeps its system user, and no two share one", async () => {
  const directory = controlDirectory();
  const accounts = new DeploymentAccounts(directory, [30_000, 30_002]);
  const prepared = await Promise.all(["a", "b", "c", "a"].map((id) => accounts.prepare(id)));
  expect(new Set(prepared.map(({ uid }) => uid)).size).toBe(3);
  expect(prepared[3]).toEqual(prepared[0]);
  expect((await new DeploymentAccounts(directory, [30_000, 30_002]).prepare("b")).uid).toBe(prepared[1]!.uid);
});

test("user ids are chosen from the range that the container maps", () => {
  const maps = (line: string) => () => line;
  expect(readIdRange(maps("         0          0 4294967295\n"))?.[0]).toBe(1_879_048_192);
  expect(readIdRange(maps("0 100000 65536\n"))).toEqual([20_000, 59_999]);
  expect(readIdRange(maps("0 1000 1\n"))).toBeNull();
});

test("a deployment's npm settings contain no credentials of the operator's", async () => {
  const home = mkdtempSync(join(tmpdir(), "heddle-npmrc-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const lines = [
    "registry=https://packages.example/",
    "//packages.example/:_authToken=t0p",
    "_password = t0p",
    "proxy=http://u:t0p@p",
  ];
  writeFileSync(join(home, ".npmrc"), lines.join("\n"));
  const before = process.env["HOME"];
  process.env["HOME"] = home;
  onTestFinished(() => void (process.env["HOME"] = before));
  const { directory } = await new DeploymentAccounts(controlDirectory(), null).prepare("a");
  expect(readFileSync(join(directory, "npmrc"), "utf8")).toBe("registry=https://packages.example/\n");
});
