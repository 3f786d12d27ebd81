/**
 * Limits the memory and the processors of instances with control groups: one group for each instance, below the group
 * of this process, or below the root of the hierarchy. Version 2 needs a delegated group (systemd: `Delegate=yes`) or
 * root; version 1 needs root. What this machine does not offer is not enforced, and named.
 *
 *     <parent>/heddle-<instance>     memory.max, cpu.max
 *     <parent>/heddle-platform       version 2: the processes of a delegated group, whose inner groups may not have any
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import type { LimitName } from "../driver.ts";

export interface Limits {
  memoryMb: number | null;
  cpus: number | null;
}

/** A controller's directory in which groups can be created. */
interface Parent {
  version: 1 | 2;
  directory: string;
}

/** The system's files, replaced in tests. */
export interface CgroupSystem {
  /** Contents of /proc/self/mountinfo and /proc/self/cgroup; null where there are none. */
  mounts: string | null;
  own: string | null;
  /** Whether a new group has the file of a controller: the kernel creates it. */
  isGroup?: (file: string) => boolean;
}

const CONTROLLERS = { memory_limit_mb: "memory", cpu_limit: "cpu" } as const;
const PERIOD_US = 100_000;
const MB = 1024 * 1024;

export class Cgroups {
  /** Limits that this machine can enforce. */
  readonly enforced: readonly LimitName[];
  readonly #parents: Partial<Record<LimitName, Parent>>;

  constructor(system: CgroupSystem = readSystem()) {
    this.#parents = {};
    for (const name of Object.keys(CONTROLLERS) as LimitName[]) {
      const parent = findParent(CONTROLLERS[name], system);
      if (parent) this.#parents[name] = parent;
    }
    this.enforced = Object.keys(this.#parents) as LimitName[];
  }

  /**
   * Creates an instance's groups with its limits.
   * @returns the files to which a process writes its pid in order to enter them
   */
  create(instanceId: string, limits: Limits): string[] {
    const files: string[] = [];
    const { memory_limit_mb: memory, cpu_limit: cpu } = this.#parents;
    if (memory && limits.memoryMb !== null) {
      const group = makeGroup(memory.directory, instanceId);
      const bytes = String(Math.round(limits.memoryMb * MB));
      if (memory.version === 2) {
        writeFileSync(join(group, "memory.max"), bytes);
        // without swap, where the kernel accounts for it
        if (existsSync(join(group, "memory.swap.max"))) writeFileSync(join(group, "memory.swap.max"), "0");
      } else {
        writeFileSync(join(group, "memory.limit_in_bytes"), bytes);
        const withSwap = join(group, "memory.memsw.limit_in_bytes");
        if (existsSync(withSwap)) writeFileSync(withSwap, bytes);
      }
      files.push(join(group, "cgroup.procs"));
    }
    if (cpu && limits.cpus !== null) {
      const group = makeGroup(cpu.directory, instanceId);
      const quota = String(Math.max(1000, Math.round(limits.cpus * PERIOD_US)));
      if (cpu.version === 2) writeFileSync(join(group, "cpu.max"), `${quota} ${PERIOD_US}`);
      else {
        writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
        writeFileSync(join(group, "cpu.cfs_quota_us"), quota);
      }
      files.push(join(group, "cgroup.procs"));
    }
    return [...new Set(files)];
  }

  /** Returns how many processes of an instance the kernel has killed because of its memory limit. */
  outOfMemory(instanceId: string): number {
    const parent = this.#parents.memory_limit_mb;
    if (!parent) return 0;
    const file = parent.version === 2 ? "memory.events" : "memory.oom_control";
    try {
      const text = readFileSync(join(parent.directory, groupName(instanceId), file), "utf8");
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    } catch {
      // an instance without limits
      return 0;
    }
  }

  /** Removes the groups of an instance. Keeps those that still have processes. */
  remove(instanceId: string): void {
    for (const { directory } of Object.values(this.#parents)) {
      try {
        rmdirSync(join(directory, groupName(instanceId)));
      } catch {
        // removed before, never created, or in use: the next garbage collection tries again
      }
    }
  }
}

const groupName = (instanceId: string): string => `heddle-${instanceId}`;

function makeGroup(parent: string, instanceId: string): string {
  const group = join(parent, groupName(instanceId));
  mkdirSync(group, { recursive: true });
  return group;
}

function readSystem(): CgroupSystem {
  const read = (file: string) => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return null;
    }
  };
  return { mounts: read("/proc/self/mountinfo"), own: read("/proc/self/cgroup") };
}

