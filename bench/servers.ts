import { type ChildProcess, spawn } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, open, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { freePort } from "../test/free-port.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const START_MS = 60_000;
/** The first start of a server in Python creates its tables step by step. */
const PEER_MS = 300_000;
const STOP_MS = 20_000;

export interface ServerUnderTest {
  name: string;
  url: string;
  /** Absent for a server that was not started here. */
  pid?: number;
  /** Process below `pid` that serves: itself, or the largest of a tree of wrappers. */
  process: "own" | "largest";
  /** From spawn to the first 200 of `/ok`, in milliseconds. */
  startMs?: number;
  stop(): Promise<void>;
}

export const runningServer = (url: string): ServerUnderTest => ({
  name: "heddle",
  url,
  process: "own",
  stop: async () => {},
});

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "heddle-bench-"));
  // Postgres does not run as root, and its user must be able to reach the data
  await chmod(directory, 0o755);
  return directory;
}

export interface HeddleOptions {
  /** A checkout with its packages installed. Default: this one. */
  root?: string;
  isTraced?: boolean;
  /** Directory of the project. Default: `bench/project` of the checkout. */
  project?: string;
  env?: Record<string, string>;
}

/** Starts `heddle dev` on a project. The data directory stays, so that a second start can be measured. */
export async function startHeddle(
  directory: string,
  { root = repository, isTraced = false, project = "bench/project", env = {} }: HeddleOptions = {},
): Promise<ServerUnderTest> {
  const port = await freePort();
  const args = ["cli/bin/heddle.js", "dev", "--config", join(project, "langgraph.json"), "--port", String(port)];
  args.push("--data-dir", join(directory, "data"), "--no-reload", "--no-console");
  if (isTraced) args.push("--trace-port", String(await freePort()));
  else args.push("--no-trace");
  // not "true", which would send the traces to LangSmith as well
  const environment = isTraced ? { LANGSMITH_TRACING: undefined, ...env } : env;
  return start("heddle", [process.execPath, ...args], { cwd: root, port, directory, process: "own", env: environment });
}

export interface TraceUnderTest extends ServerUnderTest {
  pid: number;
  /** Printed when the start created one. */
  firstKey: string;
}

/** Starts the trace platform alone, with a separate data directory, and V8's flags as `heddle dev` and `heddle up` set them. */
export async function startTrace(
  directory: string,
  name: string,
  env: Record<string, string>,
): Promise<TraceUnderTest> {
  const port = await freePort();
  const args = ["cli/bin/heddle.js", "serve", "--role", "trace", "--trace-port", String(port)];
  args.push("--data-dir", join(directory, `data-${name}`));
  const options = { cwd: repository, port, directory, process: "own", env } as const;
  const server = await start(name, [process.execPath, "--max-semi-space-size=32", ...args], options);
  // the key is printed after the port is open
  for (let left = 100; left > 0; left--) {
    const text = await readFile(join(directory, `${name}.log`), "utf8");
    const key = /lsv2_\S+/.exec(text)?.[0];
    if (key !== undefined) return { ...server, pid: server.pid!, firstKey: key };
    await sleep(50);
  }
  await server.stop();
  throw new Error(`${name} printed no key`);
}

