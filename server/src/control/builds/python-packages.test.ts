import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { adoptEnvironment, environmentKey, pythonInstallation } from "./python-packages.ts";

const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function write(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
    chmodSync(join(root, name), 0o755);
  }
}

/** Answers `-c`, prints its version, and creates environments with a pip and a uv that log their arguments. */
const python = (log: string, version: string) => `#!/bin/sh
case "$1" in
  -c) ;;
  -V) echo "Python ${version}.1" ;;
  *)
    echo "python${version} $*" >> ${log}
    /bin/mkdir -p .venv/bin
    for name in pip uv; do
      printf '#!/bin/sh\\necho "$PIP_CONFIG_FILE .venv/bin/%s $*" >> ${log}\\n' $name > .venv/bin/$name
      /bin/chmod +x .venv/bin/$name
    done ;;
esac
`;

/** Runs the installation of a project where only some programs exist. Returns what was called, in which directory. */
function install(
  config: object,
  files: string[] | Record<string, string>,
  { programs = ["python3"], at = "langgraph.json" } = {},
) {
  const root = mkdtempSync(join(tmpdir(), "heddle-python-build-"));
  dirs.push(root);
  const log = join(root, "log");
  const contents = Array.isArray(files) ? Object.fromEntries(files.map((name) => [name, ""])) : files;
  write(root, { ...contents, [at]: JSON.stringify(config), log: "" });
  const available = {
    python3: python(log, "3.11"),
    "python3.12": python(log, "3.12"),
    // a shim of pyenv for a version that is not selected
    "python3.13": "#!/bin/sh\nexit 127\n",
    uv: `#!/bin/sh\necho "uv $*" >> ${log}\n`,
  };
  const chosen = Object.entries(available).filter(([name]) => programs.includes(name));
  write(join(root, "bin"), Object.fromEntries(chosen));
  const found = pythonInstallation(root, join(root, at));
  if (found === null) return null;
  const env = { PATH: join(root, "bin") };
  const { stdout, stderr, status } = spawnSync("/bin/sh", ["-c", found.command], { cwd: found.directory, env });
  const calls = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return {
    directory: found.directory.replace(root, "ROOT"),
    calls: calls.map((line) => line.replaceAll(root, "ROOT").trim()),
    printed: `${stdout.toString()}${stderr.toString()}`.trim(),
    status,
  };
}

const GRAPHS = { agent: "./agent.py:graph" };
const PIP = ".venv/bin/pip install --disable-pip-version-check --no-input --quiet";

test("a project without Python code needs no environment", () => {
  expect(install({ graphs: { agent: "./agent.ts:graph" } }, ["requirements.txt"])).toBeNull();
});

test("installs the project and its requirements with pip, or with uv where it is installed", () => {
  const files = ["requirements.txt", "pyproject.toml"];
  expect(install({ graphs: GRAPHS }, files)).toEqual({
    directory: "ROOT",
    calls: ["python3.11 -m venv .venv", `${PIP} -r requirements.txt -e .`],
    printed: "",
    status: 0,
  });
  expect(install({ graphs: GRAPHS }, files, { programs: ["python3", "uv"] })!.calls).toEqual([
    "uv venv -q --allow-existing --python ROOT/bin/python3 .venv",
    "uv pip install -q --python .venv/bin/python -r requirements.txt -e .",
  ]);
});

test("installs the dependencies of langgraph.json with pip's own settings", () => {
  const config = { graphs: GRAPHS, dependencies: ["langchain>=1", "./lib"], pip_config_file: "./pip.conf" };
  const { calls } = install(config, ["lib/pyproject.toml"], { programs: ["python3", "uv"] })!;
  expect(calls).toEqual(["python3.11 -m venv .venv", `./pip.conf ${PIP} langchain>=1 -e ./lib`]);
});

test("uses the Python that the project requires, or reports that another one is used", () => {
  const wants = (version: string) =>
    install({ graphs: GRAPHS, python_version: version }, [], { programs: ["python3", "python3.12", "python3.13"] });
  expect(wants("3.12")).toMatchObject({ printed: "", status: 0 });
  expect(wants("3.12")!.calls[0]).toBe("python3.12 -m venv .venv");
  expect(wants("3.13")).toMatchObject({
    printed: "warning: the project requires Python 3.13, but builds use Python 3.11.1",
    status: 0,
  });
  expect(wants("3.13")!.calls[0]).toBe("python3.11 -m venv .venv");
  expect(install({ graphs: GRAPHS }, [], { programs: ["uv"] })).toMatchObject({
    calls: [],
    printed: "error: the build needs python3, which was not found",
    status: 1,
  });
});

test("synchronizes with uv.lock, also that of a workspace, with the machine's uv or with one from the index", () => {
  const withUv = install({ graphs: GRAPHS }, ["uv.lock", "pyproject.toml"], { programs: ["python3", "uv"] })!;
  expect(withUv.calls).toEqual(["uv sync --python ROOT/bin/python3 --frozen --no-dev --inexact"]);
  const workspace = install({ graphs: GRAPHS }, ["uv.lock"], { at: "apps/agent/langgraph.json" })!;
  expect(workspace).toMatchObject({
    directory: "ROOT",
    calls: ["python3.11 -m venv .venv", `${PIP} uv`, ".venv/bin/uv sync --frozen --no-dev --inexact --all-packages"],
  });
});

const WORKSPACE = {
  "pyproject.toml": '[tool.uv.workspace]\nmembers = ["apps/*", "packages/**"]\nexclude = ["packages/old"]\n',
  "apps/agent/pyproject.toml": "",
  "packages/shared/pyproject.toml": "",
  "packages/old/pyproject.toml": "",
  "packages/notes/README.md": "",
};

