import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { ProcessCommand } from "./code-process.ts";
import { findPython } from "./find-python.ts";

export type Language = "javascript" | "python";

/** Largest value that code may return, as JSON, in characters. */
const MAX_VALUE = 1024 * 1024;
/** Bytes of `console` and `print` that are kept. */
const MAX_LOGS = 64 * 1024;
/** Characters of an error with its lines. */
const MAX_MESSAGE = 8 * 1024;
/** A character may take six bytes, escaped. */
const MAX_REPLY = 6 * (MAX_VALUE + MAX_LOGS + MAX_MESSAGE) + 1024;
/** Heap of the process around QuickJS, whose memory is separate, in MiB. */
const HEAP_MB = 160;

export interface LanguageOptions {
  /** Empty directory. */
  cwd: string;
  memoryBytes: number;
  seconds: number;
  isConfined: boolean;
  python: string;
  /** Whether code may send requests. */
  hasNetwork: boolean;
}

/** Returns the command that starts a process for a language. Throws with the reason if there is none. */
export async function commandFor(language: Language, options: LanguageOptions): Promise<ProcessCommand> {
  const limits = {
    maxValue: MAX_VALUE,
    maxLogs: MAX_LOGS,
    maxMessage: MAX_MESSAGE,
    memoryBytes: options.memoryBytes,
    network: options.hasNetwork,
  };
  const common = { cwd: options.cwd, maxReply: MAX_REPLY };
  if (language === "javascript") {
    const args = [...nodeFlags(), file("javascript-process.mjs"), JSON.stringify(limits)];
    return { ...common, program: process.execPath, args };
  }
  const program = await findPython(options.python);
  const order = JSON.stringify({ ...limits, seconds: options.seconds, confined: options.isConfined });
  // isolated from the environment and the user's files, without site-packages, and without writing caches
  return { ...common, program, args: ["-I", "-S", "-B", file("python_process.py"), order] };
}

/** The directory may be a link, and Node.js resolves links before it asks whether a file may be read. */
const programs = () => realpathSync(fileURLToPath(new URL("interpreters", import.meta.url)));
const file = (name: string) => join(programs(), name);

/** The process reads its own files, and nothing else, starts nothing, and loads no native code. */
function nodeFlags(): string[] {
  const permission = ["--permission", "--experimental-permission"].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  const quickjs = dirname(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm"));
  const readable = [join(programs(), "*"), join(quickjs, "*")];
  const heap = [`--max-old-space-size=${HEAP_MB}`, "--max-semi-space-size=2", "--no-warnings", "--no-addons"];
  if (!permission) return heap;
  return [...heap, permission, "--allow-worker", ...readable.map((path) => `--allow-fs-read=${path}`)];
}
