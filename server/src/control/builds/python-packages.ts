import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { languageOf } from "../../base/graph-language.ts";
import { uvWorkspaceMembers, uvWorkspaceRoot } from "./uv-workspace.ts";

interface PythonConfig {
  graphs?: Record<string, string | { path?: string }>;
  dependencies?: string[];
  python_version?: string;
  pip_config_file?: string;
  pip_installer?: "auto" | "pip" | "uv";
  auth?: { path?: string } | null;
  http?: { app?: string } | null;
}

export interface PythonInstallation {
  /** Creates the environment, or completes one that exists. */
  command: string;
  directory: string;
  /** Sets the variable `python` of a shell to the interpreter of the environment. */
  select: string;
  /** Files that determine the packages. */
  inputs: string[];
  /** Whether all packages come from an index, none from the project: then nothing in the environment depends on it. */
  isFromIndex: boolean;
}

/** Dependencies of a group for development are not installed, and no other Python is downloaded. */
const UV_SYNC = "--no-dev --inexact";
const PIP = "install --disable-pip-version-check --no-input --quiet";

/**
 * Returns the command that creates the environment `.venv` of a project with Python code, and its directory; null for a
 * project without. Packages come from uv.lock, from the members of a uv workspace, from the `dependencies` of
 * langgraph.json, or from pyproject.toml or requirements.txt beside it. The command looks for programs itself, because a sandbox may hide those of this machine.
 * @param root the project's sources
 * @param configFile its langgraph.json
 */
export function pythonInstallation(root: string, configFile: string): PythonInstallation | null {
  const config = JSON.parse(readFileSync(configFile, "utf8")) as PythonConfig;
  if (!usesPython(config)) return null;
  const directory = dirname(configFile);
  // the agent server reports another format
  const version = /^\d+\.\d+$/.test(config.python_version ?? "") ? config.python_version : undefined;
  const python = selectPython(version);
  const locked = lockDirectory(root, directory);
  const synced = locked ?? uvWorkspaceRoot(root, directory);
  if (synced !== null && config.pip_installer !== "pip") {
    const sync = `${locked === null ? "" : "--frozen "}${UV_SYNC}${synced === directory ? "" : " --all-packages"}`;
    const install = withUv(
      `uv sync --python "$(command -v "$python")" ${sync}`,
      `${VENV} && .venv/bin/pip ${PIP} uv && .venv/bin/uv sync ${sync}`,
    );
    const members = uvWorkspaceMembers(synced).map((member) => join(synced, member));
    const inputs = [join(synced, "uv.lock"), ...[synced, directory, ...members].flatMap(packageFiles)];
    return { command: `${python}; ${install}`, directory: synced, select: python, inputs, isFromIndex: false };
  }
  const dependencies = config.dependencies ?? ["."];
  const inputs = requirementInputs(root, directory, dependencies, config.pip_config_file);
  const isFromIndex = inputs.every(isIndexOnly) && dependencies.every((each) => each.startsWith(".") || isPlain(each));
  const what = [...requirements(directory, dependencies), ...otherMembers(root, directory)].join(" ");
  const settings = config.pip_config_file === undefined ? "" : `PIP_CONFIG_FILE=${quote(config.pip_config_file)} `;
  const withPip = `${VENV} && ${settings}.venv/bin/pip ${PIP} ${what}`;
  const onlyPip = config.pip_installer === "pip" || config.pip_config_file !== undefined;
  const uv = `uv venv -q --allow-existing --python "$(command -v "$python")" .venv && uv pip install -q --python .venv/bin/python ${what}`;
  const command = `${python}; ${onlyPip ? withPip : withUv(uv, withPip)}`;
  return { command, directory, select: python, inputs, isFromIndex };
}

/** Files by which a directory declares a package. */
const packageFiles = (directory: string): string[] =>
  ["pyproject.toml", "setup.py", "setup.cfg"].map((name) => join(directory, name));

/** Files that the arguments of pip name, and those that requirement files include. */
function requirementInputs(
  root: string,
  directory: string,
  dependencies: string[],
  pipConfigFile: string | undefined,
): string[] {
  const workspace = uvWorkspaceRoot(root, directory);
  const members = workspace === null ? [] : uvWorkspaceMembers(workspace).map((member) => join(workspace, member));
  const local = dependencies.filter((each) => each.startsWith(".")).map((each) => resolve(directory, each));
  const found = new Set([...local, ...members].flatMap(packageFiles));
  if (pipConfigFile !== undefined) found.add(resolve(directory, pipConfigFile));
  const waiting = local.map((at) => join(at, "requirements.txt"));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file) || !isBelow(root, file)) continue;
    found.add(file);
    for (const line of readLines(file)) {
      const [, name] = /^\s*(?:-r|--requirement|-c|--constraint)[\s=]*(\S+)/.exec(line) ?? [];
      if (name !== undefined) waiting.push(resolve(dirname(file), name));
    }
  }
  return [...found];
}

const isBelow = (root: string, file: string): boolean => !relative(root, file).startsWith("..");

const readLines = (file: string): string[] => (existsSync(file) ? readFileSync(file, "utf8").split(/\r?\n/) : []);

