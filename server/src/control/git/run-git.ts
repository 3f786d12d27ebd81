import type { Readable } from "node:stream";

import { GUARD, runProcessGroup } from "../../base/process-group.ts";
import { BuildError } from "../builds/build-error.ts";

export interface GitParams {
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

/** git runs after the guard of its process group. Caller input is passed as arguments, never as command text. */
const GUARDED = `ulimit -f "$1"; ulimit -v 8388608; shift; ${GUARD} "$@" </dev/null`;

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
/** Exit code of a shell for a command that SIGKILL ended. */
const KILLED = 137;

/** @returns stdout. Throws GitError, BuildError when a limit was exceeded, or the signal's abort reason. */
export async function runGit(params: GitParams): Promise<string> {
  const { signal, seconds } = params;
  const blocks = String(Math.ceil(params.maxFileBytes / 512));
  const messages: string[] = [];
  const collect = (line: string) => {
    messages.push(line);
    if (messages.length > MESSAGES) messages.shift();
    params.onMessage?.(line);
  };
  let text = "";
  const collectText = async (output: Readable): Promise<void> => {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      text += chunk.toString("utf8");
      if (text.length > OUTPUT_BYTES) throw new BuildError("The output of git exceeds the limit.");
    }
  };
  const { code } = await runProcessGroup(
    ["/bin/sh", "-c", GUARDED, "sh", blocks, params.git, ...params.args],
    {
      cwd: params.directory,
      env: gitEnvironment(params),
      signal,
      limitMs: seconds * 1000,
      onTimeout: () => new BuildError(`The Git server took longer than ${seconds} s (HEDDLE_GIT_SECONDS).`),
    },
    (child, end) =>
      Promise.all([readLines(child.stderr, collect), (params.onOutput ?? collectText)(child.stdout).catch(end)]),
  );
  if (code === 0) return text;
  throw new GitError(code ?? KILLED, messages.filter((line) => !/^(hint|warning):/.test(line)).join("\n"));
}

function gitEnvironment({ config, protocol, directory, environment }: GitParams): Record<string, string> {
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

async function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  let rest = "";
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const parts = (rest + chunk.toString("utf8")).split(/\r?\n|\r/);
      rest = parts.pop()!.slice(0, LONGEST);
      for (const line of parts) if (line.trim() !== "") onLine(line.trim().slice(0, LONGEST));
    }
    if (rest.trim() !== "") onLine(rest.trim());
  } catch {
    // the pipe broke with the process; its exit code shows the cause
  }
}
