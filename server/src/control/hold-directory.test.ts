import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { ConfigError } from "../base/config/options.ts";
import { identifyProcess } from "../base/db/process-identity.ts";
import { holdDirectory } from "./hold-directory.ts";

test("a directory is one control plane's at a time, and a killed one's no more", async () => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-hold-"));
  const letGo = await holdDirectory(directory);
  const second = holdDirectory(directory);
  await expect(second).rejects.toThrow(`Another control plane, process ${process.pid}, works on ${directory}`);
  await expect(second).rejects.toBeInstanceOf(ConfigError);
  await letGo();

  const killed = spawn("sleep", ["60"]);
  const identity = identifyProcess(killed.pid!);
  writeFileSync(join(directory, "control.lock"), JSON.stringify({ ...identity, token: "x" }));
  await expect(holdDirectory(directory)).rejects.toThrow(`process ${killed.pid}`);
  const ended = new Promise((resolve) => killed.once("exit", resolve));
  killed.kill("SIGKILL");
  await ended;
  await (
    await holdDirectory(directory)
  )();
  rmSync(directory, { recursive: true });
}, 15_000);
