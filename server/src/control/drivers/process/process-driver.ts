/**
 * Builds and runs deployments on this machine, as child processes that need only Node.js and are isolated as described
 * in `isolation/isolation.ts`.
 *
 *     <directory>/builds/<revision>/src        the project, installed and built; owned by its deployment
 *     <directory>/builds/<revision>/attempt    who builds it (build-attempt.ts)
 *     <directory>/builds/<revision>/complete   written last: the build is complete
 *     <directory>/instances/<id>               files of an agent server (spawn-instance.ts)
 *     <directory>/deployments/<id>             files of a deployment (isolation/deployment-accounts.ts)
 *
 * Agent servers survive a crash of the control plane, and the next control plane adopts them. Builds do not survive.
 */
import { existsSync, lstatSync, statSync } from "node:fs";
import { chmod, mkdir, open, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

import { installDirectory } from "../../builds/install-directory.ts";
import { installCommand, programIn } from "../../builds/package-manager.ts";
import { adoptEnvironment, environmentKey, pythonInstallation } from "../../builds/python-packages.ts";
import { readProjectConfig } from "../../builds/project-config.ts";
import {
  linkPackages,
  NODE_PACKAGES,
  notePackages,
  packagesKey,
  PYTHON_PACKAGES,
  takePackages,
} from "../../builds/reuse-packages.ts";
import { runCommand } from "../../builds/run-command.ts";
import { unpack } from "../../builds/unpack.ts";
import type { SourceConfig } from "../../deployments/schema.ts";
import type { BuildLog } from "../../logs/log-writer.ts";
import { BuildError } from "../../builds/build-error.ts";
import type { BuildParams, Driver, InstanceParams, InstanceProcess, InstanceUsage, LimitName } from "../driver.ts";
import type { Cgroups, Limits } from "./cgroups.ts";
import { beginAttempt, endEarlierAttempt, expectAttempt, isAttempt, noteGroup } from "./build-attempt.ts";
import { buildEnvironment } from "./build-environment.ts";
import type { DeploymentAccount, DeploymentAccounts } from "./isolation/deployment-accounts.ts";
import type { Isolation } from "./isolation/isolation.ts";
import { endGroup, endProcessesOfUser, groupUsage, isProcessAlive } from "./process-group.ts";
import { runProgram } from "./run-program.ts";
import { abandoned, recoverProcess, spawnInstance } from "./spawn-instance.ts";

const LOG_CHUNK = 256 * 1024;

export interface ProcessDriverOptions {
  directory: string;
  /** Path of bin/heddle.js. */
  launcher: string;
  settings: {
    unpackMaxMb: number;
    unpackMaxEntries: number;
    buildSeconds: number;
    buildLogMb: number;
    buildEnvironment: string;
    instanceLogMb: number;
  };
  isolation: Isolation;
  accounts: DeploymentAccounts;
  cgroups: Cgroups;
  /** One sentence that states the isolation in use and the reason for it. */
  explanation: string;
}

export class ProcessDriver implements Driver {
  readonly kind = "process";
  readonly sources = ["internal_source", "github"] as const;
  readonly #options: ProcessDriverOptions;
  /** Kills because of the memory limit that each instance's log shows. */
  readonly #kills = new Map<string, number>();
  /** CPU time of each instance's process group, and when it was measured. */
  readonly #measured = new Map<number, { seconds: number; at: number }>();

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
  }

  get isolation(): Driver["isolation"] {
    const { isolation, explanation } = this.#options;
    return { kind: isolation.kind, explanation };
  }

  #build(id: string): string {
    return join(this.#options.directory, "builds", id);
  }

  #instance(id: string): string {
    return join(this.#options.directory, "instances", id);
  }

  async build(params: BuildParams, log: BuildLog, signal: AbortSignal): Promise<void> {
    const { settings, accounts } = this.#options;
    const home = this.#build(params.revisionId);
    const root = join(home, "src");
    const startedAt = performance.now();
    endEarlierAttempt(home);
    await this.#remove(home);
    try {
      await mkdir(root, { recursive: true, mode: 0o700 });
      beginAttempt(home, params.attempt);
      const { archive } = params;
      if (archive === null) throw new BuildError("The revision has no archive.");
      if (!existsSync(archive.file))
        throw new BuildError("The archive of this revision has been deleted. Upload it again.");
      const { withLinks } = archive;
      const limits = { maxBytes: settings.unpackMaxMb * 1024 * 1024, maxEntries: settings.unpackMaxEntries, withLinks };
      const { entries } = await unpack(archive.file, root, limits, signal);
      log.write(`Unpacked ${entries} files.`);
      await readProjectConfig(root, params.configPath);
      const account = await accounts.prepare(params.deploymentId);
      await mkdir(join(home, "tmp", "home"), { recursive: true, mode: 0o700 });
      await this.#handOver(account, home, ["src", "tmp"]);
      await this.#runCommands(params, account, home, log, signal);
      expectAttempt(home, params.attempt);
      await this.#remove(join(home, "tmp"));
      signal.throwIfAborted();
      expectAttempt(home, params.attempt);
      await writeFile(join(home, "complete"), "");
      log.write(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
    } catch (error) {
      if (isAttempt(home, params.attempt)) await this.#remove(home);
      throw explain(error);
    }
  }

  async #runCommands(
    params: BuildParams,
    account: DeploymentAccount,
    home: string,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<void> {
    const { settings, directory, isolation } = this.#options;
    const [root, temporary] = [join(home, "src"), join(home, "tmp")];
    const buildEnv = buildEnvironment(
      settings.buildEnvironment,
      account,
      isolation,
      isolation.temporaryPath(temporary),
    );
    const { variables: environment, readable } = buildEnv;
    const budget = { bytes: settings.buildLogMb * 1024 * 1024 };
    const deadline = performance.now() + settings.buildSeconds * 1000;
    const common = { environment, log, signal, deadline, limitText: `${settings.buildSeconds} s`, budget };
    const confine = (more: string[]) => (command: string[]) => {
      const writable = [root, account.cache];
      return isolation.wrap({
        account,
        command,
        writable,
        readable: [...readable, ...more],
        temporary,
        endsWithParent: true,
      });
    };
    const onStart = (group: number) => noteGroup(home, group);
    const run = (command: string, where: string, title?: string) => {
      expectAttempt(home, params.attempt);
      log.write(`$ ${command}`);
      return runCommand({ ...common, onStart, command, title, directory: where, confine: confine([]) });
    };
    // a running instance of the deployment may modify the source: copy as its user, with the same permissions
    const copy = (from: string, to: string) => {
      const [source, target] = [quoteForShell(from), quoteForShell(to)];
      const command = `cp -a --reflink=auto -- ${source} ${target} && rm -rf -- ${target}/.cache`;
      return runCommand({ ...common, onStart, command, directory: root, confine: confine([from]) });
    };
    const configDirectory = dirname(join(root, params.configPath));
    const chosen = params.config.install_command;
    const where = installDirectory(root, configDirectory);
    const isChosen = chosen !== undefined && chosen !== null;
    const install = chosen ?? installCommand(where, programIn(environment["PATH"] ?? ""));
    const isPlain = !isChosen && !params.config.build_command;
    const key = install !== null && isPlain ? packagesKey(where, install, environment) : null;
    const note = key === null ? null : { deployment: params.deploymentId, key, where: relative(root, where) };
    const builds = join(directory, "builds");
    const fastest = isolation.kind === "none" ? linkPackages : copy;
    const reusedFrom = note && (await takePackages(builds, home, NODE_PACKAGES, note, fastest));
    if (reusedFrom !== null)
      log.write(`The lock file is unchanged since revision ${reusedFrom}: reusing its packages.`);
    else if (install !== null) await run(install, isChosen ? root : where);
    const python = isChosen ? null : pythonInstallation(root, join(root, params.configPath));
    if (python !== null) {
      const at = relative(root, python.directory);
      const key = environmentKey(root, python, environment);
      const environmentNote = { deployment: params.deploymentId, key, where: at };
      const from = isPlain ? await takePackages(builds, home, PYTHON_PACKAGES, environmentNote, copy) : null;
      const title = "The installation of the Python packages";
      if (from !== null) {
        log.write(`The inputs of the Python packages are unchanged since revision ${from}: reusing its environment.`);
        const [old, own] = [join(builds, from, "src", at, ".venv"), join(root, at, ".venv")];
        const command = adoptEnvironment(python, old, own);
        await runCommand({ ...common, onStart, command, title, directory: python.directory, confine: confine([]) });
      }
      const isWhole = from !== null && existsSync(join(python.directory, ".venv"));
      if (!isWhole || !python.isFromIndex) await run(python.command, python.directory, title);
      if (isPlain) await notePackages(home, PYTHON_PACKAGES, environmentNote);
    } else if (install === null) log.write("No package.json and no Python code: nothing to install.");
    if (note) await notePackages(home, NODE_PACKAGES, note);
    if (params.config.build_command) await run(params.config.build_command, configDirectory);
  }

  hasBuild(artifactId: string): boolean {
    return existsSync(join(this.#build(artifactId), "complete"));
  }

  async deleteBuild(artifactId: string): Promise<void> {
    await this.#remove(this.#build(artifactId));
  }

  /**
   * Transfers ownership of directories in `home`, a build's or an instance's, to the deployment's user. `home` itself
   * stays with the platform.
   */
  async #handOver(account: DeploymentAccount, home: string, names: string[]): Promise<void> {
    const { uid } = account;
    if (uid === null) return;
    const paths = names.map((name) => join(home, name)).filter((path) => lstatSync(path).uid !== uid);
    if (paths.length > 0) {
      // closed during the transfer, so that running processes of the user cannot interfere
      await chmod(home, 0o700);
      await runProgram("chown", ["-hR", `${uid}:${uid}`, "--", ...paths]);
    }
    await chmod(home, 0o711);
  }

  /** Removes a directory that a deployment's code has written to, and may still be writing to. */
  async #remove(path: string): Promise<void> {
    // Node.js's `rm` follows a directory that is replaced by a link while it runs: use the program if users can do that
    if (this.#options.isolation.kind === "user") await runProgram("rm", ["-rf", "--", path]);
    else await rm(path, { recursive: true, force: true });
  }

  async forget(deploymentId: string): Promise<void> {
    const { accounts } = this.#options;
    const uid = await accounts.userId(deploymentId);
    if (uid !== null) await endProcessesOfUser(uid);
    await accounts.remove(deploymentId);
  }

  listDeployments(): Promise<string[]> {
    return this.#options.accounts.list();
  }

  async listBuilds(): Promise<string[]> {
    return readdir(join(this.#options.directory, "builds")).catch(() => []);
  }

  async start(params: InstanceParams): Promise<InstanceProcess> {
    const { launcher, isolation, accounts, cgroups } = this.#options;
    const directory = this.#instance(params.id);
    const home = this.#build(params.artifactId);
    const account = await accounts.prepare(params.deploymentId);
    for (const name of ["data", "tmp"]) await mkdir(join(directory, name), { recursive: true, mode: 0o700 });
    await this.#handOver(account, directory, ["data", "tmp"]);
    // for a build that predates the deployment's user
    await this.#handOver(account, home, ["src"]);
    const groups = cgroups.create(params.id, processLimits(params.config));
    return spawnInstance({ ...params, directory, root: join(home, "src"), launcher, isolation, account, groups });
  }

  recover(instanceId: string): Promise<InstanceProcess | null> {
    return recoverProcess(this.#instance(instanceId));
  }

  enforcedLimits(): readonly LimitName[] {
    return this.#options.cgroups.enforced;
  }

  isAlive(process: InstanceProcess): boolean {
    return isProcessAlive(process);
  }

  async stop(process: InstanceProcess, graceMs: number, mayKill?: () => Promise<boolean>): Promise<void> {
    await endGroup(process, graceMs, mayKill);
    this.#measured.delete(process.pid);
  }

  async usage(process: InstanceProcess): Promise<InstanceUsage | null> {
    if (!isProcessAlive(process)) return null;
    const now = groupUsage(process.pid);
    if (!now) return null;
    const at = performance.now();
    const before = this.#measured.get(process.pid);
    this.#measured.set(process.pid, { seconds: now.cpuSeconds, at });
    const elapsed = before ? (at - before.at) / 1000 : 0;
    const percent = before && elapsed > 0 ? ((now.cpuSeconds - before.seconds) / elapsed) * 100 : null;
    return { memory_bytes: now.memoryBytes, cpu_percent: percent === null ? null : Math.max(0, round(percent)) };
  }

  /** Reads the instance's output, then a line for processes that the kernel has killed because of its memory limit. */
  async readLog(instanceId: string, offset: number): Promise<{ text: string; next: number }> {
    const read = await this.#readOutput(instanceId, offset);
    return read.text === "" ? { ...read, text: this.#noteKills(instanceId, offset) } : read;
  }

  #noteKills(instanceId: string, offset: number): string {
    const kills = this.#options.cgroups.outOfMemory(instanceId);
    // an instance with earlier output was watched by a previous control plane, which has reported its kills
    const reported = this.#kills.get(instanceId) ?? (offset > 0 ? kills : 0);
    this.#kills.set(instanceId, kills);
    if (kills <= reported) return "";
    const what = kills - reported === 1 ? "a process" : `${kills - reported} processes`;
    return (
      `Error: out of memory: the kernel killed ${what} of instance ${instanceId} at its memory limit. ` +
      "Raise memory_limit_mb of resource_spec, or reduce the state.\n"
    );
  }

  async #readOutput(instanceId: string, offset: number): Promise<{ text: string; next: number }> {
    const file = join(this.#instance(instanceId), "log");
    let size: number;
    try {
      size = statSync(file).size;
    } catch {
      return { text: "", next: offset };
    }
    // the file was truncated
    const from = size < offset ? 0 : offset;
    if (size === from) {
      // all output is stored: truncate a long file. Output written between the two calls is lost
      if (size > this.#options.settings.instanceLogMb * 1024 * 1024) {
        await truncate(file, 0);
        return { text: "", next: 0 };
      }
      return { text: "", next: from };
    }
    const handle = await open(file, "r");
    try {
      const buffer = Buffer.alloc(Math.min(LOG_CHUNK, size - from));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
      const text = buffer.subarray(0, bytesRead);
      // complete lines only, unless one exceeds the chunk
      const end = text.lastIndexOf(0x0a) + 1;
      const length = end > 0 ? end : bytesRead === LOG_CHUNK ? bytesRead : 0;
      return { text: text.subarray(0, length).toString("utf8"), next: from + length };
    } finally {
      await handle.close();
    }
  }

  async discard(instanceId: string): Promise<void> {
    await this.#remove(this.#instance(instanceId));
    await this.#remove(abandoned(this.#instance(instanceId)));
    this.#options.cgroups.remove(instanceId);
    this.#kills.delete(instanceId);
  }

  async listInstances(): Promise<string[]> {
    const names = await readdir(join(this.#options.directory, "instances")).catch((): string[] => []);
    return [...new Set(names.map((name) => name.split(".")[0]!))];
  }
}

/** Limits of an instance: those that are set, or twice the request if that is set. */
function processLimits({ resource_spec: spec }: SourceConfig): Limits {
  const limit = (given?: number | null, request?: number | null) =>
    given == null && request == null ? null : Math.max(request ?? 0, given ?? 2 * request!);
  return {
    memoryMb: limit(spec?.memory_limit_mb, spec?.memory_mb),
    cpus: limit(spec?.cpu_limit, spec?.cpu),
  };
}

/** Explains system error codes. */
function explain(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new Error(`The disk is too full for this build: ${message}`, { cause: error });
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const round = (n: number): number => Math.round(n * 10) / 10;
