/**
 * Directories of deployments on this machine:
 *
 *     <directory>/deployments/<id>/uid       id of its system user, if it has one; drawn once, unique on this machine
 *     <directory>/deployments/<id>/passwd, group, npmrc   system files as its commands see them
 *     <directory>/deployments/<id>/cache     caches of package managers, never read by other deployments' builds
 */
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { type IdRange, readAccountIds } from "../../../../base/confined-users.ts";

export interface DeploymentAccount {
  directory: string;
  cache: string;
  /** Id of its system user and of that user's group; null when it runs as this process's user. */
  uid: number | null;
}

export class DeploymentAccounts {
  readonly #directory: string;
  readonly #ids: IdRange | null;
  /** Serializes preparations, so that no two draw the same id. */
  #preparing: Promise<unknown> = Promise.resolve();

  /** @param ids range of the deployments' system users; null where there are none */
  constructor(directory: string, ids: IdRange | null) {
    this.#directory = join(directory, "deployments");
    this.#ids = ids;
  }

  /** Creates a deployment's directory, or finds the existing one. */
  prepare(deploymentId: string): Promise<DeploymentAccount> {
    const preparing = this.#preparing.then(() => this.#prepare(deploymentId));
    this.#preparing = preparing.catch(() => {});
    return preparing;
  }

  async #prepare(deploymentId: string): Promise<DeploymentAccount> {
    const directory = join(this.#directory, deploymentId);
    const cache = join(directory, "cache");
    const isShared = this.#ids !== null;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // the deployment's user can traverse it to the cache
    if (isShared) await chmod(directory, 0o711);
    await mkdir(cache, { recursive: true, mode: 0o700 });
    const uid = isShared ? await this.#userId(directory) : null;
    if (uid !== null) await chown(cache, uid, uid);
    const id = uid ?? process.getuid?.() ?? 0;
    const group = uid ?? process.getgid?.() ?? 0;
    await writeFile(join(directory, "passwd"), `${ROOT}deployment:x:${id}:${group}::/tmp:/bin/sh\n`, { mode: 0o644 });
    await writeFile(join(directory, "group"), `root:x:0:\ndeployment:x:${group}:\n`, { mode: 0o644 });
    await writeFile(join(directory, "npmrc"), readNpmSettings(), { mode: 0o644 });
    return { directory, cache, uid };
  }

  async #userId(directory: string): Promise<number> {
    const file = join(directory, "uid");
    const known = await readId(file);
    if (known !== null) return known;
    const [first, last] = this.#ids!;
    const ids = await Promise.all((await this.list()).map((id) => readId(join(this.#directory, id, "uid"))));
    const used = new Set([...ids, ...readAccountIds()]);
    let id = randomInt(first, last + 1);
    while (used.has(id)) id = randomInt(first, last + 1);
    await writeFile(`${file}.part`, `${id}\n`, { mode: 0o600 });
    await rename(`${file}.part`, file);
    return id;
  }

  async list(): Promise<string[]> {
    return readdir(this.#directory).catch(() => []);
  }

  /** Returns the system user id of a deployment; null where it has none. */
  userId(deploymentId: string): Promise<number | null> {
    return readId(join(this.#directory, deploymentId, "uid"));
  }

  async remove(deploymentId: string): Promise<void> {
    await rm(join(this.#directory, deploymentId), { recursive: true, force: true });
  }
}

const ROOT = "root:x:0:0::/nonexistent:/usr/sbin/nologin\n";

async function readId(file: string): Promise<number | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null || !/^\d+\n$/.test(text) ? null : Number(text);
}

/** Settings that contain or reference credentials. */
const CREDENTIALS = /(_auth|_authtoken|_password|username|email|certfile|keyfile|^key|^cert|^otp)\s*(\[\])?\s*=/i;

/** Returns the npm settings of this process's user, without lines that contain credentials. */
function readNpmSettings(): string {
  let text: string;
  try {
    text = readFileSync(join(homedir(), ".npmrc"), "utf8");
  } catch {
    return "";
  }
  const lines = text.split(/\r?\n/).filter((line) => !CREDENTIALS.test(line) && !/\/\/[^/\s]*@/.test(line));
  return `${lines.join("\n")}\n`;
}
