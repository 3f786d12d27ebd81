import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { chmod, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { freePort } from "../test/free-port.ts";
import { searchSecrets } from "./secrets.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
/** Generous: scripts run where other work does. */
const START_MS = 180_000;
const STOP_MS = 20_000;

export interface RunningServer {
  url: string;
  /** The server's data directory. */
  directory: string;
  /** Returns its output so far. */
  printed(): Promise<string>;
  /**
   * Stops it, and fails when a secret of the run is found in what it has stored or logged.
   * @param options.withArchive whether to make a backup, and search that too
   */
  stop(options?: { withArchive?: boolean }): Promise<void>;
}

/**
 * Project whose graphs the suite calls. `HEDDLE_CONFORMANCE_LANGUAGE=python` selects the twins in Python, which run with
 * the interpreter of `HEDDLE_PYTHON`.
 */
export const isPython = process.env["HEDDLE_CONFORMANCE_LANGUAGE"] === "python";

/** Returns the directory of a project; `HEDDLE_CONFORMANCE_PROJECTS` is a copy of them, with its own packages. */
export const projectDirectory = (name: string): string =>
  join(process.env["HEDDLE_CONFORMANCE_PROJECTS"] ?? "conformance", isPython ? `${name}-python` : name);

const configOf = (name: string): string => join(projectDirectory(name), "langgraph.json");

/** Starts `heddle dev` on the suite's own graphs, as a user would, with fresh data. */
export const startServer = (): Promise<RunningServer> =>
  start((port) => ["dev", "--config", configOf("project"), "--port", port, "--no-trace"]);

/** Starts `heddle dev` on another project. */
export const startProject = (config: string, settings: Record<string, string> = {}): Promise<RunningServer> =>
  start((port) => ["dev", "--config", config, "--port", port, "--no-trace"], { HEDDLE_HOSTS: "1", ...settings });

/** Starts `heddle dev` on another project of the suite, in the language of the suite. */
export const startOwnProject = (name: string, settings: Record<string, string> = {}): Promise<RunningServer> =>
  startProject(configOf(name), settings);

/** Starts `heddle dev` on the example graphs. */
export const startExamples = (settings: Record<string, string>): Promise<RunningServer> =>
  start((port) => ["dev", "--config", "examples/langgraph.json", "--port", port, "--no-trace"], {
    HEDDLE_CONSOLE: "false",
    ...settings,
  });

/** Starts only the trace platform, with fresh data. */
export const startTraces = (): Promise<RunningServer> =>
  start((port) => ["serve", "--role", "trace", "--trace-port", port]);

/** Starts only the trace platform, for a network: every request needs a key. */
export async function startLockedTraces(
  settings: Record<string, string> = {},
): Promise<RunningServer & { key: string }> {
  const server = await start((port) => ["serve", "--role", "trace", "--trace-port", port], {
    HEDDLE_AUTH: "required",
    ...settings,
  });
  const deadline = Date.now() + START_MS;
  for (;;) {
    const key = /lsv2_sk_\w+/.exec(await server.printed())?.[0];
    if (key !== undefined) return { ...server, key };
    if (Date.now() > deadline) throw new Error("the server printed no key");
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Starts `heddle dev` with its trace platform, on graphs whose traces are tested. */
export async function startTracedServer(
  settings: Record<string, string> = {},
): Promise<RunningServer & { tracesUrl: string }> {
  const tracePort = String(await freePort());
  const config = "conformance/traces/project/langgraph.json";
  const server = await start((port) => ["dev", "--config", config, "--port", port, "--trace-port", tracePort], {
    HEDDLE_HOSTS: "1",
    ...settings,
  });
  return { ...server, tracesUrl: `http://127.0.0.1:${tracePort}` };
}

/** Starts the same for a network: every request needs a key. */
export const startLockedServer = (): Promise<RunningServer> =>
  start((port) => ["dev", "--config", configOf("project"), "--port", port, "--no-trace"], {
    HEDDLE_AUTH: "required",
  });

/** Starts any of heddle's serving commands. */
async function start(
  command: (port: string) => string[],
  settings: Record<string, string> = {},
): Promise<RunningServer> {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), "heddle-conformance-"));
  // Postgres does not run as root, and its user needs access to the data directory.
  await chmod(directory, 0o755);
  const logFile = join(directory, "server.log");
  const log = await open(logFile, "w");
  const args = ["cli/bin/heddle.js", ...command(String(port)), "--data-dir", join(directory, "data")];
  const spans = await collectSpans(join(directory, "spans"));
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: spans.url, ...settings };
  const child = spawn(process.execPath, args, { cwd: repository, stdio: ["ignore", log.fd, log.fd], env });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  await log.close();

  const url = `http://127.0.0.1:${port}`;
  const data = join(directory, "data");
  try {
    await untilOk(url, child);
  } catch (error) {
    await stop(child, exited).finally(() => spans.close());
    throw new Error(`${(error as Error).message}\n${await readFile(logFile, "utf8")}`);
  }
  return {
    url,
    directory: data,
    printed: () => readFile(logFile, "utf8"),
    stop: async ({ withArchive = false } = {}) => {
      const search = searchSecrets({ directory: data, pid: child.pid!, urls: [url], spans: spans.file, withArchive });
      const found = child.exitCode === null ? await search.running() : [];
      await stop(child, exited).finally(() => spans.close());
      // the banner shows the first key
      const lines = (await readFile(logFile, "utf8")).split("\n").filter((line) => line.startsWith("{"));
      found.push(...(await search.stopped(lines.join("\n"))));
      if (found.length > 0) throw new Error(`secrets of the run were found:\n${found.slice(0, 20).join("\n")}`);
      if (process.env["HEDDLE_CONFORMANCE_KEEP"]) console.log(`server log: ${logFile}`);
      else await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Receives the spans that a server exports about itself, into a file. */
async function collectSpans(file: string): Promise<{ url: string; file: string; close(): void }> {
  const output = createWriteStream(file);
  const server = createHttpServer((request, response) => {
    request.pipe(output, { end: false });
    request.on("end", () => response.end());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    file,
    close() {
      server.closeAllConnections();
      server.close();
      output.end();
    },
  };
}

async function untilOk(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the server ended with ${child.exitCode ?? child.signalCode} before it answered /ok`);
    const ok = await fetch(`${url}/ok`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > deadline) throw new Error(`the server did not answer /ok within ${START_MS} ms`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Stops a server; throws when it has to be killed, which is a defect. */
async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await exited;
  clearTimeout(timer);
  if (child.signalCode === "SIGKILL") throw new Error(`the server was still there ${STOP_MS} ms after SIGTERM`);
}
