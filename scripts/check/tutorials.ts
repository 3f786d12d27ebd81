/**
 * Follows tutorials as a reader would, block by block, in an empty directory:
 *
 *     node --import tsx scripts/check/tutorials.ts [--heddle PROGRAM] [--linked] [--jobs N] [FILE …]
 *
 * Without files, all of docs/tutorials. The README of an example (a file beside a langgraph.json) is followed in a copy
 * of its directory. PROGRAM is the `heddle` command to use, such as that of an installed package; default: the one of
 * this clone. `--linked` saves time: the packages are those of this clone, blocks that install others are left out, and
 * servers have one host and no console. `--jobs` follows N files at once. Ports are free ones instead of the defaults.
 * What blocks mean, by their info string:
 *
 * - `LANG file=PATH` is the content of a file of the current directory.
 * - `sh` is typed into the first terminal, whose variables and directory last. It must end with 0.
 * - `sh install` is the same, and installs packages.
 * - `sh terminal=NAME [in=DIR]` is a separate terminal in the current directory, with a program that keeps running;
 *   the same name again, or `stop`, presses Ctrl-C in it first.
 * - `text` is what the block before prints: each line, in this order, where `…` stands for anything.
 * - Blocks without a language, such as those that name the reader's registry, are not executed.
 *
 * A tutorial whose first executed block has `needs=cluster` is skipped here; test/kubernetes/tutorial.kubernetes.test.ts
 * follows it, on the ports that it names.
 *
 * Prints a line per block, and exits with 1 when a tutorial does not hold.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  chmodSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { freePort } from "../../server/src/base/free-port.ts";
import { trackedFiles } from "./tracked-files.mjs";

export interface Block {
  language: string;
  info: Record<string, string>;
  text: string;
  line: number;
}

/** Reads the fenced blocks of a Markdown text. */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^```(\S*)\s*(.*)$/.exec(line);
    if (!fence) {
      if (open) open.text += `${line}\n`;
    } else if (open) {
      blocks.push(open);
      open = undefined;
    } else {
      const words = fence[2]!.split(" ").filter(Boolean);
      const info = Object.fromEntries(words.map((word) => [word.split("=")[0]!, word.split("=")[1] ?? "true"]));
      open = { language: fence[1]!, info, text: "", line: index + 1 };
    }
  }
  return blocks;
}

/** @returns the first expected line that does not follow in the output; undefined when all do */
export function missingLine(expected: string, output: string): string | undefined {
  let at = 0;
  for (const line of expected.split("\n").filter(Boolean)) {
    const pattern = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const found = new RegExp(pattern.join("[^\\n]*?")).exec(output.slice(at));
    if (!found) return line;
    at += found.index + found[0].length;
  }
  return undefined;
}

const BLOCK_MS = 300_000;
const READY_MS = 180_000;

/** A shell that is typed into. */
class Terminal {
  readonly #shell: ChildProcess;
  output = "";

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#shell = spawn("bash", [], { cwd, env, detached: true });
    for (const stream of [this.#shell.stdout!, this.#shell.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    }
  }

  type(text: string): void {
    this.#shell.stdin!.write(`${text}\n`);
  }

  /** Types a block and waits for its end. @returns its output, its exit code, and the directory afterwards */
  async run(text: string, blockMs: number): Promise<{ output: string; code: number; cwd: string }> {
    const start = this.output.length;
    this.type(`${text}\necho "--ended-- $? $PWD"`);
    const deadline = Date.now() + blockMs;
    for (;;) {
      const output = this.output.slice(start);
      const end = /--ended-- (\d+) (.*)\n/.exec(output);
      if (end) return { output: output.slice(0, end.index), code: Number(end[1]), cwd: end[2]! };
      if (Date.now() > deadline || this.#shell.exitCode !== null) throw new Error(`does not end:\n${output}`);
      await sleep(50);
    }
  }

  /** Ctrl-C, and the end of the shell. */
  async stop(): Promise<void> {
    const exited = new Promise((done) => this.#shell.once("exit", done));
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return;
    this.#signal("SIGINT");
    this.#shell.stdin!.end();
    const hung = setTimeout(() => this.#signal("SIGKILL"), 20_000);
    await exited;
    clearTimeout(hung);
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#shell.pid!, signal);
    } catch {
      // it has ended
    }
  }
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PORTS = {
  HEDDLE_AGENT_PORT: 2024,
  HEDDLE_TRACE_PORT: 1984,
  HEDDLE_CONSOLE_PORT: 3000,
  HEDDLE_CONTROL_PORT: 2026,
  // a program beside the platform, such as the receiver of webhooks
  RECEIVER_PORT: 4000,
  // of a server that is not Heddle's
  TUTORIAL_OTHER_PORT: 2025,
};

/** What a tutorial's first executed block says that it needs, such as a cluster. */
export const readNeeds = (file: string): string | undefined =>
  readBlocks(readFileSync(file, "utf8")).find(({ language }) => language !== "")?.info["needs"];

/** Copies an example as a reader does who takes its directory out of the repository. */
function copyExample(from: string, to: string): void {
  for (const path of trackedFiles(from)) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(from, path), join(to, path));
  }
}

interface FollowOptions {
  /** Path of the `heddle` command. */
  heddle: string;
  /** Whether packages are those of this clone, and blocks that install some are left out. */
  isLinked?: boolean;
  /** Variables of the terminals besides those of this process. */
  variables?: NodeJS.ProcessEnv;
  /** Paths of further programs, by the names under which they are called. */
  programs?: Record<string, string>;
  /** Whether the ports are those in the text. Default: free ones. */
  hasFixedPorts?: boolean;
  /** Longest time of a block. Default: five minutes. */
  blockMs?: number;
}

/** Follows one tutorial. @throws at the first block that does not hold */
export async function follow(
  file: string,
  { heddle, isLinked = false, variables = {}, programs = {}, hasFixedPorts = false, blockMs = BLOCK_MS }: FollowOptions,
): Promise<void> {
  const isExample = existsSync(join(dirname(file), "langgraph.json"));
  const directory = mkdtempSync(join(tmpdir(), "heddle-tutorial-"));
  // Postgres does not run as root, and its user needs access to its data
  chmodSync(directory, 0o755);
  const bin = join(directory, ".bin");
  mkdirSync(bin);
  for (const [name, path] of Object.entries({ heddle, ...programs })) symlinkSync(path, join(bin, name));
  const ports: Record<string, string> = {};
  for (const [name, port] of Object.entries(PORTS)) ports[name] = String(hasFixedPorts ? port : await freePort());
  const withPorts = (text: string) =>
    Object.entries(PORTS).reduce(
      (all, [name, port]) => all.replaceAll(new RegExp(`(?<=:|--port )${port}\\b`, "g"), ports[name]!),
      text,
    );
  const env = {
    ...process.env,
    ...ports,
    LANGGRAPH_CLI_NO_ANALYTICS: "1",
    // compiled sources are without the templates of new projects
    ...(!isExample && { HEDDLE_COMPILED_SOURCES: "" }),
    ...(isLinked && { HEDDLE_HOSTS: "1", HEDDLE_CONSOLE: "false" }),
    HEDDLE_TRACE_URL: `http://127.0.0.1:${ports["HEDDLE_TRACE_PORT"]}`,
    HEDDLE_CONTROL_URL: `http://127.0.0.1:${ports["HEDDLE_CONTROL_PORT"]}`,
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    ...variables,
  };
  const work = join(directory, "work");
  mkdirSync(work);
  const label = isExample ? `${basename(dirname(file))}/${basename(file)}` : basename(file);
  if (isExample) copyExample(dirname(file), work);
  if (isLinked) symlinkSync(join(ROOT, "node_modules"), join(work, "node_modules"));
  const first = new Terminal(work, env);
  const others = new Map<string, Terminal>();
  let cwd = work;
  let before: { output: string } | { terminal: Terminal } | undefined;
  try {
    for (const { language, info, text, line } of readBlocks(readFileSync(file, "utf8"))) {
      const { file: path, terminal: name } = info;
      if (isLinked && info["install"] !== undefined) continue;
      const startedAt = performance.now();
      const fail = (why: string): never => {
        throw new Error(`${file}:${line}: ${why}`);
      };
      if (path !== undefined) {
        mkdirSync(dirname(join(cwd, path)), { recursive: true });
        writeFileSync(join(cwd, path), withPorts(text));
      } else if (language === "sh" && name !== undefined) {
        await others.get(name)?.stop();
        if (info["stop"] === undefined) {
          const terminal = new Terminal(resolve(cwd, info["in"] ?? "."), env);
          terminal.type(withPorts(text));
          others.set(name, terminal);
          before = { terminal };
        }
      } else if (language === "sh") {
        const ended = await first.run(withPorts(text), blockMs).catch((error: Error) => fail(error.message));
        if (ended.code !== 0) fail(`ended with ${ended.code}:\n${ended.output}`);
        cwd = ended.cwd;
        before = ended;
      } else if (language === "text" && before) {
        const shown = () => (before && "terminal" in before ? before.terminal.output : (before?.output ?? ""));
        const deadline = Date.now() + ("terminal" in before ? READY_MS : 0);
        for (;;) {
          const missing = missingLine(withPorts(text), shown());
          if (missing === undefined) break;
          if (Date.now() > deadline) fail(`"${missing}" does not follow in:\n${shown()}`);
          await sleep(100);
        }
      } else continue;
      console.log(`${label}:${line} ok (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
    }
  } finally {
    const stoppedAt = performance.now();
    await Promise.all([first, ...others.values()].map((terminal) => terminal.stop()));
    console.log(`${label} stopped (${((performance.now() - stoppedAt) / 1000).toFixed(1)} s)`);
    // a database that was killed may still write
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      heddle: { type: "string" },
      linked: { type: "boolean", default: false },
      jobs: { type: "string", default: "1" },
    },
  });
  const options = { heddle: resolve(values.heddle ?? join(ROOT, "cli/bin/heddle.js")), isLinked: values.linked };
  const all = () => readdirSync(join(ROOT, "docs/tutorials")).map((name) => join(ROOT, "docs/tutorials", name));
  const files = positionals.length > 0 ? positionals.map((name) => resolve(name)) : all();
  const work = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const needs = readNeeds(file);
      if (needs !== undefined) {
        console.log(`${basename(file)} skipped: needs a ${needs} (scripts/services/kubernetes-suite.ts)`);
        continue;
      }
      try {
        await follow(file, options);
      } catch (error) {
        console.error((error as Error).message);
        process.exitCode = 1;
      }
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}
