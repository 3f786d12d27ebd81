import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";

/** Identity of a process beyond its pid: pids are reused, start times are not. */
export interface ProcessIdentity {
  pid: number;
  /**
   * On Linux the boot id, the PID namespace unless it is the machine's own, and the start time in clock ticks:
   * `<boot>/<ticks>` or `<boot>+<namespace>/<ticks>`. Elsewhere the start date.
   */
  started: string;
}

/** Identifies the process that has this pid now; null when there is none, or only a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const started = process.platform === "linux" ? startOnLinux(pid) : startByPs(pid);
  return started === null ? null : { pid, started };
}

export function isProcessAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.started === identity.started;
}

/**
 * Whether the process has definitely ended. A pid of another container has a different meaning here, so such a process
 * is never reported as gone.
 */
export function processIsGone(identity: ProcessIdentity): boolean {
  if (process.platform === "linux") {
    const [boot, namespace] = identity.started.split("/")[0]!.split("+");
    const [ourBoot, ourNamespace] = processScope().split("+");
    if (boot === ourBoot && namespace !== ourNamespace) return false;
  }
  return !isProcessAlive(identity);
}

/** Whether it runs, or ran, where its pid is not valid here: in another container or on another machine. */
export const isElsewhere = (identity: ProcessIdentity): boolean =>
  process.platform === "linux" && identity.started.split("/")[0] !== processScope();

/** Initial PID namespace of a machine (Linux, include/uapi/linux/nsfs.h); it is left out of the identity. */
const INITIAL_NAMESPACE = "pid:[4026531836]";

let scope: string | undefined;

/** Returns the scope within which a pid is unique. */
function processScope(): string {
  if (scope !== undefined) return scope;
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const namespace = readlinkSync("/proc/self/ns/pid");
  return (scope = namespace === INITIAL_NAMESPACE ? boot : `${boot}+${namespace.replaceAll(/\D/g, "")}`);
}

function startOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name comes second, in parentheses, and may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return `${processScope()}/${fields[19]}`;
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
