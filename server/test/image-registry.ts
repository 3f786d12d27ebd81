import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../src/base/free-port.ts";
import { atEnd } from "./at-end.ts";

/** Whether the program of Debian's package docker-registry is installed. */
export const hasImageRegistry = spawnSync("docker-registry", ["--version"], { stdio: "ignore" }).status === 0;

const USER = "heddle";
export const REGISTRY_PASSWORD = "registry-password";
/** The password above, in the only format that the registry reads. */
const HASH = "$2b$04$q/DWn2MnGsw1.gWk9yf0Ku1w0FuK7iULluFJ1K6WkR10PfFn6ZjO6";

/** Registry on a loopback port that requires a login for pushes and pulls. */
export class TestImageRegistry {
  readonly address: string;
  readonly #directory: string;
  #child: ChildProcess | undefined;

  private constructor(address: string, directory: string) {
    this.address = address;
    this.#directory = directory;
  }

  static async start(): Promise<TestImageRegistry> {
    const directory = mkdtempSync(join(tmpdir(), "heddle-registry-"));
    const address = `127.0.0.1:${await freePort()}`;
    const config = {
      version: 0.1,
      log: { level: "error", accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: join(directory, "data") } },
      http: { addr: address },
      auth: { htpasswd: { realm: "heddle", path: join(directory, "users") } },
    };
    writeFileSync(join(directory, "users"), `${USER}:${HASH}\n`);
    // JSON is YAML
    writeFileSync(join(directory, "config.yml"), JSON.stringify(config));
    const registry = new TestImageRegistry(address, directory);
    atEnd(async () => {
      await registry.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    await registry.start();
    return registry;
  }

  async start(): Promise<void> {
    this.#child = spawn("docker-registry", ["serve", join(this.#directory, "config.yml")], { stdio: "ignore" });
    for (const deadline = Date.now() + 20_000; ; await sleep(50)) {
      if (await fetch(`http://${this.address}/v2/`).then(Boolean, () => false)) return;
      if (Date.now() > deadline) throw new Error("docker-registry does not answer");
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Writes a file with its credentials, in Docker's format. Returns the path. */
  writeLogin(password = REGISTRY_PASSWORD): string {
    const file = join(this.#directory, `login-${password.length}.json`);
    const auth = Buffer.from(`${USER}:${password}`).toString("base64");
    writeFileSync(file, JSON.stringify({ auths: { [this.address]: { auth } } }), { mode: 0o600 });
    return file;
  }

  /** Lists the tags of a repository. */
  tags(repository: string): string[] {
    const at = join(
      this.#directory,
      "data",
      "docker",
      "registry",
      "v2",
      "repositories",
      repository,
      "_manifests",
      "tags",
    );
    return existsSync(at) ? readdirSync(at).sort() : [];
  }
}