interface Mount {
  version: 1 | 2;
  /** Group that is mounted, as a path in the hierarchy. */
  root: string;
  directory: string;
  controllers: string[];
}

function findParent(controller: string, { mounts, own, isGroup = existsSync }: CgroupSystem): Parent | null {
  if (mounts === null || own === null) return null;
  for (const mount of parseMounts(mounts)) {
    if (mount.version === 1 && !mount.controllers.includes(controller)) continue;
    for (const directory of candidates(mount, own, controller)) {
      const parent = { version: mount.version, directory };
      if (canCreate(parent, controller, isGroup)) return parent;
    }
  }
  return null;
}

/** Parses proc_pid_mountinfo(5). */
function parseMounts(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [head, tail] = line.split(" - ");
    const [, , , root, directory] = head!.split(" ");
    const [type, , options] = (tail ?? "").split(" ");
    if (type !== "cgroup" && type !== "cgroup2") return [];
    const version = type === "cgroup2" ? 2 : 1;
    return [{ version, root: root!, directory: directory!, controllers: (options ?? "").split(",") } as const];
  });
}

/** Returns this process's group, and the root of the mount. */
function candidates(mount: Mount, own: string, controller: string): string[] {
  const line = own
    .split("\n")
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .find((found) => (mount.version === 2 ? found?.[1] === "" : found?.[1]?.split(",").includes(controller)));
  const path = line?.[2] ?? "/";
  const below = mount.root === "/" ? path : path.startsWith(mount.root) ? path.slice(mount.root.length) : "/";
  return [...new Set([join(mount.directory, below), mount.directory])].filter((directory) => existsSync(directory));
}

/** Whether groups with the controller can be created; enables it for them in version 2. */
function canCreate({ version, directory }: Parent, controller: string, isGroup: (file: string) => boolean): boolean {
  try {
    accessSync(directory, constants.W_OK);
    if (version === 2 && !enable(directory, controller)) return false;
    const probe = makeGroup(directory, `probe-${process.pid}`);
    const file = { memory: ["memory.limit_in_bytes", "memory.max"], cpu: ["cpu.cfs_quota_us", "cpu.max"] }[controller];
    const has = isGroup(join(probe, file![version - 1]!));
    rmdirSync(probe);
    return has;
  } catch {
    return false;
  }
}

function enable(directory: string, controller: string): boolean {
  const words = (name: string) => readFileSync(join(directory, name), "utf8").trim().split(/\s+/);
  if (!words("cgroup.controllers").includes(controller)) return false;
  if (words("cgroup.subtree_control").includes(controller)) return true;
  const turnOn = () => writeFileSync(join(directory, "cgroup.subtree_control"), `+${controller}`);
  try {
    turnOn();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EBUSY" || !isOurs(directory)) throw error;
    const leaf = makeGroup(directory, "platform");
    for (const pid of pids(directory)) writeFileSync(join(leaf, "cgroup.procs"), pid);
    turnOn();
  }
  return true;
}

const pids = (directory: string): string[] =>
  readFileSync(join(directory, "cgroup.procs"), "utf8")
    .split("\n")
    .filter((pid) => pid !== "");

/** Whether a group contains only this process, its launcher and their descendants, so that they may be moved. */
function isOurs(directory: string): boolean {
  const members = new Set(pids(directory));
  const ours = new Set([String(process.pid), String(process.ppid)]);
  const parentOf = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
          return [[pid, stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]!] as const];
        } catch {
          return [];
        }
      }),
  );
  const descends = (pid: string): boolean => {
    for (let at: string | undefined = pid; at !== undefined && at !== "0"; at = parentOf.get(at)) {
      if (ours.has(at)) return true;
    }
    return false;
  };
  return members.has(String(process.pid)) && [...members].every(descends);
}
