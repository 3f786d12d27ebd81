import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { Cgroups } from "./cgroups.ts";
import { ProcessDriver, type ProcessDriverOptions } from "./process-driver.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-cgroups-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** A hierarchy of version 2 as files; the kernel would create those of a new group. */
function hierarchy(name: string, controllers: string, enabled: string) {
  const root = join(directory, name);
  const own = join(root, "system.slice/heddle.service");
  mkdirSync(join(own, `heddle-probe-${process.pid}`), { recursive: true });
  writeFileSync(join(own, "cgroup.controllers"), `${controllers}\n`);
  writeFileSync(join(own, "cgroup.subtree_control"), `${enabled}\n`);
  return {
    mounts: `31 23 0:27 / ${root} rw - cgroup2 cgroup2 rw`,
    own: "0::/system.slice/heddle.service\n",
    path: own,
  };
}

test("names no limit as enforced where the controllers are missing, or groups cannot be created", () => {
  expect(new Cgroups({ mounts: null, own: null }).enforced).toEqual([]);
  expect(new Cgroups({ mounts: "", own: "" }).enforced).toEqual([]);
  expect(new Cgroups(hierarchy("pids", "pids", "pids")).enforced).toEqual([]);
  const absent = { mounts: "31 23 0:27 / /nonexistent rw - cgroup2 cgroup2 rw", own: "0::/\n" };
  expect(new Cgroups(absent).enforced).toEqual([]);
});

const real = new Cgroups();
const hasMemory = real.enforced.includes("memory_limit_mb");
const id = `test-${process.pid}`;

/** Runs a program in the instance's groups. */
function runInside(files: string[], script: string) {
  const enter = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 9; shift; done; shift; exec "$@"';
  const args = ["-c", enter, "sh", ...files, "--", process.execPath, "-e", script];
  return spawnSync("/bin/sh", args, { encoding: "utf8", timeout: 60_000 });
}

test.skipIf(!hasMemory)("the kernel kills a process that exceeds its memory limit, and no other", () => {
  const files = real.create(id, { memoryMb: 150, cpus: null });
  try {
    const small = runInside(files, "console.log(Buffer.alloc(20e6, 1).length)");
    expect([small.stdout, small.status]).toEqual(["20000000\n", 0]);
    expect(real.outOfMemory(id)).toBe(0);
    expect(runInside(files, "console.log(Buffer.alloc(300e6, 1).length)").signal).toBe("SIGKILL");
    expect(real.outOfMemory(id)).toBe(1);
  } finally {
    real.remove(id);
  }
  expect(files.some((file) => existsSync(file))).toBe(false);
});

test.skipIf(!real.enforced.includes("cpu_limit"))("a process gets no more processor time than its limit", () => {
  const files = real.create(id, { memoryMb: null, cpus: 0.2 });
  try {
    const spin =
      "const t = Date.now(), c = process.cpuUsage(); while (Date.now() - t < 1500); const u = process.cpuUsage(c);" +
      "console.log((u.user + u.system) / 1000 / (Date.now() - t))";
    expect(Number(runInside(files, spin).stdout)).toBeLessThan(0.35);
  } finally {
    real.remove(id);
  }
});

test("creates no group for an instance without limits", () => {
  expect(real.create("unlimited", { memoryMb: null, cpus: null })).toEqual([]);
  expect(real.outOfMemory("unlimited")).toBe(0);
});

test("writes the limits of version 2", () => {
  // the kernel creates a group's files with it; here they exist before
  const system = hierarchy("both", "cpu memory pids", "");
  const files = ["memory.max", "memory.swap.max", "cpu.max"];
  const prepare = (group: string) => {
    mkdirSync(join(system.path, group), { recursive: true });
    for (const file of files) writeFileSync(join(system.path, group, file), "max");
  };
  prepare("heddle-one");
  const read = (file: string) => readFileSync(join(system.path, "heddle-one", file), "utf8");
  const cgroups = new Cgroups({ ...system, isGroup: () => true });
  expect(cgroups.enforced).toEqual(["memory_limit_mb", "cpu_limit"]);
  expect(readFileSync(join(system.path, "cgroup.subtree_control"), "utf8")).toContain("+");
  expect(cgroups.create("one", { memoryMb: 300, cpus: 1.5 })).toEqual([join(system.path, "heddle-one/cgroup.procs")]);
  expect(files.map(read)).toEqual([String(300 * 1024 * 1024), "0", "150000 100000"]);
  writeFileSync(join(system.path, "heddle-one/memory.events"), "low 0\noom 2\noom_kill 2\n");
  expect(cgroups.outOfMemory("one")).toBe(2);
});

test("an instance's log reports each process that the kernel killed because of its memory limit, once", async () => {
  const system = hierarchy("killed", "cpu memory pids", "cpu memory");
  const group = join(system.path, "heddle-two");
  const instance = join(directory, "driver/instances/two");
  for (const path of [group, instance]) mkdirSync(path, { recursive: true });
  writeFileSync(join(instance, "log"), "hello\n");
  writeFileSync(join(group, "memory.events"), "oom_kill 0\n");
  const cgroups = new Cgroups({ ...system, isGroup: () => true });
  const options = { directory: join(directory, "driver"), cgroups, settings: { instanceLogMb: 1 } };
  const driver = new ProcessDriver(options as ProcessDriverOptions);
  expect(await driver.readLog("two", 0)).toEqual({ text: "hello\n", next: 6 });
  expect(await driver.readLog("two", 6)).toEqual({ text: "", next: 6 });
  writeFileSync(join(group, "memory.events"), "oom_kill 1\n");
  expect(await driver.readLog("two", 6)).toEqual({
    text: expect.stringMatching(
      /^Error: out of memory: the kernel killed a process of instance two at its memory limit/,
    ),
    next: 6,
  });
  expect(await driver.readLog("two", 6)).toEqual({ text: "", next: 6 });
  const successor = new ProcessDriver(options as ProcessDriverOptions);
  expect(await successor.readLog("two", 6)).toEqual({ text: "", next: 6 });
});