/** Matches a requirement by name, which an index answers. */
const isPlain = (requirement: string): boolean => /^\s*[A-Za-z0-9][^/@\\]*$/.test(requirement);

/** Whether a file, if it exists, only names packages of an index. */
const isIndexOnly = (file: string): boolean =>
  !existsSync(file) ||
  (/\.(txt|in)$/.test(file) &&
    readLines(file).every((line) => /^\s*(#|$)/.test(line) || isPlain(line) || isOption(line)));

const isOption = (line: string): boolean =>
  /^\s*(-r|-c|-i|--(requirement|constraint|index-url|extra-index-url|no-index|pre|prefer-binary))\b/.test(line);

/**
 * Returns a key of the environment that an installation creates: with the same inputs, the same packages, except for
 * newer versions that the inputs would permit. `environment` is that of the installation.
 */
export function environmentKey(
  root: string,
  { command, directory, inputs }: PythonInstallation,
  environment: Record<string, string>,
): string {
  const own = Object.entries(environment).filter(([name]) => /^(pip|uv)_/i.test(name));
  const contents = inputs.flatMap((file) =>
    existsSync(file) ? [[relative(root, file), readFileSync(file, "utf8")]] : [],
  );
  const parts = [process.arch, command, relative(root, directory), contents.toSorted(), own.toSorted()];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Replaces the path of an environment in its programs, and deletes the environment if it has another interpreter. */
const ADOPT = `
import pathlib, sys
old, new = (text.encode() for text in sys.argv[1:])
for file in pathlib.Path(".venv/bin").iterdir():
    if file.is_symlink() or not file.is_file():
        continue
    data = file.read_bytes()
    if old in data and b"\\0" not in data[:1024]:
        file.write_bytes(data.replace(old, new))
`;

/** Returns the command that completes an environment after it was copied from another build. */
export function adoptEnvironment({ select }: PythonInstallation, from: string, to: string): string {
  const isSame = '[ "$("$python" -V 2>&1)" = "$(.venv/bin/python -V 2>&1)" ]';
  const paths = `'${from.replaceAll("'", "'\\''")}' '${to.replaceAll("'", "'\\''")}'`;
  return `${select}; if ${isSame}; then .venv/bin/python -c '${ADOPT}' ${paths}; else rm -rf .venv; fi`;
}

const VENV = '"$python" -m venv .venv';

const withUv = (uv: string, otherwise: string): string =>
  `if command -v uv >/dev/null; then ${uv}; else ${otherwise}; fi`;

/** Sets `python` to the wanted version where it works: a shim of pyenv exists for versions that are not selected. */
function selectPython(version: string | undefined): string {
  const names = version === undefined ? "python3" : `python${version} python3`;
  const select = `for python in ${names}; do "$python" -c 0 2>/dev/null && break; done`;
  const missing =
    '"$python" -c 0 2>/dev/null || { echo "error: the build needs python3, which was not found" >&2; exit 1; }';
  if (version === undefined) return `${select}; ${missing}`;
  const other = `echo "warning: the project requires Python ${version}, but builds use $("$python" -V)"`;
  return `${select}; ${missing}; case "$("$python" -V)" in "Python ${version}"*) ;; *) ${other};; esac`;
}

function usesPython({ graphs = {}, auth, http }: PythonConfig): boolean {
  const paths = Object.values(graphs).map((spec) => (typeof spec === "string" ? spec : spec?.path));
  return [...paths, auth?.path, http?.app].some((path) => typeof path === "string" && languageOf(path) === "python");
}

/** Directory of the nearest uv.lock, inside the project. */
function lockDirectory(root: string, directory: string): string | null {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, "uv.lock"))) return at;
    if (resolve(at) === resolve(root) || dirname(at) === at) return null;
  }
}

/** Arguments of pip for the entries of `dependencies`: directories of the project, or packages. */
function requirements(directory: string, dependencies: string[]): string[] {
  const args: string[] = [];
  for (const dependency of dependencies) {
    if (!dependency.startsWith(".")) {
      args.push(quote(dependency));
      continue;
    }
    const at = resolve(directory, dependency);
    const path = relative(directory, at) || ".";
    if (existsSync(join(at, "requirements.txt"))) args.push(`-r ${quote(join(path, "requirements.txt"))}`);
    if (existsSync(join(at, "pyproject.toml")) || existsSync(join(at, "setup.py")))
      args.push(`-e ${quote(path === "." ? "." : `./${path}`)}`);
  }
  return args.length > 0 ? args : ["langgraph"];
}

/** Arguments of pip for the other members of the project's workspace, which pip would take from the index. */
function otherMembers(root: string, directory: string): string[] {
  const workspace = uvWorkspaceRoot(root, directory);
  if (workspace === null) return [];
  const members = uvWorkspaceMembers(workspace).map((member) => relative(directory, join(workspace, member)));
  return members.filter((path) => path !== "").map((path) => `-e ${quote(path)}`);
}

const quote = (text: string): string =>
  /^[\w./=<>~-]+$/.test(text) && !/[<>]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
