/** Tests of a project with Python and JavaScript graphs, built as an image with packages from an index. */
import { execFile, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";

import { testControlPlane } from "../../../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../../../test/deploy.ts";
import { hasPodman, importImage, testPodman } from "../../../../test/podman.ts";

const SCRIPT = fileURLToPath(new URL("../../../../../scripts/build/agent-image.mjs", import.meta.url));
const BASE = "localhost/heddle-agent-python:test";
const hasPython = spawnSync("python3", ["-m", "venv", "--help"], { stdio: "ignore" }).status === 0;

const PROJECT = {
  "langgraph.json": JSON.stringify({
    dependencies: ["."],
    graphs: { echo: "./graph.mjs:graph", agent: "./agent.py:graph" },
  }),
  "requirements.txt": "langgraph\n",
  "agent.py": `
import sys
from typing import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    prefix: str
    user: int

def answer(state: State) -> State:
    import os
    return {"prefix": sys.prefix, "user": os.getuid()}

graph = StateGraph(State).add_node(answer).add_edge(START, "answer").compile()
`,
};

async function setUp() {
  const podman = testPodman();
  const control = await testControlPlane({
    HEDDLE_CONTAINER_ENGINE: podman.address,
    HEDDLE_LOG_LEVEL: "fatal",
    HEDDLE_CONTROL_DRIVER: "container",
    HEDDLE_CONTAINER_BASE_IMAGE: BASE,
    HEDDLE_CONTAINER_NETWORK: "host",
    HEDDLE_CONTAINER_PULL: "missing",
  });
  const archive = join(tmpdir(), `heddle-agent-python-${process.pid}.tar`);
  await promisify(execFile)(process.execPath, [SCRIPT, "--python", archive]);
  await podman.start();
  await importImage(podman, archive, BASE, []);
  rmSync(archive);
  return control;
}

const world = hasPodman && hasPython ? await setUp() : undefined;

describe.skipIf(!world)("a Python project in a container", { timeout: 400_000 }, () => {
  test("is built with its packages and serves its graphs of both languages", async () => {
    const { call, url } = world!;
    const id = await createDeployment(call, "python");
    const revision = await deployArchive(call, id, createArchive(graphProject("boxed", PROJECT)));
    await untilStatus(call, id, revision, "DEPLOYED", 300_000).catch(async (error: Error) => {
      const lines = [
        ...(await logLines(call, id, revision, "build")),
        ...(await logLines(call, id, revision, "deploy")),
      ];
      throw new Error(lines.slice(-30).join("\n"), { cause: error });
    });
    const run = async (assistant: string) => {
      const response = await fetch(`${url}/d/python/runs/wait`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ assistant_id: assistant, input: {} }),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const answer = await run("agent");
    expect(answer["prefix"]).toMatch(/^\/deps\/.*\.venv$/);
    expect(await run("echo")).toMatchObject({ word: "boxed" });
  });
});
