import { readdirSync, readFileSync } from "node:fs";

function processesOf(directory: string): number[] {
  return readdirSync("/proc")
    .filter(
      (entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid && commandLine(entry).includes(`${directory}/`),
    )
    .map(Number);
}

/** Kills the processes whose command line names a path in the directory. One may end by itself meanwhile. */
export function killProcessesOf(directory: string): void {
  for (const pid of processesOf(directory)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
