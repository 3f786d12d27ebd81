/**
 * Builds and runs deployments on this machine, as child processes: no prerequisite but Node, and no walls between
 * deployments beyond directories, databases and database users. For code that the operator trusts.
 *
 *     <directory>/builds/<revision>/src        the project, installed and built
 *     <directory>/builds/<revision>/complete   written last: the build is whole
 *     <directory>/instances/<id>/pid, log      of an agent server
 *
 * Agent servers outlive a control plane that is killed; its successor adopts them. Builds do not.
 */
import { existsSync, statSync } from "node:fs";
import { mkdir, open, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

import { installCommand, programIn } from "../../builds/package-manager.ts";
import { readProjectConfig } from "../../builds/project-config.ts";
import { notePackages, packagesKey, takePackages } from "../../builds/reuse-packages.ts";
import { runCommand } from "../../builds/run-command.ts";
import { unpack } from "../../builds/unpack.ts";
import type { BuildLog } from "../../logs/log-writer.ts";
import {
  BuildError,
  type BuildOrder,
  type Driver,
  type InstanceOrder,
  type InstanceProcess,
  type InstanceUsage,
} from "../driver.ts";
import { buildEnvironment } from "./build-environment.ts";
import { endGroup, groupUsage, isOurs, processLives } from "./process-group.ts";
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
}

export class ProcessDriver implements Driver {
  readonly kind = "process";
  readonly sources = ["internal_source", "github"] as const;
  readonly #options: ProcessDriverOptions;
  /** Of an instance's group: processor time and when it was read. */
  readonly #measured = new Map<number, { seconds: number; at: number }>();

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
  }

  #build(id: string): string {
    return join(this.#options.directory, "builds", id);
  }

  #instance(id: string): string {
    return join(this.#options.directory, "instances", id);
  }

  async build(order: BuildOrder, log: BuildLog, signal: AbortSignal): Promise<void> {
    const { settings } = this.#options;
    const home = this.#build(order.revisionId);
    const root = join(home, "src");
    const began = performance.now();
    await rm(home, { recursive: true, force: true });
    try {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const { archive } = order;
      if (archive === null) throw new BuildError("The revision has no archive.");
      if (!existsSync(archive.file))
        throw new BuildError("The archive of this revision is not kept any more. Upload it anew.");
      const { withLinks } = archive;
      const limits = { maxBytes: settings.unpackMaxMb * 1024 * 1024, maxEntries: settings.unpackMaxEntries, withLinks };
      const { entries } = await unpack(archive.file, root, limits, signal);
      log.write(`Unpacked ${entries} files.`);
      await readProjectConfig(root, order.configPath);
      await this.#runCommands(order, root, home, log, signal);
      await rm(join(home, "tmp"), { recursive: true, force: true });
      signal.throwIfAborted();
      await writeFile(join(home, "complete"), "");
      log.write(`Built in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw explain(error);
    }
  }

  async #runCommands(order: BuildOrder, root: string, home: string, log: BuildLog, signal: AbortSignal): Promise<void> {
    const { settings, directory } = this.#options;
    const environment = await buildEnvironment(settings.buildEnvironment, directory, home);
    const budget = { bytes: settings.buildLogMb * 1024 * 1024 };
    const deadline = performance.now() + settings.buildSeconds * 1000;
    const limitText = `${settings.buildSeconds} s`;
    const run = (command: string, where: string) => {
      log.write(`$ ${command}`);
      return runCommand({ command, directory: where, environment, log, signal, deadline, limitText, budget });
    };
    const configDirectory = dirname(join(root, order.configPath));
    const chosen = order.config.install_command;
    // packages are those of the directory that langgraph.json is in, or of the repository around it
    const where = existsSync(join(configDirectory, "package.json")) ? configDirectory : root;
    const isChosen = chosen !== undefined && chosen !== null;
    const install = chosen ?? installCommand(where, programIn(environment["PATH"] ?? ""));
    const isPlain = !isChosen && !order.config.build_command;
    const key = install !== null && isPlain ? packagesKey(where, install, environment) : null;
    const note = key === null ? null : { deployment: order.deploymentId, key, where: relative(root, where) };
    const taken = note && (await takePackages(join(directory, "builds"), home, note));
    if (taken !== null) log.write(`The lock file is as it was in revision ${taken}: its packages are taken.`);
    else if (install !== null) await run(install, isChosen ? root : where);
    else log.write("There is no package.json: nothing to install.");
    if (note) await notePackages(home, note);
    if (order.config.build_command) await run(order.config.build_command, configDirectory);
  }

  hasBuild(artifactId: string): boolean {
    return existsSync(join(this.#build(artifactId), "complete"));
  }

  async deleteBuild(artifactId: string): Promise<void> {
    await rm(this.#build(artifactId), { recursive: true, force: true });
  }

  async listBuilds(): Promise<string[]> {
    return readdir(join(this.#options.directory, "builds")).catch(() => []);
  }

  async start(order: InstanceOrder): Promise<InstanceProcess> {
    const directory = this.#instance(order.id);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const root = join(this.#build(order.artifactId), "src");
    return spawnInstance({ ...order, directory, root, launcher: this.#options.launcher });
  }

  recover(instanceId: string): Promise<InstanceProcess | null> {
    return recoverProcess(this.#instance(instanceId), instanceId);
  }

  lives(process: InstanceProcess): boolean {
    return processLives(process);
  }

  async stop(process: InstanceProcess, graceMs: number): Promise<void> {
    await endGroup(process, graceMs);
    this.#measured.delete(process.pid);
  }

  async usage(process: InstanceProcess): Promise<InstanceUsage | null> {
    if (!isOurs(process)) return null;
    const now = groupUsage(process.pid);
    if (!now) return null;
    const at = performance.now();
    const before = this.#measured.get(process.pid);
    this.#measured.set(process.pid, { seconds: now.cpuSeconds, at });
    const elapsed = before ? (at - before.at) / 1000 : 0;
    const percent = before && elapsed > 0 ? ((now.cpuSeconds - before.seconds) / elapsed) * 100 : null;
    return { memory_bytes: now.memoryBytes, cpu_percent: percent === null ? null : Math.max(0, round(percent)) };
  }

  async readLog(instanceId: string, offset: number): Promise<{ text: string; next: number }> {
    const file = join(this.#instance(instanceId), "log");
    let size: number;
    try {
      size = statSync(file).size;
    } catch {
      return { text: "", next: offset };
    }
    // it was emptied
    const from = size < offset ? 0 : offset;
    if (size === from) {
      // everything is in the database: a file that is long enough begins anew. What is written between the two calls is lost
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
      // whole lines only, unless one is longer than all that is read at once
      const end = text.lastIndexOf(0x0a) + 1;
      const taken = end > 0 ? end : bytesRead === LOG_CHUNK ? bytesRead : 0;
      return { text: text.subarray(0, taken).toString("utf8"), next: from + taken };
    } finally {
      await handle.close();
    }
  }

  async discard(instanceId: string): Promise<void> {
    await rm(this.#instance(instanceId), { recursive: true, force: true });
    await rm(abandoned(this.#instance(instanceId)), { recursive: true, force: true });
  }

  async listInstances(): Promise<string[]> {
    const names = await readdir(join(this.#options.directory, "instances")).catch((): string[] => []);
    return [...new Set(names.map((name) => name.split(".")[0]!))];
  }
}

/** In words, what the system says by a code. */
function explain(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new Error(`There is no room left on the disk for this build: ${message}`, { cause: error });
}

const round = (n: number): number => Math.round(n * 10) / 10;
