/**
 * Finds the Python interpreter of a project: the one of its environment, which has its packages. Explains what is
 * missing, with the command that provides it.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { isOlder } from "./is-older.ts";

const OLDEST_PYTHON = "3.10";
const OLDEST_LANGGRAPH = "0.6.0";
const PROBE_MS = 20_000;

/** Prints what a project's graphs need. importlib.metadata reads no package's code. */
const PROBE = `
import json, sys
from importlib import metadata
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
print("\\n" + json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "executable": sys.executable,
    "langgraph": version("langgraph"), "site": next((p for p in sys.path if p.endswith("site-packages")), None)}))
`;

export interface Interpreter {
  /** Absolute path. */
  executable: string;
  /** Version of Python. */
  python: string;
  /** Installed version of LangGraph; null where there is none. */
  langgraph: string | null;
  /** Directory of installed packages, which changes when packages are installed. */
  site: string | null;
}

export interface InterpreterSearch {
  /** The project's directory. */
  dir: string;
  /** Further directories of the project that may contain its environment. */
  packages?: readonly string[];
  /** Interpreter that a setting names; no other is tried. */
  configured?: string | undefined;
  environment: Record<string, string | undefined>;
}

export type FoundInterpreter = { interpreter: Interpreter } | { problem: string };

/**
 * Finds the interpreter: the configured one; else the first with a supported LangGraph among the active environment,
 * `.venv` and `venv` of the project and of the directories above it, and `python3` of PATH.
 */
export async function findInterpreter(search: InterpreterSearch): Promise<FoundInterpreter> {
  const candidates = candidatesOf(search);
  const problems: string[] = [];
  const tried = new Set<string>();
  for (const command of candidates) {
    if (command.includes("/") && !existsSync(command)) continue;
    const probed = await probe(command, search);
    if (typeof probed === "string") {
      if (search.configured !== undefined) return { problem: `HEDDLE_PYTHON: ${command} ${probed}.` };
      continue;
    }
    if (tried.has(probed.executable)) continue;
    tried.add(probed.executable);
    const problem = problemOf(probed, search);
    if (problem === undefined) return { interpreter: probed };
    problems.push(problem);
  }
  if (search.configured !== undefined && problems.length === 0)
    return { problem: `HEDDLE_PYTHON names ${search.configured}, which does not exist.` };
  return {
    problem:
      problems[0] ??
      `No Python interpreter was found for ${search.dir}. Install Python ${OLDEST_PYTHON} or newer and the project's ` +
        `packages:\n  ${installAdvice(search.dir)}\nor name an interpreter with HEDDLE_PYTHON.`,
  };
}

function candidatesOf({ dir, packages = [], configured, environment }: InterpreterSearch): string[] {
  if (configured !== undefined) return [configured.includes("/") ? resolve(configured) : configured];
  const active = [environment["VIRTUAL_ENV"], environment["UV_PROJECT_ENVIRONMENT"], environment["CONDA_PREFIX"]];
  const found = active.filter((prefix) => prefix !== undefined && prefix !== "").map((prefix) => resolve(dir, prefix!));
  for (const at of [dir, ...packages.map((path) => resolve(dir, path)), ...above(dir)])
    found.push(join(at, ".venv"), join(at, "venv"));
  return [...found.map((prefix) => join(prefix, "bin", "python")), "python3", "python"];
}

/** Directories above the project, up to its repository: a workspace of uv has one environment at its root. */
function* above(dir: string): Generator<string> {
  for (let at = dir; !existsSync(join(at, ".git")) && dirname(at) !== at;) {
    at = dirname(at);
    yield at;
  }
}

/** Starts an interpreter, in the project's directory, where pyenv finds its .python-version. */
function probe(command: string, { dir, environment }: InterpreterSearch): Promise<Interpreter | string> {
  return new Promise((done) => {
    const options = { cwd: dir, env: environment as NodeJS.ProcessEnv, timeout: PROBE_MS, encoding: "utf8" as const };
    execFile(command, ["-c", PROBE], options, (error, stdout, stderr) => {
      try {
        done(JSON.parse(stdout.trim().split("\n").at(-1)!) as Interpreter);
      } catch {
        done(`could not be started: ${stderr.trim().split("\n").at(-1) || error?.message || "it printed nothing"}`);
      }
    });
  });
}

function problemOf({ executable, python, langgraph }: Interpreter, { dir }: InterpreterSearch): string | undefined {
  if (isOlder(python, OLDEST_PYTHON)) {
    return (
      `${executable} is Python ${python}, but graphs need ${OLDEST_PYTHON} or newer. Create an environment with a ` +
      `newer one:\n  ${installAdvice(dir)}\nor name an interpreter with HEDDLE_PYTHON.`
    );
  }
  if (langgraph === null) {
    return `${executable} (Python ${python}) has no langgraph. Install the project's packages in ${dir}:\n  ${installAdvice(dir)}`;
  }
  if (isOlder(langgraph, OLDEST_LANGGRAPH)) {
    return (
      `langgraph ${langgraph} in ${executable} is not supported, needs ${OLDEST_LANGGRAPH} or newer. Run:\n` +
      `  ${upgradeAdvice(dir, executable)}`
    );
  }
  return undefined;
}

/** Returns the command that creates the project's environment, after the files it has. */
function installAdvice(dir: string): string {
  const has = (name: string) => existsSync(join(dir, name));
  const inRepository = [dir, ...above(dir)];
  if (inRepository.some((at) => existsSync(join(at, "uv.lock")))) return "uv sync";
  if (has("poetry.lock")) return "POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install";
  if (has("Pipfile.lock")) return "PIPENV_VENV_IN_PROJECT=1 pipenv install";
  const what = has("requirements.txt")
    ? "-r requirements.txt"
    : has("pyproject.toml") || has("setup.py")
      ? "-e ."
      : "langgraph";
  return `python3 -m venv .venv && .venv/bin/pip install ${what}`;
}

function upgradeAdvice(dir: string, executable: string): string {
  if ([dir, ...above(dir)].some((at) => existsSync(join(at, "uv.lock"))))
    return `uv add 'langgraph>=${OLDEST_LANGGRAPH}'`;
  return `${executable} -m pip install 'langgraph>=${OLDEST_LANGGRAPH}'`;
}
