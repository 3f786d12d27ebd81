/**
 * Watches the servers while they are attacked: every process lives, another client is answered within two seconds, and
 * no process grows by more than 256 MB, which it returns afterwards.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { residentMib } from "../security/flood.ts";
import { type Command, type ServerName, ALL_SERVERS, MAX_GROWTH_MIB } from "./servers.ts";
import type { World } from "./world.ts";

export const MAX_WAIT_MS = 2_000;
/** What an idle server may keep: compiled code, caches, pools. */
const MAX_LEFT_MIB = 128;
const PROBE_EVERY_MS = 100;
const SAMPLE_EVERY_MS = 50;
/** A server that does not answer for so long hangs. */
const HANGS_MS = 30_000;

/** Requests of another client, which need a key and a database. */
const PROBES: Record<ServerName, string> = {
  agent: "/store/items?namespace=notes&key=k",
  trace: "/api/v1/workspaces",
  control: "/v2/deployments?limit=1",
  console: "/livez",
  app: "/store/items?namespace=none&key=k",
  python: "/store/items?namespace=none&key=k",
};

/** What the watch has seen. */
export interface Sight {
  text: string;
  /** Whose inputs may be its cause; undefined: those of several. */
  server: ServerName | undefined;
  /** Whether a busy machine may be the cause. */
  isTiming: boolean;
}

export class Watch {
  readonly #world: World;
  readonly #servers: readonly ServerName[];
  /** Resident memory before any attack, by process. */
  readonly #warm = new Map<string, number>();
  readonly #peaks = new Map<string, number>();
  readonly #slowest = new Map<ServerName, number>();
  #pids = new Map<Command, Record<string, number>>();
  #problem: Sight | undefined;
  #isStopped = false;
  #isPaused = false;
  readonly #loops: Promise<void>[] = [];

  constructor(world: World, servers: readonly ServerName[]) {
    this.#world = world;
    this.#servers = servers;
  }

