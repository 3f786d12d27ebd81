import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, test } from "vitest";

import { identifyProcess, processIsGone, isProcessAlive } from "./process-identity.ts";

test("tells a live process from one that has ended", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const identity = identifyProcess(child.pid!)!;
  expect(isProcessAlive(identity)).toBe(true);
  expect(processIsGone(identity)).toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(isProcessAlive(identity)).toBe(false);
  expect(processIsGone(identity)).toBe(true);
});

test.runIf(process.platform === "linux")(
  "a process in another container may be alive, and one from before a reboot is dead",
  () => {
    const own = identifyProcess(process.pid)!;
    const [scope, ticks] = own.started.split("/");
    const boot = scope!.split("+")[0]!;
    expect(processIsGone({ pid: 1, started: `${boot}+4026539999/${ticks}` })).toBe(false);
    expect(isProcessAlive({ pid: process.pid, started: `${boot}+4026539999/${ticks}` })).toBe(false);
    const other = boot.replace(/^./, (first) => (first === "0" ? "1" : "0"));
    expect(processIsGone({ pid: process.pid, started: `${other}/${ticks}` })).toBe(true);
    expect(processIsGone({ pid: process.pid, started: `${other}+4026539999/${ticks}` })).toBe(true);
  },
);
