/**
 * Starts agent servers so that none is ever lost. A shell writes its process id into the instance's directory and then
 * becomes the server: after a crash, a successor reads the id there. If the file does not exist yet, the directory is
 * moved away first, so that a late shell cannot write, and exits. A pid alone is no proof, because pids are reused: the
 * process's command line must contain the instance's data directory.
 *
 * That shell, bwrap and setpriv run as the platform and receive none of the deployment's environment, which may name
 * libraries and programs. Its variables are in an unlinked file, which the shell inside the isolation reads.
 *
 *     <directory>/pid, log   the platform's
 *     <directory>/data, tmp  the instance's own
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { identifyProcess } from "../../../base/db/process-identity.ts";
import type { InstanceParams, InstanceProcess } from "../driver.ts";
import type { DeploymentAccount } from "./isolation/deployment-accounts.ts";
import type { Isolation } from "./isolation/isolation.ts";

/** Enters the control groups, one path each up to `--`, before there are child processes. */
const BECOME =
  'echo $$ > "$0/pid.part" && mv "$0/pid.part" "$0/pid" && ' +
  'while [ "$1" != -- ]; do echo $$ > "$1" || echo "The limits of $1 are not enforced." >&2; shift; done; ' +
  'shift && exec "$@"';
const ENTER = 'cd -- "$0" && eval "$(cat <&3)" && exec 3<&- && exec "$@"';

/** Variables of this process's environment that are passed on; the others are private to the platform. */
const PASSED_ON = ["PATH", "LANG", "TZ", "TMPDIR", "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

function passedOn(): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- which names are passed on is a list above
  const own = process.env;
  return Object.fromEntries(PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])));
}

interface SpawnParams extends InstanceParams {
  directory: string;
  root: string;
  launcher: string;
  isolation: Isolation;
  account: DeploymentAccount;
  /** Files of control groups that the instance enters (cgroups.ts). */
  groups: string[];
}

export async function spawnInstance(params: SpawnParams): Promise<InstanceProcess> {
  const { directory, root, launcher, isolation, account, groups } = params;
  const passed = passedOn();
  const [data, temporary] = [join(directory, "data"), join(directory, "tmp")];
  const output = openSync(join(directory, "log"), "a", 0o600);
  const server = [process.execPath, launcher, "serve", "--role", "agent", "--config", join(root, params.configPath)];
  const options = ["--host", "127.0.0.1", "--port", String(params.port), "--data-dir", data];
  const command = ["/bin/sh", "-c", ENTER, root, ...server, ...options];
  const readable = [passed["NODE_EXTRA_CA_CERTS"] ?? ""];
  const writable = [root, data];
  const confined = isolation.wrap({ account, command, writable, readable, temporary, endsWithParent: false });
  const home = isolation.temporaryPath(temporary);
  const own = isolation.kind === "none" ? passed : { ...passed, TMPDIR: home, HOME: home };
  const variables = { ...own, ...params.environment };
  const environment = openVariables(join(directory, "environment"), variables);
  const child = spawn("/bin/sh", ["-c", BECOME, directory, ...groups, "--", ...confined], {
    cwd: "/",
    env: { PATH: passed["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" },
    detached: true,
    stdio: ["ignore", output, output, environment],
  });
  closeSync(output);
  closeSync(environment);
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.unref();
  const identity = identifyProcess(child.pid!);
  if (!identity) throw new Error("the agent server exited immediately");
  return identity;
}

/** Writes variables in shell syntax to an unlinked file, and returns its descriptor. */
function openVariables(file: string, variables: Record<string, string>): number {
  const lines = Object.entries(variables).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`,
  );
  const descriptor = openSync(file, "w+", 0o600);
  unlinkSync(file);
  const text = Buffer.from(lines.join(""));
  // positioned writes, so that the reader starts at the beginning
  for (let at = 0; at < text.length;) at += writeSync(descriptor, text, at, text.length - at, at);
  return descriptor;
}

/** Returns the path to which the directory of an instance in an unknown state is moved. */
export const abandoned = (directory: string): string => `${directory}.abandoned`;

/** Recovers an instance's process. Null when there is none and never will be. */
export async function recoverProcess(directory: string): Promise<InstanceProcess | null> {
  const file = (where: string) => join(where, "pid");
  if (!existsSync(directory)) return null;
  if (!existsSync(file(directory))) {
    const aside = abandoned(directory);
    renameSync(directory, aside);
    // allow for a shell that was just about to write
    await sleep(50);
    if (!existsSync(file(aside))) return null;
    renameSync(aside, directory);
  }
  const pid = Number(readFileSync(file(directory), "utf8").trim());
  return isInstance(pid, directory) ? identifyProcess(pid) : null;
}

/** Whether the process is the instance. Command lines are readable for all users' processes, environments are not. */
function isInstance(pid: number, directory: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(join(directory, "data"));
  } catch {
    return false;
  }
}
