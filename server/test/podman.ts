import { execFile, spawn, spawnSync } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, connect, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { vi } from "vitest";

import { Engine, readProgress } from "../src/control/drivers/container/engine.ts";
import { atEnd } from "./at-end.ts";
import { killProcessesOf } from "./processes-of.ts";

/** Whether Podman and the runtime it needs are installed; `.ci/run` installs both. */
export const hasPodman = ["podman", "runc"].every(
  (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0,
);

/** Address of this machine for containers of the network `bridge`. */
export const BRIDGE_ADDRESS = "10.88.0.1";

export interface TestPodman {
  /** Value for HEDDLE_CONTAINER_ENGINE. */
  address: string;
  engine: Engine;
  /** Starts the service. */
  start(): Promise<void>;
  /** Stops the service; containers keep running. */
  stop(): Promise<void>;
  /** Runs `podman …` on the same containers and images. Throws with its output. */
  run(...args: string[]): Promise<string>;
  /** Returns the images' names, `repository:tag`. */
  images(): Promise<string[]>;
  /** Allows plain HTTP to registries. */
  trust(...registries: string[]): void;
  /** Returns the path of a program that is this Podman. */
  asProgram(): string;
  /** Returns a directory for PATH with a `docker` that is this Podman, for programs that call Docker's client. */
  asDocker(): string;
  /** Stops everything, and removes the directory. */
  remove(): Promise<void>;
}

/** Sets up a separate Podman: images, containers and socket are in a directory that is removed after the tests. */
export function testPodman(): TestPodman {
  const podman = openPodman(mkdtempSync(join(tmpdir(), "heddle-podman-")));
  atEnd(() => podman.remove());
  return podman;
}

/** Sets up a separate Podman in a directory, which it creates. */
export function openPodman(home: string): TestPodman {
  mkdirSync(home, { recursive: true });
  const file = (name: string) => join(home, name);
  // for machines that may not raise limits, and have no systemd
  writeFileSync(
    file("containers.conf"),
    '[containers]\ndefault_ulimits=["nofile=4096:4096","nproc=4096:4096"]\n' +
      '[engine]\nruntime="runc"\ncgroup_manager="cgroupfs"\nevents_logger="file"\n',
  );
  writeFileSync(file("registries.conf"), "");
  const env = {
    ...process.env,
    CONTAINERS_CONF: file("containers.conf"),
    CONTAINERS_REGISTRIES_CONF: file("registries.conf"),
  };
  const place = ["--root", file("root"), "--runroot", file("run")];
  const socket = file("podman.sock");
  const address = `unix://${socket}`;
  const engine = new Engine(address);
  let child: ReturnType<typeof spawn> | undefined;
  // hooks do not run where the file itself fails
  process.once("exit", () => child?.kill("SIGKILL"));
  const podman: TestPodman = {
    address,
    engine,
    async start() {
      rmSync(socket, { force: true });
      child = spawn("podman", [...place, "system", "service", "-t", "0", address], { env, stdio: "ignore" });
      for (const deadline = Date.now() + 20_000; !existsSync(socket); await sleep(50)) {
        if (Date.now() > deadline) throw new Error("podman does not answer");
      }
    },
    async stop() {
      const ended = child && new Promise((done) => child!.once("exit", done));
      // on SIGTERM it would wait for clients that follow logs
      child?.kill("SIGKILL");
      await ended;
      child = undefined;
    },
    async run(...args) {
      const { stdout } = await promisify(execFile)("podman", [...place, ...args], { env, maxBuffer: 1 << 24 });
      return stdout.trim();
    },
    async images() {
      // podman fails when an image is removed while it lists them
      const list = () => podman.run("images", "--format", "{{.Repository}}:{{.Tag}}");
      return (await vi.waitFor(list, { timeout: 10_000 })).split("\n");
    },
    trust(...registries) {
      const texts = registries.map((location) => `[[registry]]\nlocation="${location}"\ninsecure=true\n`);
      writeFileSync(file("registries.conf"), texts.join(""));
    },
    asProgram() {
      const variables = ["CONTAINERS_CONF", "CONTAINERS_REGISTRIES_CONF"] as const;
      const lines = [
        "#!/bin/sh",
        ...variables.map((name) => `export ${name}='${env[name]}'`),
        `exec podman ${place.map((word) => `'${word}'`).join(" ")} "$@"`,
      ];
      writeFileSync(file("podman.sh"), `${lines.join("\n")}\n`, { mode: 0o755 });
      return file("podman.sh");
    },
    asDocker() {
      const command = `'${podman.asProgram()}'`;
      const lines = [
        "#!/bin/sh",
        // Docker stores credentials in a directory, Podman in a file of the same format
        'if [ "$1" = --config ]; then export REGISTRY_AUTH_FILE="$2/config.json"; shift 2; fi',
        // Podman reopens its input, which is impossible with a socket; and builds here need no network
        `if [ "$1" = build ]; then shift; cat | ${command} build --network none "$@"; exit $?; fi`,
        `exec ${command} "$@"`,
      ];
      mkdirSync(file("bin"));
      writeFileSync(join(file("bin"), "docker"), `${lines.join("\n")}\n`, { mode: 0o755 });
      return file("bin");
    },
    async remove() {
      await podman.run("rm", "--all", "--force", "--time", "0").catch(() => {});
      await podman.run("rmi", "--all", "--force").catch(() => {});
      await podman.stop();
      engine.close();
      spawnSync("umount", ["-l", join(home, "root", "overlay")], { stdio: "ignore" });
      // Podman starts programs that clean up after each container, and outlive its service
      killProcessesOf(home);
      rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
  return podman;
}

/** Imports an image from an archive of its root file system. `changes`: lines of a Dockerfile. */
export async function importImage(podman: TestPodman, archive: string, name: string, changes: string[]): Promise<void> {
  const [repo, tag] = name.split(/:(?=[^/]*$)/) as [string, string];
  const query = new URLSearchParams({ fromSrc: "-", repo, tag });
  for (const change of changes) query.append("changes", change);
  const response = await podman.engine.open("POST", `/images/create?${query.toString()}`, {
    body: createReadStream(archive),
    idleMs: 120_000,
  });
  await readProgress(response, () => {});
  await podman.run("tag", `${repo}:latest`, name).catch(() => {});
}

/**
 * Forwards connections from containers, arriving at any address of this machine, to a port on loopback; rejects all
 * others.
 */
export async function openToContainers(port: number | (() => number)): Promise<{ port: number; close(): void }> {
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = createServer((from) => {
    const peer = from.remoteAddress?.replace(/^::ffff:/, "") ?? "";
    if (!/^(127\.|10\.88\.)/.test(peer)) return void from.destroy();
    const to = connect(typeof port === "number" ? port : port(), "127.0.0.1");
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => (from.destroy(), to.destroy(), sockets.delete(socket)));
    }
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((done) => server.listen(0, done));
  return {
    port: (server.address() as { port: number }).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
