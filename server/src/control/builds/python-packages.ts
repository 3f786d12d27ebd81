import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { languageOf } from "../../base/graph-language.ts";

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
const UV_SYNC = "sync --frozen --no-dev --inexact";
const PIP = "install --disable-pip-version-check --no-input --quiet";

/**
 * Returns the command that creates the environment `.venv` of a project with Python code, and its directory; null for a
 * project without. Packages come from uv.lock, from the `dependencies` of langgraph.json, or from pyproject.toml or
 * requirements.txt beside it.
 * @param root the project's sources
 * @param configFile its langgraph.json
 * @param hasProgram whether the build's commands find a program
 */
export function pythonInstallation(
  root: string,
  configFile: string,
  hasProgram: (name: string) => boolean = () => false,
): PythonInstallation | null {
  const config = JSON.parse(readFileSync(configFile, "utf8")) as PythonConfig;
  if (!usesPython(config)) return null;
  const directory = dirname(configFile);
  const version = config.python_version ?? "3";
  const python = `"$(command -v python${version} || command -v python3)"`;
  const venv = `${python} -m venv .venv`;
  const locked = lockDirectory(root, directory);
  if (locked !== null && config.pip_installer !== "pip") {
    const packages = locked === directory ? "" : " --all-packages";
    if (hasProgram("uv"))
      return {
        command: `uv venv -q --allow-existing --python ${python} .venv && uv ${UV_SYNC}${packages}`,
        directory: locked,
      };
    return {
      command: `${venv} && .venv/bin/pip ${PIP} uv && .venv/bin/uv ${UV_SYNC}${packages}`,
      directory: locked,
    };
  }
  const what = requirements(directory, config.dependencies ?? ["."]);
  const withUv = hasProgram("uv") && config.pip_installer !== "pip" && config.pip_config_file === undefined;
  if (withUv) return { command: `${venv} && uv pip install -q --python .venv/bin/python ${what.join(" ")}`, directory };
  const settings = config.pip_config_file === undefined ? "" : `PIP_CONFIG_FILE=${quote(config.pip_config_file)} `;
  return { command: `${venv} && ${settings}.venv/bin/pip ${PIP} ${what.join(" ")}`, directory };
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

const quote = (text: string): string =>
  /^[\w./=<>~-]+$/.test(text) && !/[<>]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
