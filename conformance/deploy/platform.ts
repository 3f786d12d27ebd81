import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { freePort } from "../../test/free-port.ts";
import { searchSecrets } from "../secrets.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const CLI = join(repository, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");

export interface Platform {
  control: string;
  traces: string;
  /** Key with all permissions. */
  key: string;
  dataDir: string;
  stop(): Promise<void>;
}

/** Starts `heddle up` with fresh data, as on a network: every request needs a key. */
export async function startPlatform(
  more: Record<string, string> = {},
  // inside the repository, so that projects find LangGraph without an installation
  parent = join(repository, "node_modules", ".cache"),
): Promise<Platform> {
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, "heddle-up-"));
  chmodSync(directory, 0o755);
  const [control, traces] = [await freePort(), await freePort()];
  const args = ["cli/bin/heddle.js", "up", "--control-port", String(control), "--trace-port", String(traces)];
  const child = spawn(process.execPath, [...args, "--data-dir", join(directory, "data")], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HEDDLE_AUTH: "required", HEDDLE_DRAIN_SECONDS: "3", HEDDLE_MIN_HEALTHY_MS: "200", ...more },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const dataDir = join(directory, "data");
  const end = async (isSearched = false) => {
    const search = searchSecrets({ directory: dataDir, pid: child.pid!, urls: [`http://127.0.0.1:${control}`] });
    const found = isSearched ? await search.running() : [];
    await stopProcess(child);
    const log = printed.split("\n").filter((line) => line.startsWith("{"));
    if (isSearched) found.push(...(await search.stopped(log.join("\n"))));
    rmSync(directory, { recursive: true, force: true });
    if (found.length > 0) throw new Error(`secrets of the run were found:\n${found.slice(0, 20).join("\n")}`);
  };
  for (const deadline = Date.now() + 90_000; !printed.includes("Stop with Ctrl-C"); await sleep(50)) {
    if (child.exitCode === null && Date.now() < deadline) continue;
    await end();
    throw new Error(`heddle up did not start:\n${printed}`);
  }
  const key = /Key\s+(lsv2_\S+)/.exec(printed)![1]!;
  return {
    control: `http://127.0.0.1:${control}`,
    traces: `http://127.0.0.1:${traces}`,
    key,
    dataDir,
    stop: () => end(true),
  };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 40_000);
  await ended;
  clearTimeout(timer);
  if (child.signalCode === "SIGKILL") throw new Error("heddle up was still there 40 s after SIGTERM");
}

/** Writes a project as its author has it, outside of the repository. */
export function writeProject(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), "heddle-project-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

export interface Outcome {
  code: number;
  output: string;
}

/** Runs the official command-line client in a project's directory. */
export const langgraphjs = (directory: string, args: string[]): Promise<Outcome> =>
  execute([CLI, ...args], directory, { LANGGRAPH_CLI_NO_ANALYTICS: "1" });

export const heddle = (directory: string, args: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  execute([join(repository, "cli/bin/heddle.js"), ...args], directory, env);

export interface Follower {
  /** Output so far. */
  output(): string;
  /** Stops the command with Ctrl-C. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

/** Starts a command that runs until it is stopped. */
export function follow(client: "langgraphjs" | "heddle", directory: string, args: string[]): Follower {
  const program = client === "heddle" ? join(repository, "cli/bin/heddle.js") : CLI;
  const env = { ...process.env, LANGGRAPH_CLI_NO_ANALYTICS: "1" };
  const child = spawn(process.execPath, [program, ...args], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals | null>((done) =>
    child.once("exit", (code, signal) => done(code ?? signal)),
  );
  return {
    output: () => printed,
    async stop() {
      child.kill("SIGINT");
      return ended;
    },
  };
}

function execute(args: string[], cwd: string, env: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env }, timeout: 120_000 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}

export const fileIn = (directory: string, name: string): string => readFileSync(join(directory, name), "utf8");