test("installs the members of a uv workspace without a lock", () => {
  const member = { at: "apps/agent/langgraph.json" };
  expect(install({ graphs: GRAPHS }, WORKSPACE, { ...member, programs: ["python3", "uv"] })).toMatchObject({
    directory: "ROOT",
    calls: ["uv sync --python ROOT/bin/python3 --no-dev --inexact --all-packages"],
  });
  expect(install({ graphs: GRAPHS, pip_installer: "pip" }, WORKSPACE, member)).toMatchObject({
    directory: "ROOT/apps/agent",
    calls: ["python3.11 -m venv .venv", `${PIP} -e . -e ../../packages/shared`],
  });
  expect(install({ graphs: GRAPHS }, WORKSPACE, { at: "packages/old/langgraph.json" })!.directory).toBe(
    "ROOT/packages/old",
  );
});

/** Returns the key of a project's environment, and whether it depends on nothing but an index. */
function keyOf(files: Record<string, string>, config: object = {}, environment: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), "heddle-python-key-"));
  dirs.push(root);
  write(root, { ...files, "langgraph.json": JSON.stringify({ graphs: GRAPHS, ...config }) });
  const installation = pythonInstallation(root, join(root, "langgraph.json"))!;
  return { key: environmentKey(root, installation, environment), isFromIndex: installation.isFromIndex };
}

test("the key of an environment depends on everything that names packages, and on nothing else", () => {
  const files = {
    "requirements.txt": "a==1\n-r more/base.txt\n",
    "more/base.txt": "b\n-c limits.txt",
    "more/limits.txt": "c",
  };
  const { key } = keyOf(files);
  expect(keyOf({ ...files, "agent.py": "x = 1", "prompts.txt": "hello" }).key).toBe(key);
  const others = [
    keyOf({ ...files, "requirements.txt": "a==2\n-r more/base.txt\n" }),
    keyOf({ ...files, "more/base.txt": "b<2\n-c limits.txt" }),
    keyOf({ ...files, "more/limits.txt": "c<2" }),
    keyOf({ ...files, "pyproject.toml": "[project]" }),
    keyOf({ ...files, "setup.py": "" }),
    keyOf(files, { dependencies: [".", "d"] }),
    keyOf(files, { python_version: "3.12" }),
    keyOf({ ...files, "pip.conf": "[global]" }, { pip_config_file: "./pip.conf" }),
    keyOf(files, {}, { PIP_INDEX_URL: "https://elsewhere.example" }),
    keyOf({ ...files, "uv.lock": "", "pyproject.toml": "" }),
    keyOf({ ...files, "uv.lock": "x", "pyproject.toml": "" }),
  ];
  expect(new Set([key, ...others.map((other) => other.key)]).size).toBe(others.length + 1);
});

test.each<[Record<string, string>, object, boolean]>([
  [{ "requirements.txt": "# x\n\na==1\nb>=2,<3\nc[extra]\n--no-index\n-r base.txt", "base.txt": "d" }, {}, true],
  [{}, { dependencies: ["langchain>=1"] }, true],
  [{ "pyproject.toml": "" }, {}, false],
  [{ "setup.py": "" }, {}, false],
  [{ "uv.lock": "", "pyproject.toml": "" }, {}, false],
  [{ "requirements.txt": "-e ./lib" }, {}, false],
  [{ "requirements.txt": "./lib" }, {}, false],
  [{ "requirements.txt": "lib/package.whl" }, {}, false],
  [{ "requirements.txt": "a @ https://a.example/a.whl" }, {}, false],
  [{ "requirements.txt": "-r base.txt", "base.txt": "git+https://a.example/a" }, {}, false],
  [{ "requirements.txt": "--find-links ./wheels" }, {}, false],
  [{}, { dependencies: ["git+https://a.example/a"] }, false],
])("an environment of %j and %j comes from an index alone: %s", (files, config, isFromIndex) => {
  expect(keyOf(files, config).isFromIndex).toBe(isFromIndex);
});

test("a copied environment gets its own path in its programs, or is deleted with another interpreter", () => {
  const root = mkdtempSync(join(tmpdir(), "heddle-python-adopt-"));
  dirs.push(root);
  const interpreter = spawnSync("python3", ["-c", "import sys; print(sys.executable)"]).stdout.toString().trim();
  const adopt = (version: string) => {
    mkdirSync(join(root, ".venv", "bin"), { recursive: true });
    write(root, {
      ".venv/bin/tool": "#!/old/it's/.venv/bin/python\nprint()",
      ".venv/bin/binary": "\0/old/it's/.venv",
      ".venv/bin/python": `#!/bin/sh\nif [ "$1" = -V ]; then echo "${version}"; else exec ${interpreter} "$@"; fi\n`,
    });
    const select = `python() { echo "Python 3"; }; python=python`;
    const installation = { command: "", directory: root, select, inputs: [], isFromIndex: true };
    const command = adoptEnvironment(installation, "/old/it's/.venv", "/new/.venv");
    const { status, stderr } = spawnSync("/bin/sh", ["-c", command], { cwd: root });
    expect([status, stderr.toString()]).toEqual([0, ""]);
    const read = (name: string) => readFileSync(join(root, ".venv/bin", name), "utf8");
    return existsSync(join(root, ".venv")) ? [read("tool"), read("binary")] : null;
  };
  expect(adopt("Python 3")).toEqual(["#!/new/.venv/bin/python\nprint()", "\0/old/it's/.venv"]);
  expect(adopt("Python 2")).toBeNull();
});
