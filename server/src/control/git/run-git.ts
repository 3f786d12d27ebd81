import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

import { coerceError } from "../../base/errors.ts";
import { BuildError } from "../drivers/driver.ts";

export interface GitOrder {
  /** Path of the git program. */
  git: string;
  args: string[];
  directory: string;
  /** Additional configuration. May hold credentials, so it is passed in the environment, which only git sees. */
  config: [name: string, value: string][];
  /** Transports that git may use: `https`, `http`, `file`, or none. */
  protocol: string;
  /** Additional environment variables. */
  environment?: Record<string, string>;
  signal: AbortSignal;
  seconds: number;
  /** Largest file that git may write. */
  maxFileBytes: number;
  /** Receives lines of stderr. */
  onMessage?: (line: string) => void;
  /** Consumes stdout; by default it is returned as text, of at most 1 MiB. */
  onOutput?: (output: Readable) => Promise<void>;
}

/** git exited with an error. */
export class GitError extends Error {
  override name = "GitError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Shell wrapper as in builds/run-command.ts: a process group with a guard that kills it when this process dies in any
 * way. Caller input is passed as arguments, never as command text.
 */
const GUARDED =
  'ulimit -f "$1"; ulimit -v 8388608; shift; exec 3<&0; { cat <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-; "$@" </dev/null';

/**
 * Disables hooks, helpers, submodules, other hosts and prompts, whatever a repository or the machine's configuration
 * sets.
 */
const SAFE: [string, string][] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["credential.helper", ""],
  // a redirect would lead to an unchecked host; this also disables alternates of dumb servers
  ["http.followRedirects", "false"],
  ["http.proxy", ""],
  ["http.lowSpeedLimit", "100"],
  ["http.lowSpeedTime", "30"],
  ["transfer.bundleURI", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["submodule.recurse", "false"],
  // always one pack, so that the limit per file limits the whole
  ["fetch.unpackLimit", "1"],
  ["core.bigFileThreshold", "16m"],
  ["pack.threads", "1"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["protocol.version", "2"],
];

const OUTPUT_BYTES = 1024 * 1024;
const MESSAGES = 40;

/** @returns stdout. Throws GitError, BuildError when a limit was exceeded, or the signal's abort reason. */
export async function runGit(order: GitOrder): Promise<string> {
  const { signal, seconds } = order;
  signal.throwIfAborted();
  const blocks = String(Math.ceil(order.maxFileBytes / 512));
  const child = spawn("/bin/sh", ["-c", GUARDED, "sh", blocks, order.git, ...order.args], {
    cwd: order.directory,
    env: environmentOf(order),
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  let failure: Error | undefined;
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // already gone
    }
  };
  const end = (reason: unknown) => {
    failure ??= coerceError(reason);
    kill();
  };
  const onAbort = () => end(signal.reason);
  signal.addEventListener("abort", onAbort);
  const timer = setTimeout(
    () => end(new BuildError(`The Git server took longer than ${seconds} s (HEDDLE_GIT_SECONDS).`)),
    seconds * 1000,
  );
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 137));
  });
  const messages: string[] = [];
  const listening = listen(child.stderr, (line) => {
    messages.push(line);
    if (messages.length > MESSAGES) messages.shift();
    order.onMessage?.(line);
  });
  let text = "";
  const reading = (order.onOutput ?? readText)(child.stdout).catch(end);
  async function readText(output: Readable): Promise<void> {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      text += chunk.toString("utf8");
      if (text.length > OUTPUT_BYTES) throw new BuildError("The output of git exceeds the limit.");
    }
  }
  try {
    const code = await exited;
    kill();
    await Promise.all([listening, reading]);
    if (failure !== undefined) throw failure;
    if (code === 0) return text;
    throw new GitError(code, messages.filter((line) => !/^(hint|warning):/.test(line)).join("\n"));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    kill();
  }
}

function environmentOf({ config, protocol, directory, environment }: GitOrder): Record<string, string> {
  const all = [...SAFE, ...config];
  return {
    // oxlint-disable-next-line node/no-process-env -- where programs are
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: directory,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_SSH_COMMAND: "false",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_ALLOW_PROTOCOL: protocol,
    ...environment,
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

const LONGEST = 2000;

async function listen(stream: Readable, tell: (line: string) => void): Promise<void> {
  let rest = "";
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const parts = (rest + chunk.toString("utf8")).split(/\r?\n|\r/);
      rest = parts.pop()!.slice(0, LONGEST);
      for (const line of parts) if (line.trim() !== "") tell(line.trim().slice(0, LONGEST));
    }
    if (rest.trim() !== "") tell(rest.trim());
  } catch {
    // the pipe broke with the process; its exit code shows the cause
  }
}
