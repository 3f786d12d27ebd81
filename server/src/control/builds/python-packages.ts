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
  command: string;
  directory: string;
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
    return { command: `${python}; ${install}`, directory: synced };
  }
  const what = [...requirements(directory, config.dependencies ?? ["."]), ...otherMembers(root, directory)].join(" ");
  const settings = config.pip_config_file === undefined ? "" : `PIP_CONFIG_FILE=${quote(config.pip_config_file)} `;
  const withPip = `${VENV} && ${settings}.venv/bin/pip ${PIP} ${what}`;
  const onlyPip = config.pip_installer === "pip" || config.pip_config_file !== undefined;
  const uv = `uv venv -q --allow-existing --python "$(command -v "$python")" .venv && uv pip install -q --python .venv/bin/python ${what}`;
  return { command: `${python}; ${onlyPip ? withPip : withUv(uv, withPip)}`, directory };
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
