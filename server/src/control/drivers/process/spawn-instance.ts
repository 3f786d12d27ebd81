/**
 * Starts agent servers so that none is ever lost. A shell writes its process id into the instance's directory and then
 * becomes the server: whoever takes over after a crash reads it there. Where the file is not there yet, the directory
 * is moved away first, and a shell that comes late cannot write, and ends. A pid alone is no proof, because pids are
 * given anew: the process has to bear the instance's id in its environment.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess } from "../../../base/db/process-identity.ts";
import type { InstanceOrder, InstanceProcess } from "../driver.ts";

export const INSTANCE_VARIABLE = "HEDDLE_INSTANCE_ID";

const BECOME =
  'echo $$ > "$HEDDLE_INSTANCE_DIR/pid.part" && mv "$HEDDLE_INSTANCE_DIR/pid.part" "$HEDDLE_INSTANCE_DIR/pid" && exec "$@"';

/** Of this process's environment; everything else is the platform's own business. */
const PASSED_ON = ["PATH", "LANG", "TZ", "TMPDIR", "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

function passedOn(): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- which names are passed on is a list above
  const own = process.env;
  return Object.fromEntries(PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])));
}

interface SpawnOrder extends InstanceOrder {
  directory: string;
  root: string;
  launcher: string;
}

export async function spawnInstance(order: SpawnOrder): Promise<InstanceProcess> {
  const { directory, root, launcher } = order;
  const output = openSync(join(directory, "log"), "a", 0o600);
  const server = [process.execPath, launcher, "serve", "--role", "agent", "--config", join(root, order.configPath)];
  const options = ["--host", "127.0.0.1", "--port", String(order.port), "--data-dir", join(directory, "data")];
  const child = spawn("/bin/sh", ["-c", BECOME, "sh", ...server, ...options], {
    cwd: root,
    env: { ...passedOn(), ...order.environment, [INSTANCE_VARIABLE]: order.id, HEDDLE_INSTANCE_DIR: directory },
    detached: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.unref();
  const identity = identifyProcess(child.pid!);
  if (!identity) throw new Error("the agent server ended at once");
  return identity;
}

/** Where an instance's directory is moved to when nobody knows whether it was about to be started. */
export const abandoned = (directory: string): string => `${directory}.abandoned`;

/** Null: there is none, and there will be none. */
export async function recoverProcess(directory: string, instanceId: string): Promise<InstanceProcess | null> {
  const file = (where: string) => join(where, "pid");
  if (!existsSync(directory)) return null;
  if (!existsSync(file(directory))) {
    const away = abandoned(directory);
    renameSync(directory, away);
    // a shell that was just about to
    await sleep(50);
    if (!existsSync(file(away))) return null;
    renameSync(away, directory);
  }
  const pid = Number(readFileSync(file(directory), "utf8").trim());
  return isInstance(pid, instanceId) ? identifyProcess(pid) : null;
}

function isInstance(pid: number, instanceId: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    return environment.split("\0").includes(`${INSTANCE_VARIABLE}=${instanceId}`);
  } catch {
    return false;
  }
}
