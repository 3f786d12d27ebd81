/** Creates Python environments of given versions, with uv if it can be installed, otherwise with venv and pip. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const UV = "0.9.0";
const INSTALL_MS = 300_000;

/** Returns the interpreter of a version, such as "3.12": `python3.12` of the PATH, or the newest of pyenv. */
export function findPython(version: string): string | undefined {
  const pyenv = join(homedir(), ".pyenv", "versions");
  const installed = (existsSync(pyenv) ? readdirSync(pyenv) : []).filter((name) => name.startsWith(`${version}.`));
  const newestFirst = installed.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
  const candidates = [`python${version}`, ...newestFirst.map((name) => join(pyenv, name, "bin", "python"))];
  // a shim of pyenv is on the PATH even if it selects no version
  const print = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)";
  for (const candidate of candidates) {
    const { status, stdout } = spawnSync(candidate, ["-c", print], { encoding: "utf8" });
    const [found, executable] = status === 0 ? stdout.trim().split(" ") : [];
    if (found === version) return executable;
  }
  return undefined;
}

/**
 * Creates an environment in `directory` and installs packages into it.
 * @returns its interpreter
 * @throws an error with the installer's message
 */
export function createEnvironment(directory: string, interpreter: string, packages: string[]): string {
  const python = join(directory, "bin", "python");
  const uv = installUv(interpreter);
  if (uv) {
    runInstaller(uv, ["venv", "--quiet", "--python", interpreter, directory]);
    runInstaller(uv, ["pip", "install", "--quiet", "--python", python, ...packages]);
  } else {
    runInstaller(interpreter, ["-m", "venv", directory]);
    runInstaller(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages]);
  }
  return python;
}

/** Returns the versions of packages in an environment; a package that it lacks is missing in the result. */
export function installedVersions(python: string, packages: string[]): Record<string, string> {
  const script =
    "import sys, json, importlib.metadata as m\n" +
    "found = {d.metadata['Name']: d.version for d in m.distributions()}\n" +
    "print(json.dumps({name: found[name] for name in sys.argv[1:] if name in found}))";
  const { status, stdout, stderr } = spawnSync(python, ["-c", script, ...packages], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, string>;
}

/** Returns uv of the cache directory, installed there with pip; undefined when that fails. */
export function installUv(interpreter: string): string | undefined {
  const target = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", `uv-${UV}`);
  const uv = join(target, "bin", "uv");
  if (existsSync(uv)) return uv;
  const args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", target, `uv==${UV}`];
  const { status } = spawnSync(interpreter, args, { stdio: "ignore", timeout: INSTALL_MS });
  return status === 0 && existsSync(uv) ? uv : undefined;
}

/** Runs a command in a directory. @throws an error with the end of its output */
export function runInstaller(command: string, args: string[], cwd?: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: INSTALL_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stderr?.slice(-2000)}`);
}
