/** Programs that use the official clients: their packages are installed once, and they print one JSON line a check. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Directory of the programs. */
const CHECKS = fileURLToPath(new URL("../../conformance/langsmith", import.meta.url));
export const SKIPPED = 77;
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", "langsmith-clients");
const RUN_MS = 240_000;

export type Registry = "npm" | "pypi";

export interface Client {
  registry: Registry;
  /** Unique; part of a directory's name. */
  name: string;
  /** Packages with their versions, as the registry's own client takes them. */
  packages: readonly string[];
}

export interface Check {
  name: string;
  error: string | null;
  absent: boolean;
}

/** Returns whether the client is in the cache, after installing it if it was not. */
export function installClient({ registry, name, packages }: Client): boolean {
  const directory = join(CACHE, name);
  const isComplete = join(directory, "complete");
  if (existsSync(isComplete)) return true;
  mkdirSync(directory, { recursive: true });
  const steps: [string, string[]][] =
    registry === "npm"
      ? [["npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact", ...packages]]]
      : [
          ["python3", ["-m", "venv", "--clear", directory]],
          [join(directory, "bin", "pip"), ["install", "--quiet", "--disable-pip-version-check", ...packages]],
        ];
  if (registry === "npm") writeFileSync(join(directory, "package.json"), '{"private":true,"type":"module"}\n');
  for (const [command, args] of steps) {
    const { status, stderr } = spawnSync(command, args, { cwd: directory, encoding: "utf8", timeout: RUN_MS });
    if (status === 0) continue;
    console.error(`${name} cannot be installed:\n${stderr?.slice(-1000)}`);
    return false;
  }
  writeFileSync(isComplete, "");
  return true;
}

/** Runs the program of the client's language in its directory: `NAME.mjs` or `NAME.py`. Returns its JSON lines. */
export async function runProgram<Line>(
  { registry, name }: Client,
  { npm, pypi }: Record<Registry, string>,
  { env, args = [] }: { env: Record<string, string>; args?: string[] },
): Promise<{ lines: Line[]; errors: string; code: number | null }> {
  const cwd = join(CACHE, name);
  const [command, program] =
    registry === "npm" ? [process.execPath, join(CHECKS, npm)] : [join(cwd, "bin", "python"), join(CHECKS, pypi)];
  const child = spawn(command, [program, ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_MS,
  });
  const [out, errors] = [child.stdout, child.stderr].map((stream) => {
    const text = { all: "" };
    stream.setEncoding("utf8").on("data", (chunk: string) => void (text.all += chunk));
    return text;
  }) as [{ all: string }, { all: string }];
  const code = await new Promise<number | null>((done) => child.once("close", done));
  const lines = out.all
    .split("\n")
    .filter((line) => line.startsWith('{"name"'))
    .map((line) => JSON.parse(line) as Line);
  return { lines, errors: errors.all, code };
}
