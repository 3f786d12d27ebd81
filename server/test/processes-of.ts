import { readdirSync, readFileSync } from "node:fs";

const allPids = (): string[] => readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));

/** Returns the command lines that contain the word. */
export const commandsWith = (word: string): string[] =>
  allPids()
    .map((pid) => read(pid, "cmdline"))
    .filter((line) => line.includes(word));

/** Returns the processes whose command line names a path in the directory, and their descendants. */
function processesOf(directory: string): number[] {
  const pids = allPids();
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
  const found = new Set(pids.filter((pid) => read(pid, "cmdline").includes(`${directory}/`)));
  found.delete(String(process.pid));
  // the processes of a container do not name the directory, but the program that watches the container does
  for (const pid of found) {
    for (const child of pids) {
      if (parents.get(child) === pid && child !== String(process.pid)) found.add(child);
    }
  }
  return [...found].map(Number);
}

/** Kills the processes whose command line names a path in the directory, and their descendants. One may end meanwhile. */
export function killProcessesOf(directory: string): void {
  for (const pid of processesOf(directory)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }
}

/** Returns a process's parent: the second field after the name, which is in parentheses and may contain any letter. */
function parentOf(pid: string): string {
  const stat = read(pid, "stat");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "";
}

function read(pid: string, file: "cmdline" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
