import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { pythonInstallation } from "./python-packages.ts";

const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function installation(config: object, files: string[], programs: string[] = [], at = "langgraph.json") {
  const root = mkdtempSync(join(tmpdir(), "heddle-python-build-"));
  dirs.push(root);
  for (const name of [at, ...files]) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), name === at ? JSON.stringify(config) : "");
  }
  const found = pythonInstallation(root, join(root, at), (name) => programs.includes(name));
  return found && { ...found, directory: found.directory.replace(root, "ROOT") };
}

const GRAPHS = { agent: "./agent.py:graph" };
const VENV = '"$(command -v python3 || command -v python3)" -m venv .venv';

test("a project without Python code needs no environment", () => {
  expect(installation({ graphs: { agent: "./agent.ts:graph" } }, ["requirements.txt"])).toBeNull();
});

test("installs the project and its requirements with pip", () => {
  expect(installation({ graphs: GRAPHS }, ["requirements.txt", "pyproject.toml"])).toEqual({
    command: `${VENV} && .venv/bin/pip install --disable-pip-version-check --no-input --quiet -r requirements.txt -e .`,
    directory: "ROOT",
  });
});

test("installs the dependencies of langgraph.json with pip's own settings", () => {
  const config = {
    graphs: GRAPHS,
    dependencies: ["langchain>=1", "./lib"],
    python_version: "3.12",
    pip_config_file: "./pip.conf",
  };
  expect(installation(config, ["lib/pyproject.toml"], ["uv"])!.command).toBe(
    '"$(command -v python3.12 || command -v python3)" -m venv .venv && PIP_CONFIG_FILE=./pip.conf .venv/bin/pip ' +
      "install --disable-pip-version-check --no-input --quiet 'langchain>=1' -e ./lib",
  );
});

test("synchronizes with uv.lock, also that of a workspace, with the machine's uv or with one from the index", () => {
  expect(installation({ graphs: GRAPHS }, ["uv.lock", "pyproject.toml"], ["uv"])!.command).toMatch(
    /^uv venv .* && uv sync --frozen --no-dev --inexact$/,
  );
  const workspace = installation({ graphs: GRAPHS }, ["uv.lock"], [], "apps/agent/langgraph.json")!;
  expect(workspace.directory).toBe("ROOT");
  expect(workspace.command).toMatch(
    /pip install .* uv && \.venv\/bin\/uv sync --frozen --no-dev --inexact --all-packages$/,
  );
});
