/**
 * Containers that share a volume: processes in separate PID namespaces on one data directory. Needs Linux and
 * permission to create namespaces, which continuous integration has.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

const USER = fileURLToPath(new URL("../../server/test/fixtures/directory-user.ts", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const NAMESPACE = ["--pid", "--fork", "--mount-proc", "--kill-child"];
const hasNamespaces = spawnSync("unshare", [...NAMESPACE, "true"]).status === 0;

let dataDir: string;
let containers: Container[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "heddle-dir-"));
  containers = [];
});

afterEach(() => {
  for (const container of containers) container.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A server in a separate PID namespace, with the machine's file system. */
class Container {
  readonly lines: string[] = [];
  readonly #unshare: ChildProcess;

  /** @param underInit keeps the namespace and its other processes alive when the server has exited */
  constructor(part: string, { waitMs = 2_000, underInit = false } = {}) {
    const server = [process.execPath, "--import", TSX, USER, part, dataDir, String(waitMs)];
    const program = underInit ? ["/bin/sh", "-c", '"$@" & wait; sleep 600', "init", ...server] : server;
    this.#unshare = spawn("unshare", [...NAMESPACE, ...program], { stdio: ["ignore", "pipe", "inherit"] });
    createInterface(this.#unshare.stdout!).on("line", (line) => this.lines.push(line));
    containers.push(this);
  }

  /** Resolves with the outcome of the start. */
  async outcome(timeout = 30_000): Promise<string> {
    for (const deadline = performance.now() + timeout; performance.now() < deadline; await sleep(50)) {
      const line = this.lines.find((printed) => !printed.startsWith("waits"));
      if (line !== undefined) return line;
    }
    throw new Error(`nothing but ${JSON.stringify(this.lines)} after ${timeout} ms`);
  }

  /** Signals the server's process, which may be the namespace's first process or a child of it. */
  signal(name: NodeJS.Signals): void {
    for (let pids = [this.#unshare.pid!]; pids.length > 0; pids = pids.flatMap(childPids)) {
      for (const pid of pids) {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        if (command[0] === process.execPath) return void process.kill(pid, name);
      }
    }
    throw new Error("the server has ended");
  }

  /** Kills every process of the namespace. */
  kill(): void {
    this.#unshare.kill("SIGKILL");
  }
}

const childPids = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

for (const part of ["postgres", "chdb", "control"]) {
  test.runIf(hasNamespaces)(
    `one container at a time opens ${part}; a frozen one keeps it, a killed one releases it`,
    async () => {
      const first = new Container(part);
      expect(await first.outcome()).toBe("open");

      const second = new Container(part);
      expect(await second.outcome()).toMatch(/^rejected: .*process \d+ of another container \(host \S+\) since 20/);
      expect(second.lines[0]).toMatch(/^waits: .*another container/);

      first.signal("SIGSTOP");
      expect(await new Container(part).outcome()).toMatch(/^rejected: /);

      const third = new Container(part, { waitMs: 60_000 });
      await expect.poll(() => third.lines, { timeout: 20_000 }).toHaveLength(1);
      first.kill();
      expect(await third.outcome()).toBe("open");
    },
  );
}

test.runIf(hasNamespaces)(
  "a container that shuts down gracefully hands the directory to the next one within seconds",
  async () => {
    const first = new Container("postgres");
    expect(await first.outcome()).toBe("open");
    const second = new Container("postgres", { waitMs: 60_000 });
    await expect.poll(() => second.lines, { timeout: 20_000 }).toHaveLength(1);
    const startedAt = performance.now();
    first.signal("SIGTERM");
    expect(await second.outcome()).toBe("open");
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  },
);

test.runIf(hasNamespaces)(
  "Postgres without a server in one container stops for another container that waits",
  async () => {
    const first = new Container("postgres", { underInit: true });
    expect(await first.outcome()).toBe("open");
    first.signal("SIGKILL");
    const second = new Container("postgres", { waitMs: 60_000 });
    expect(await second.outcome(60_000)).toBe("open");
    expect(second.lines[0]).toMatch(/^waits: .*Postgres that was started by process \d+ of another container/);
  },
);

test.runIf(hasNamespaces)("detects a Postgres of version 0.6, which holds no lock, by its socket", async () => {
  const first = new Container("postgres", { underInit: true });
  expect(await first.outcome()).toBe("open");
  first.signal("SIGKILL");
  rmSync(join(dataDir, "postgres", "cluster.lock"));
  expect(await new Container("postgres").outcome()).toMatch(
    /^rejected: .* is in use by a Postgres that was started by/,
  );
});

test.runIf(hasNamespaces)("of containers that start at once after a kill exactly one opens each part", async () => {
  for (const part of ["postgres", "chdb"]) {
    const killed = new Container(part);
    expect(await killed.outcome()).toBe("open");
    killed.kill();
    const outcomes = await Promise.all([1, 2, 3].map(() => new Container(part, { waitMs: 3_000 }).outcome()));
    expect(outcomes.filter((line) => line === "open")).toHaveLength(1);
    expect(outcomes.filter((line) => line.startsWith("rejected: "))).toHaveLength(2);
    for (const container of containers) container.kill();
  }
});
