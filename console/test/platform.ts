/** Starts the real platform as an operator does: `heddle dev` on a project of graphs, or `heddle up`. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../server/src/base/free-port.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Below the timeout of hooks; a busy machine takes a minute. */
const START_MS = 170_000;

export interface Platform {
  /** Address of the console. */
  url: string;
  agentUrl: string;
  traceUrl: string;
  controlUrl: string;
  directory: string;
  /** Stops the server as an operator does, and restarts it on the same data and addresses. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a platform: `dev` serves a project, `up` deployments. Addresses of missing parts are empty.
 * @param options `reloads`: whether a change of the project's files restarts its graphs
 * @param settings environment variables of the server; HEDDLE_CONSOLE_PORT and HEDDLE_TRACE_PORT set ports
 */
export async function startPlatform(
  command: "dev" | "up" = "dev",
  settings: Record<string, string> = {},
  project = "conformance/project/langgraph.json",
  { reloads = false } = {},
): Promise<Platform> {
  const [agent, traces, control, free] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const own = settings["HEDDLE_CONSOLE_PORT"] ?? free;
  const trace = settings["HEDDLE_TRACE_PORT"] ?? traces;
  // deployments are inside the repository, so that projects find LangGraph without an installation
  const parent = command === "up" ? join(root, "node_modules", ".cache") : tmpdir();
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(parent, "heddle-console-"));
  // Postgres does not run as root, and its user needs access to the data directory
  await chmod(directory, 0o755);
  const logFile = join(directory, "server.log");
  const args = ["cli/bin/heddle.js", command, "--data-dir", join(directory, "data"), "--trace-port", String(trace)];
  args.push("--console-port", String(own));
  if (command === "dev") args.push("--config", project, ...(reloads ? [] : ["--no-reload"]), "--port", String(agent));
  else args.push("--control-port", String(control));
  const env = { ...process.env, HEDDLE_CONSOLE: "true", HEDDLE_HOSTS: "1", ...settings };
  const launch = async () => {
    const log = await open(logFile, "a");
    const launched = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", log.fd, log.fd], env });
    await log.close();
    return launched;
  };
  let child = await launch();
  const url = `http://127.0.0.1:${own}`;
  const stop = async () => {
    await end(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await untilServed(url, child);
  } catch (error) {
    const printed = await readFile(logFile, "utf8");
    await stop();
    throw new Error(`${(error as Error).message}\n${printed.slice(-4000)}`, { cause: error });
  }
  return {
    url,
    agentUrl: command === "dev" ? `http://127.0.0.1:${agent}` : "",
    traceUrl: `http://127.0.0.1:${trace}`,
    controlUrl: command === "up" ? `http://127.0.0.1:${control}` : "",
    directory,
    async restart() {
      await end(child);
      child = await launch();
      await untilServed(url, child);
    },
    stop,
  };
}

/** Runs the command line on a platform's data, as an operator does on the machine. @returns its output */
export function heddle(platform: Pick<Platform, "directory">, args: string[], input = ""): Promise<string> {
  const data = ["--data-dir", join(platform.directory, "data")];
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [join(root, "cli/bin/heddle.js"), ...args, ...data],
      { timeout: 60_000 },
      (error, out, err) => (error ? reject(new Error(`${error.message}\n${out}${err}`)) : resolve(out)),
    );
    child.stdin!.end(input);
  });
}

async function untilServed(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`heddle ended with ${child.exitCode}`);
    const page = await fetch(url).catch(() => null);
    // the trace platform may take longer than the banner waits for it
    if (page?.ok && (await hasTraces(url))) return;
    await sleep(200);
  }
  throw new Error(`nothing at ${url}`);
}

async function hasTraces(url: string): Promise<boolean> {
  const about = (await (await fetch(`${url}/console.json`)).json()) as { spaces: { trace: boolean } };
  return about.spaces.trace;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), 20_000);
  await exited;
  clearTimeout(force);
}
