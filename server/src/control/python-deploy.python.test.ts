/** A deployment with Python and JavaScript graphs, without a network: its packages are those of the suite. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { testControlPlane } from "../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../test/deploy.ts";

const { call, url } = await testControlPlane();

const site = spawnSync(process.env["HEDDLE_PYTHON"]!, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
const packages = site.stdout.toString().trim();
const source_config = { build_command: ".venv/bin/python link.py" };

const project = (word: string, requirements: string) =>
  createArchive(
    graphProject(word, {
      "langgraph.json": JSON.stringify({
        dependencies: ["."],
        graphs: { echo: "./graph.mjs:graph", agent: "./agent.py:graph" },
      }),
      "requirements.txt": `--no-index\n${requirements}\n`,
      "link.py": `
import pathlib, sysconfig
pathlib.Path(sysconfig.get_path("purelib"), "suite.pth").write_text(${JSON.stringify(packages)})
`,
      "agent.py": `
import sys
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    word: str
    prefix: str

def answer(state: State) -> State:
    return {"word": "${word}", "prefix": sys.prefix}

graph = StateGraph(State).add_node(answer).add_edge(START, "answer").compile()
`,
    }),
  );

const post = (path: string, body: object) =>
  fetch(`${url}/d/python${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const send = async (path: string, body: object) => (await (await post(path, body)).json()) as Record<string, string>;

const run = (assistant: string) => send("/runs/wait", { assistant_id: assistant, input: {} });

test("Python and JavaScript graphs are built, served, replaced, kept when a build fails, and rolled back", async () => {
  const id = await createDeployment(call, "python");
  const first = await deployArchive(call, id, project("first", ""), { source_config });
  await untilStatus(call, id, first, "DEPLOYED", 120_000);
  const answered = await run("agent");
  expect(answered["word"]).toBe("first");
  // of the revision, not of the machine
  expect(answered["prefix"]).toMatch(/\/src\/\.venv$/);
  expect((await run("echo"))["word"]).toBe("first");
  const { thread_id: thread } = await send("/threads", {});
  await send(`/threads/${thread}/runs/wait`, { assistant_id: "agent", input: {} });
  const rejected = await post(`/threads/${thread}/runs`, { assistant_id: "echo", input: {} });
  expect(`${rejected.status} ${await rejected.text()}`).toMatch(
    /^422 .*was written by a Python graph "agent", and a JavaScript graph cannot continue it/,
  );
  expect((await send(`/threads/${thread}/runs/wait`, { assistant_id: "agent", input: {} }))["word"]).toBe("first");

  const broken = await deployArchive(call, id, project("broken", "heddle-absent==1"), { source_config });
  await untilStatus(call, id, broken, "BUILD_FAILED", 120_000);
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${broken}`);
  expect(json.status_message).toMatch(
    /^The installation of the Python packages failed with exit code 1: .*heddle-absent/,
  );
  expect((await run("agent"))["word"]).toBe("first");

  const second = await deployArchive(call, id, project("second", ""), { source_config });
  await untilStatus(call, id, second, "DEPLOYED", 120_000);
  expect((await run("agent"))["word"]).toBe("second");

  const back = await call("POST", `/v2/deployments/${id}/revisions/${first}/redeploy`);
  await untilStatus(call, id, back.json.latest_revision_id, "DEPLOYED", 120_000);
  expect((await run("agent"))["word"]).toBe("first");
  expect(await logLines(call, id, back.json.latest_revision_id, "build")).toEqual([]);
}, 400_000);

test("an unchanged environment is used again, at the path of its revision, and a changed one is installed", async () => {
  // what the suite installed, instead of packages of an index
  const id = await createDeployment(call, "python-reuse", [{ name: "PYTHONPATH", value: packages }]);
  const deploy = async (word: string, requirements: string) => {
    const revision = await deployArchive(call, id, project(word, requirements));
    await untilStatus(call, id, revision, "DEPLOYED", 120_000);
    const lines = await logLines(call, id, revision, "build");
    return { revision, reused: lines.filter((line) => line.includes("reusing its environment")), lines };
  };
  const answer = async () => {
    const response = await fetch(`${url}/d/python-reuse/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "agent", input: {} }),
    });
    return (await response.json()) as { word: string; prefix: string };
  };
  const first = await deploy("one", "# a comment");
  expect(first.reused).toEqual([]);
  expect(first.lines.some((line) => /^\$ .*-m venv/.test(line))).toBe(true);

  const second = await deploy("two", "# a comment");
  expect(second.reused).toEqual([
    `The inputs of the Python packages are unchanged since revision ${first.revision}: reusing its environment.`,
  ]);
  expect(second.lines.filter((line) => line.startsWith("$"))).toEqual([]);
  const { word, prefix } = await answer();
  expect([word, prefix]).toEqual(["two", expect.stringContaining(`/builds/${second.revision}/src/.venv`)]);
  // its programs start the interpreter beside them, not that of the earlier build
  const pip = readFileSync(`${prefix}/bin/pip`, "utf8");
  expect(pip).toContain(second.revision);
  expect(pip).not.toContain(first.revision);

  const third = await deploy("three", "# another comment");
  expect(third.reused).toEqual([]);
  expect((await answer()).word).toBe("three");
  // a build command may change the environment
  const built = await deployArchive(call, id, project("four", "# another comment"), { source_config });
  await untilStatus(call, id, built, "DEPLOYED", 120_000);
  expect((await logLines(call, id, built, "build")).join("\n")).not.toContain("reusing its environment");
}, 600_000);
