import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { findInterpreter } from "./python-interpreter.ts";

const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function project(files: Record<string, string> = {}): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "heddle-python-")));
  dirs.push(dir);
  mkdirSync(join(dir, ".git"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

/** Writes a program that answers the probe as an interpreter with these versions does. */
function interpreter(path: string, python: string, langgraph: string | null): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho '${JSON.stringify({ python, executable: path, langgraph, site: null })}'\n`);
  chmodSync(path, 0o755);
  return path;
}

async function find(dir: string, environment: Record<string, string> = {}, configured?: string) {
  const found = await findInterpreter({ dir, configured, environment: { PATH: "/nowhere", ...environment } });
  return "problem" in found
    ? found.problem.replaceAll(dir, "DIR")
    : found.interpreter.executable.replaceAll(dir, "DIR");
}

test("prefers the active environment to .venv, and .venv to the environment of a directory above", async () => {
  const dir = project();
  const active = interpreter(join(dir, "active/bin/python"), "3.12.1", "1.2.0");
  interpreter(join(dir, ".venv/bin/python"), "3.11.7", "1.0.0");
  interpreter(join(dir, "apps/agent/.venv/bin/python"), "3.11.7", "1.0.0");
  expect(await find(dir, { VIRTUAL_ENV: dirname(dirname(active)) })).toBe("DIR/active/bin/python");
  expect(await find(dir)).toBe("DIR/.venv/bin/python");
  expect(await find(join(dir, "apps/agent"))).toBe("DIR/.venv/bin/python");
  expect(await find(join(dir, "apps"))).toBe(join(dir, ".venv/bin/python"));
});

test("an environment without langgraph does not hide the project's own", async () => {
  const dir = project();
  interpreter(join(dir, "base/bin/python"), "3.12.1", null);
  interpreter(join(dir, ".venv/bin/python"), "3.11.7", "0.6.0");
  expect(await find(dir, { CONDA_PREFIX: join(dir, "base") })).toBe("DIR/.venv/bin/python");
});

test("HEDDLE_PYTHON is the only candidate", async () => {
  const dir = project();
  interpreter(join(dir, ".venv/bin/python"), "3.11.7", "1.0.0");
  const other = interpreter(join(dir, "other/python"), "3.11.7", null);
  expect(await find(dir, {}, other)).toContain("DIR/other/python (Python 3.11.7) has no langgraph.");
  expect(await find(dir, {}, "/no/such/python")).toBe("HEDDLE_PYTHON names /no/such/python, which does not exist.");
  expect(await find(dir, {}, "no-such-python")).toMatch(/^HEDDLE_PYTHON: no-such-python could not be started: /);
});

test.each([
  [{ "uv.lock": "" }, "uv sync"],
  [{ "requirements.txt": "" }, "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"],
  [{ "pyproject.toml": "" }, "python3 -m venv .venv && .venv/bin/pip install -e ."],
  [{}, "python3 -m venv .venv && .venv/bin/pip install langgraph"],
])("without an environment, names the command that creates it for %j", async (files, command) => {
  const problem = await find(project(files as Record<string, string>));
  expect(problem).toContain("No Python interpreter was found for DIR.");
  expect(problem).toContain(`\n  ${command}\n`);
});

test("rejects versions of Python and LangGraph that are too old, with the command that updates them", async () => {
  const dir = project();
  interpreter(join(dir, ".venv/bin/python"), "3.9.18", "1.0.0");
  expect(await find(dir)).toContain("DIR/.venv/bin/python is Python 3.9.18, but graphs need 3.10 or newer.");
  interpreter(join(dir, ".venv/bin/python"), "3.10.13", "0.5.4");
  expect(await find(dir)).toBe(
    "langgraph 0.5.4 in DIR/.venv/bin/python is not supported, needs 0.6.0 or newer. Run:\n" +
      "  DIR/.venv/bin/python -m pip install 'langgraph>=0.6.0'",
  );
});
