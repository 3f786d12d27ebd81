import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process beyond its pid: pids are given to new processes, start times are not. */
export interface ProcessIdentity {
  pid: number;
  /** Boot id and start time in clock ticks on Linux, the start date elsewhere. */
  started: string;
}

/** Who has this pid now; null when nobody has, or only a zombie that nobody has waited for yet. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const started = process.platform === "linux" ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

export function processLives(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.started === identity.started;
}

let bootId: string | undefined;

function startOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name comes second, in parentheses, and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${bootId}/${fields[19]}`;
  } catch {
    return null;
  }
}

function startByPs(pid: number): string | null {
  try {
    const line = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    }).trim();
    return line === "" || line.startsWith("Z") ? null : line.replace(/^\S+\s+/, "");
  } catch {
    return null;
  }
}
