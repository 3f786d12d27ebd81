import { spawn } from "node:child_process";
import { chmod, chown, mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";

import { ConfigError } from "../../../../base/config/options.ts";
import { Bubblewrap } from "./bubblewrap.ts";
import { DeploymentAccounts } from "./deployment-accounts.ts";
import { type Isolation, type IsolationKind, noIsolation } from "./isolation.ts";
import { openPassages, SystemUser } from "./system-user.ts";
import { readIdRange } from "../../../../base/confined-users.ts";

export interface IsolationOptions {
  /** The control plane's directory in the data directory. */
  directory: string;
  /** Path of bin/heddle.js. */
  launcher: string;
  settings: { processIsolation: "auto" | IsolationKind; processReadable: string };
}

export interface ChosenIsolation {
  isolation: Isolation;
  accounts: DeploymentAccounts;
  /** Isolation of deployments and its reason, as one sentence. */
  explanation: string;
}

/**
 * Selects the configured isolation, or the strongest that works. Tests each by running a command in it.
 * @throws ConfigError when the configured one does not work
 */
export async function chooseIsolation(options: IsolationOptions): Promise<ChosenIsolation> {
  const { processIsolation: setting } = options.settings;
  const none = { isolation: noIsolation, accounts: new DeploymentAccounts(options.directory, null) };
  const open = "Deployments run as this server's own user: they can read its files, environment and secrets";
  if (setting === "none") return { ...none, explanation: `${open} (HEDDLE_PROCESS_ISOLATION=none).` };
  const problems: string[] = [];
  for (const kind of setting === "auto" ? (["bubblewrap", "user"] as const) : [setting]) {
    const isolation = await tryIsolation(kind, options);
    if ("isolation" in isolation) return isolation;
    problems.push(`${kind}: ${isolation.problem}`);
  }
  if (setting === "auto") return { ...none, explanation: `${open}. Tried ${problems.join("; ")}.` };
  throw new ConfigError(
    `HEDDLE_PROCESS_ISOLATION=${setting} does not work here. ${problems.join("; ")}. Set another mode, or auto ` +
      "for the safest one that works.",
  );
}

const EXPLANATIONS = {
  bubblewrap: "Deployments run in bubblewrap: each sees only its own files and processes",
  user: "Deployments run as separate system users: they cannot access the files and processes of others",
};

/** The driver and accounts of an isolation, or the reason why it does not work on this machine. */
export async function tryIsolation(
  kind: "bubblewrap" | "user",
  options: IsolationOptions,
): Promise<ChosenIsolation | { problem: string }> {
  if (process.platform !== "linux") return { problem: "it needs Linux" };
  const { directory, launcher, settings } = options;
  const isRoot = process.getuid?.() === 0;
  const ids = isRoot ? readIdRange() : null;
  if (kind === "user" && !isRoot) return { problem: "it needs root" };
  if (isRoot && ids === null) return { problem: "this container has no user ids for deployments" };
  const readable = settings.processReadable.split(":").filter((path) => path !== "");
  const relative = readable.find((path) => !isAbsolute(path));
  if (relative !== undefined)
    throw new ConfigError(`HEDDLE_PROCESS_READABLE names ${relative}: paths must be absolute.`);
  try {
    const isolation =
      kind === "user"
        ? new SystemUser()
        : new Bubblewrap({ launcher, dataDir: dirname(directory), readable, hasUsers: isRoot });
    if (kind === "user") openPassages(directory);
    const accounts = new DeploymentAccounts(directory, ids);
    const problem = await probe(isolation, accounts, options);
    if (problem !== null) return { problem };
    const explanation = `${EXPLANATIONS[kind]}${kind === "bubblewrap" && isRoot ? ", and runs as its own system user" : ""}.`;
    return { isolation, accounts, explanation };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** Not the id of any deployment. */
const PROBE = "probe";
const PROBE_MS = 20_000;

/** Writes where it may, reads Heddle, and verifies that a file of the platform is unreadable. */
const SCRIPT = `const fs = require("fs"), [own, launcher, closed] = process.argv.slice(1);
fs.writeFileSync(own + "/written", "");
fs.accessSync(launcher, fs.constants.R_OK);
let isOpen = true;
try { fs.readFileSync(closed); } catch { isOpen = false; }
console.log(isOpen ? "open" : "closed");`;

async function probe(
  isolation: Isolation,
  accounts: DeploymentAccounts,
  options: IsolationOptions,
): Promise<string | null> {
  const { directory, launcher } = options;
  const home = join(directory, "instances", PROBE);
  const own = join(home, "data");
  const closed = join(directory, "probe.closed");
  try {
    const account = await accounts.prepare(PROBE);
    await mkdir(own, { recursive: true, mode: 0o700 });
    if (isolation.kind === "user") await chmod(home, 0o711);
    if (account.uid !== null) await chown(own, account.uid, account.uid);
    await writeFile(closed, "closed", { mode: 0o600 });
    const command = [process.execPath, "-e", SCRIPT, own, await realpath(launcher), closed];
    const [program, ...args] = isolation.wrap({
      account,
      command,
      writable: [own],
      temporary: own,
      endsWithParent: true,
    });
    return await runProbe(program!, args);
  } finally {
    for (const path of [home, closed]) await rm(path, { recursive: true, force: true });
    await accounts.remove(PROBE);
  }
}

function runProbe(program: string, args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line node/no-process-env -- programs are found as in this process
    const env = { PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" };
    const child = spawn(program, args, { cwd: "/", env, stdio: ["ignore", "pipe", "pipe"], timeout: PROBE_MS });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? `${program} is not installed` : error.message),
    );
    child.once("close", (code, signal) => {
      const stdout = output.stdout.trim();
      if (code === 0 && stdout === "closed") return resolve(null);
      if (code === 0) return resolve("a file of the platform is readable inside it");
      resolve(reason(output.stderr) || `it exited with ${signal ?? `exit code ${code}`}`);
    });
  });
}

/** Returns the line with the reason; the other lines of a Node.js error are its stack. */
function reason(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return (lines.find((line) => /^\w*Error:|^(bwrap|setpriv):/.test(line)) ?? lines[0] ?? "").trim().slice(0, 300);
}