  /** Warms the servers up and begins. */
  async start(): Promise<void> {
    this.#findProcesses();
    await Promise.all(this.#servers.map((server) => this.#warmUp(server)));
    for (const [name, pid] of this.#processes()) {
      const mib = memoryOf(pid);
      // one that has ended is found below
      if (mib !== undefined) this.#warm.set(name, mib);
    }
    this.#loops.push(this.#sample(), ...this.#servers.map((server) => this.#probe(server)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
  }

  /** Returns what was wrong since the last call. */
  takeProblem(): Sight | undefined {
    const problem = this.#problem;
    this.#problem = undefined;
    return problem;
  }

  get hasProblem(): boolean {
    return this.#problem !== undefined;
  }

  /** Restarts the commands whose processes have grown or ended; a next problem is a new one. */
  async renew(): Promise<void> {
    this.#isPaused = true;
    for (const command of this.#world.commands) {
      const isWell = this.#processesOf(command).every(([name, pid]) => {
        const mib = memoryOf(pid);
        return mib !== undefined && mib < (this.#warm.get(name) ?? 0) + MAX_LEFT_MIB;
      });
      if (!isWell) await command.restart();
    }
    this.#findProcesses();
    await Promise.all(this.#servers.map((server) => this.#warmUp(server, 5)));
    this.#problem = undefined;
    this.#isPaused = false;
  }

  /** Returns what is wrong when the attacks are over: memory that an idle server keeps. */
  async findKept(): Promise<string[]> {
    const isKept = () => [...this.#processes()].filter(([name, pid]) => this.#growth(name, pid) > MAX_LEFT_MIB);
    for (let waited = 0; waited < 40_000 && isKept().length > 0; waited += 500) await sleep(500);
    return isKept().map(([name, pid]) => `${name} keeps ${this.#growth(name, pid)} MiB after the attacks`);
  }

  report(): string {
    const processes = [...this.#peaks].map(([name, mib]) => `${name} +${Math.round(mib)} MiB`);
    const waits = [...this.#slowest].map(([server, ms]) => `${server} ${Math.round(ms)} ms`);
    return `most memory: ${processes.join(", ")}; longest waits of another client: ${waits.join(", ")}`;
  }

  #growth(name: string, pid: number): number {
    return Math.round((memoryOf(pid) ?? 0) - (this.#warm.get(name) ?? 0));
  }

  #findProcesses(): void {
    this.#pids = new Map(this.#world.commands.map((command) => [command, command.pids()]));
  }

  #processesOf(command: Command): [string, number][] {
    const unique = new Map(
      Object.entries(this.#pids.get(command) ?? {}).map(([name, pid]) => [pid, `${command.name} ${name}`]),
    );
    return [...unique].map(([pid, name]) => [name, pid]);
  }

  #processes(): [string, number][] {
    return this.#world.commands.flatMap((command) => this.#processesOf(command));
  }

  #note(text: string, server: ServerName | undefined, isTiming = false): void {
    if (!this.#isPaused && !this.#isStopped) this.#problem ??= { text, server, isTiming };
  }

  async #sample(): Promise<void> {
    for (; !this.#isStopped; await sleep(SAMPLE_EVERY_MS)) {
      if (this.#isPaused) continue;
      for (const [name, pid] of this.#processes()) {
        const mib = memoryOf(pid);
        if (mib === undefined) {
          this.#note(`a process has ended: ${name}`, serverOf(name));
          continue;
        }
        const growth = mib - (this.#warm.get(name) ?? mib);
        this.#peaks.set(name, Math.max(this.#peaks.get(name) ?? 0, growth));
        if (growth > MAX_GROWTH_MIB) this.#note(`${name} has grown by ${Math.round(growth)} MiB`, serverOf(name));
      }
    }
  }

  async #probe(server: ServerName): Promise<void> {
    for (; !this.#isStopped; await sleep(PROBE_EVERY_MS)) {
      if (this.#isPaused) continue;
      const pid = this.#pids.get(this.#world.command(server))?.[server];
      const [since, starved] = [performance.now(), pid === undefined ? 0 : runQueueMs(pid)];
      const own = runQueueMs(process.pid);
      const status = await this.#ask(server);
      const waited = performance.now() - since;
      if (this.#isPaused) continue;
      // time in which the machine was busy with something else
      const stolen = (pid === undefined ? 0 : runQueueMs(pid) - starved) + runQueueMs(process.pid) - own;
      const ms = waited - stolen;
      this.#slowest.set(server, Math.max(this.#slowest.get(server) ?? 0, ms));
      if (ms > MAX_WAIT_MS) this.#note(`another client waited ${Math.round(ms)} ms for ${server}`, server, true);
      else if (status === undefined && waited > HANGS_MS) this.#note(`${server} does not answer`, server);
      else if (status !== undefined && status >= 400)
        this.#note(`another client gets ${status} from ${server}`, server);
    }
  }

  async #ask(server: ServerName): Promise<number | undefined> {
    const { key, workspaceId } = this.#world.credentials(server, "key")!;
    return fetch(`http://127.0.0.1:${this.#world.port(server)}${PROBES[server]}`, {
      headers: { "x-api-key": key, "x-tenant-id": workspaceId },
      signal: AbortSignal.timeout(HANGS_MS),
    }).then(
      async (response) => (await response.arrayBuffer(), response.status),
      () => undefined,
    );
  }

  async #warmUp(server: ServerName, rounds = 150): Promise<void> {
    for (let round = 0; round < rounds; round++) await Promise.all([this.#ask(server), this.#ask(server)]);
    // what a store of traces takes for ordinary work is none of an attack's
    if (server === "trace") for (let round = 0; round < rounds / 5; round++) await this.#recordAndRead();
  }

  /** Sends a hundred runs of 2 kB and reads them, as any client does. */
  async #recordAndRead(): Promise<void> {
    const { key, workspaceId } = this.#world.credentials("trace", "key")!;
    const start_time = new Date().toISOString();
    const post = Array.from({ length: 100 }, () => {
      const id = crypto.randomUUID();
      const dotted_order = `${start_time.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${id}`;
      const inputs = { text: id.repeat(50) };
      return { id, trace_id: id, dotted_order, name: "warm-up", run_type: "chain", start_time, inputs };
    });
    const send = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${this.#world.port("trace")}${path}`, {
        method: "POST",
        headers: { "x-api-key": key, "x-tenant-id": workspaceId, "content-type": "application/json" },
        body: JSON.stringify(body),
      }).then(
        (response) => response.arrayBuffer(),
        // the probes notice a server that does not answer
        () => undefined,
      );
    await send("/api/v1/runs/batch", { post });
    await send("/api/v1/runs/query", { trace: post[0]!.id });
  }
}

/** The control plane, its gateway and the console share a process. */
const serverOf = (process: string): ServerName | undefined =>
  ALL_SERVERS.find((name) => name === process.split(" ")[1] && name !== "console");

function memoryOf(pid: number): number | undefined {
  try {
    const mib = residentMib(pid);
    return Number.isNaN(mib) ? undefined : mib;
  } catch {
    return undefined;
  }
}

/** Milliseconds that a process' main thread was ready to run and did not, since its start. */
function runQueueMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