export interface ControlUnderTest {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts the control plane alone, without keys; agent servers are its children. */
export async function startControl(directory: string): Promise<ControlUnderTest> {
  const port = await freePort();
  const args = ["cli/bin/heddle.js", "serve", "--role", "control", "--control-port", String(port)];
  args.push("--data-dir", join(directory, "data"));
  const server = await start("control", [process.execPath, ...args], {
    cwd: repository,
    port,
    directory,
    process: "own",
  });
  return { ...server, pid: server.pid! };
}

/** Starts the console alone, before a trace platform. */
export async function startConsole(directory: string, traceUrl: string): Promise<ServerUnderTest> {
  const port = await freePort();
  const args = ["cli/bin/heddle.js", "serve", "--role", "console", "--console-port", String(port)];
  args.push("--trace-url", traceUrl);
  const env = { HEDDLE_CONSOLE_PORT: undefined, HEDDLE_CONSOLE: undefined };
  return await start("console", [process.execPath, ...args], {
    cwd: repository,
    port,
    directory,
    process: "own",
    ready: "/console.json",
    env,
  });
}

/** Starts a standalone gateway, beside the control plane of the same directory. */
export async function startGateway(directory: string): Promise<ControlUnderTest> {
  const port = await freePort();
  const args = ["cli/bin/heddle.js", "serve", "--role", "gateway", "--gateway-port", String(port)];
  args.push("--data-dir", join(directory, "data"));
  const server = await start("gateway", [process.execPath, ...args], {
    cwd: repository,
    port,
    directory,
    process: "own",
  });
  return { ...server, pid: server.pid! };
}

/** Starts LangGraph's JavaScript development server on a copy of the project, because it writes into it. */
export async function startDevServer(directory: string): Promise<ServerUnderTest> {
  const port = await freePort();
  const project = join(directory, "project");
  await cp(join(repository, "bench/project"), project, { recursive: true });
  await symlink(join(repository, "node_modules"), join(project, "node_modules"));
  const command = [join(repository, "node_modules/.bin/langgraphjs"), "dev", "--no-browser", "--port", String(port)];
  return start("dev server", command, { cwd: project, port, directory, process: "largest" });
}

/**
 * Starts LangGraph's development server for Python on a copy of the project.
 * @param environment a Python environment that contains it
 */
export async function startPythonDevServer(
  directory: string,
  source: string,
  environment: string,
): Promise<ServerUnderTest> {
  const port = await freePort();
  const project = join(directory, "python-project");
  await cp(source, project, { recursive: true });
  const command = [join(environment, "bin/langgraph"), "dev", "--no-browser", "--no-reload", "--port", String(port)];
  return start("python dev server", command, { cwd: project, port, directory, process: "largest" });
}

/** Starts Arize Phoenix with its data in SQLite. @param environment a Python environment that contains it */
export async function startPhoenix(
  directory: string,
  name: string,
  environment: string,
  data: string,
): Promise<ServerUnderTest> {
  const port = await freePort();
  await mkdir(data, { recursive: true });
  const env = {
    PHOENIX_WORKING_DIR: data,
    PHOENIX_HOST: "127.0.0.1",
    PHOENIX_PORT: String(port),
    PHOENIX_GRPC_PORT: String(await freePort()),
    PHOENIX_TELEMETRY_ENABLED: "false",
  };
  const command = [join(environment, "bin/phoenix"), "serve"];
  return start(name, command, { cwd: data, port, directory, process: "own", ready: "/healthz", env, startMs: PEER_MS });
}

/** Starts MLflow's tracking server with its data in SQLite. @param environment a Python environment that contains it */
export async function startMlflow(
  directory: string,
  name: string,
  environment: string,
  data: string,
): Promise<ServerUnderTest> {
  const port = await freePort();
  await mkdir(data, { recursive: true });
  const command = [join(environment, "bin/mlflow"), "server", "--host", "127.0.0.1", "--port", String(port)];
  command.push("--backend-store-uri", `sqlite:///${join(data, "mlflow.db")}`);
  command.push("--artifacts-destination", join(data, "artifacts"));
  const env = { MLFLOW_DISABLE_TELEMETRY: "true" };
  return start(name, command, {
    ...{ cwd: data, port, directory, process: "largest", ready: "/health", env, startMs: PEER_MS },
  });
}

interface StartOptions {
  cwd: string;
  port: number;
  directory: string;
  process: ServerUnderTest["process"];
  /** Path that the server answers when it is ready. Default: /ok. */
  ready?: string;
  /** Time in milliseconds within which it must be ready. */
  startMs?: number;
  /** A variable that is undefined here is removed. */
  env?: Record<string, string | undefined>;
}

async function start(name: string, command: string[], options: StartOptions): Promise<ServerUnderTest> {
  const { cwd, port, directory, startMs = START_MS } = options;
  const logFile = join(directory, `${name.replaceAll(" ", "-")}.log`);
  const log = await open(logFile, "a");
  const env = { ...process.env, LANGSMITH_TRACING: "false", LANGGRAPH_CLI_NO_ANALYTICS: "1", ...options.env };
  const started = performance.now();
  // a separate process group, because the development server is a tree of processes
  const child = spawn(command[0]!, command.slice(1), { cwd, env, stdio: ["ignore", log.fd, log.fd], detached: true });
  const exited = new Promise<void>((done) => {
    child.once("error", () => done());
    child.once("exit", () => done());
  });
  await log.close();
  const url = `http://127.0.0.1:${port}`;
  const stop = () => stopGroup(child, exited);
  try {
    while (!(await answersOk(url, options.ready))) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended before it answered /ok`);
      if (performance.now() - started > startMs) throw new Error(`${name} did not answer /ok in ${startMs} ms`);
      await sleep(5);
    }
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}\n${await readFile(logFile, "utf8")}`);
  }
  return { name, url, pid: child.pid!, process: options.process, startMs: performance.now() - started, stop };
}

export const answersOk = (url: string, path = "/ok"): Promise<boolean> =>
  fetch(url + path).then(
    async (response) => (await response.text(), response.ok),
    () => false,
  );

async function stopGroup(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.pid === undefined) return;
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
  const ended = await Promise.race([exited.then(() => true), sleep(STOP_MS, false, { ref: false })]);
  // kill leftovers of the group, which no longer exists when there are none
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {}
  if (!ended) await exited;
}

export const removeDirectory = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true });
