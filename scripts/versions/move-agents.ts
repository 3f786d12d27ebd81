/**
 * Copies threads from LangGraph's development servers into Heddle with `heddle import agents`, and compares the values,
 * the next nodes and the message ids of each checkpoint.
 *
 *     node --import tsx scripts/versions/move-agents.ts [--python ENVIRONMENT]
 *
 * `--python`: a Python environment with `langgraph-cli[inmem]`; without it only JavaScript's server is tried.
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs, promisify } from "node:util";

import { Client } from "@langchain/langgraph-sdk";

import {
  removeDirectory,
  type ServerUnderTest,
  startDevServer,
  startHeddle,
  startPythonDevServer,
  temporaryDirectory,
} from "../../bench/servers.ts";

const { values: options } = parseArgs({
  options: { python: { type: "string" }, threads: { type: "string", default: "20" } },
});
const LAUNCHER = join(import.meta.dirname, "../../cli/bin/heddle.js");

const PYTHON_GRAPH = `
from langgraph.graph import MessagesState, StateGraph, START, END
from langgraph.types import interrupt

def answer(state):
    return {"messages": [("ai", "answer to " + state["messages"][-1].content)]}

def review(state):
    if "ask" in state["messages"][0].content:
        interrupt({"question": "go on?"})
    return {"messages": [("ai", "reviewed")]}

graph = (
    StateGraph(MessagesState)
    .add_node("answer", answer)
    .add_node("review", review)
    .add_edge(START, "answer")
    .add_edge("answer", "review")
    .add_edge("review", END)
    .compile()
)
`;

const directory = await temporaryDirectory();
const servers: ServerUnderTest[] = [];
try {
  servers.push(await startDevServer(directory), await startHeddle(directory));
  await move("JavaScript", servers[0]!, servers[1]!, "chat");
  if (options.python !== undefined) {
    const project = join(directory, "python");
    await mkdir(project);
    await writeFile(join(project, "graph.py"), PYTHON_GRAPH);
    const python = join(options.python, "bin/python");
    const config = { dependencies: ["."], graphs: { chat: "./graph.py:graph" } };
    await writeFile(join(project, "langgraph.json"), JSON.stringify(config));
    servers.push(await startPythonDevServer(directory, project, options.python));
    const target = join(directory, "second");
    await mkdir(target, { mode: 0o755 });
    servers.push(await startHeddle(target, { project, env: { HEDDLE_PYTHON: python } }));
    await move("Python", servers[2]!, servers[3]!, "chat");
  }
} finally {
  for (const server of servers) await server.stop();
  await removeDirectory(directory);
}

async function move(name: string, source: ServerUnderTest, target: ServerUnderTest, graph: string): Promise<void> {
  const from = new Client({ apiUrl: source.url, apiKey: null });
  const to = new Client({ apiUrl: target.url, apiKey: null });
  const assistant = await from.assistants.create({ graphId: graph, name: "mine", config: { tags: ["a"] } });
  await from.store.putItem(["users", "ann"], "k", { likes: "tea" });
  const ids: string[] = [];
  for (let n = 0; n < Number(options.threads); n++) {
    const { thread_id: id } = await from.threads.create({ metadata: { n } });
    ids.push(id);
    for (const content of [n % 5 === 4 ? "ask" : "Hello", "And?"].slice(0, n % 5 === 4 ? 1 : 2))
      await from.runs.wait(id, graph, { input: { messages: [{ role: "user", content }] } });
  }
  const started = performance.now();
  console.log(`${name}: ${await copy(source, target)} in ${Math.round(performance.now() - started)} ms`);
  let checkpoints = 0;
  for (const id of ids) {
    const [theirs, ours] = await Promise.all([from, to].map((client) => client.threads.getHistory(id, { limit: 100 })));
    const shown = (states: typeof theirs) => states!.map(({ values, next }) => ({ values: plain(values), next }));
    checkpoints += theirs!.length;
    if (isDeepStrictEqual(shown(theirs), shown(ours))) continue;
    process.exitCode = 1;
    console.error(`${name}: thread ${id} differs`, JSON.stringify(shown(theirs)), JSON.stringify(shown(ours)));
  }
  const copied = await to.assistants.get(assistant.assistant_id);
  const item = await to.store.getItem(["users", "ann"], "k");
  console.log(
    `${name}: ${ids.length} threads with ${checkpoints} checkpoints compared; ${copied.name}, ${JSON.stringify(item?.value)}`,
  );
  console.log(`${name}: ${await copy(source, target)} when repeated`);
}

function plain(values: unknown): unknown {
  return JSON.parse(JSON.stringify(values)) as unknown;
}

async function copy(source: ServerUnderTest, target: ServerUnderTest): Promise<string> {
  const args = ["import", "agents", "--from", source.url, "--url", target.url, "--state", join(directory, "copy.json")];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [LAUNCHER, ...args]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const left = stderr.split("\n").filter((line) => line !== "");
  return `${stdout.trim()} ${left.length} not taken${left.length > 0 ? `, such as "${left[0]}"` : ""}`;
}
