/** Removes the processes, mounts and directories of clusters whose test runs were killed. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { killProcessesOf } from "../../server/test/processes-of.ts";

export const CLUSTER_PREFIX = "heddle-kubernetes-";

const OWNER = "owner.pid";

/** Marks a cluster's directory as owned by this process. */
export const markOwner = (directory: string): void => writeFileSync(join(directory, OWNER), String(process.pid));

/** Removes the clusters in the temporary directory whose process no longer exists. */
export function sweepClusters(): void {
  for (const name of readdirSync(tmpdir())) {
    const directory = join(tmpdir(), name);
    const mark = join(directory, OWNER);
    if (!name.startsWith(CLUSTER_PREFIX) || !existsSync(mark)) continue;
    if (existsSync(`/proc/${readFileSync(mark, "utf8")}`)) continue;
    killProcessesOf(directory);
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const points = mounts
      .flatMap((line) => line.split(" ")[1] ?? [])
      .filter((path) => path.startsWith(`${directory}/`));
    for (const point of points.reverse()) spawnSync("umount", ["-l", point], { stdio: "ignore" });
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
