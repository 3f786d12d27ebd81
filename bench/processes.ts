import { execFileSync } from "node:child_process";

interface Entry {
  pid: number;
  parent: number;
  rss: number;
}

function processTable(): Entry[] {
  const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,rss="], { encoding: "utf8" });
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid, parent, rss]) => ({ pid: pid!, parent: parent!, rss: rss! * 1024 }));
}

/** Resident memory in bytes: of the process itself, and of it with everything below it. */
export function residentMemory(pid: number): { own: number; tree: number; largest: number } {
  const table = processTable();
  const members = new Set([pid]);
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of table) {
      if (members.has(entry.parent) && !members.has(entry.pid)) {
        members.add(entry.pid);
        grown = true;
      }
    }
  }
  const sizes = table.filter((entry) => members.has(entry.pid));
  return {
    own: sizes.find((entry) => entry.pid === pid)?.rss ?? 0,
    tree: sizes.reduce((sum, entry) => sum + entry.rss, 0),
    largest: Math.max(0, ...sizes.map((entry) => entry.rss)),
  };
}
