import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { until } from "../../../test/until.ts";

const program = join(import.meta.dirname, "../../../test/fixtures/code-evaluations.ts");

/** Returns the processes with the given parents, and theirs. */
function descendants(parents: number[]): number[] {
  const children = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && parents.includes(Number(status(entry)[1])))
    .map(Number);
  return children.length === 0 ? [] : [...children, ...descendants(children)];
}

/** State and parent of a process: the fields after its name, which is in parentheses. */
function status(pid: string | number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return ["gone"];
  }
}

test.runIf(process.platform === "linux")("evaluations end with a server that is killed", async () => {
  const server = spawn(process.execPath, ["--import", "tsx", program], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  server.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await until(() => printed.includes("running"), "the evaluations run");
  const processes = descendants([server.pid!]);
  // two of JavaScript, and two of Python: one waits for the other
  const evaluating = processes.filter((pid) => /javascript-process|python_process/.test(commandLine(pid)));
  expect(evaluating).toHaveLength(4);
  server.kill("SIGKILL");
  await until(() => evaluating.every((pid) => ["gone", "Z"].includes(status(pid)[0]!)), "the evaluations end", 10);
});

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
