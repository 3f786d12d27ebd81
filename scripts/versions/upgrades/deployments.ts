/** A deployment of a release's control plane serves on under this version's, with its threads, and is replaced by a new revision. */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../../../server/src/base/free-port.ts";
import { answersTo, ask, differences, post } from "./requests.ts";
import { type Place, VersionProcess } from "./version-process.ts";

const SERVED_MS = 60_000;

const graph = (suffix: string) => `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ said: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) });
export const graph = new StateGraph(State)
  .addNode("say", ({ said }) => ({ said: [\`\${said.at(-1)}${suffix}\`] }))
  .addEdge(START, "say")
  .compile();
`;

export async function upgradeDeployments({ earlier, current, directory }: Place): Promise<string[]> {
  // inside the release's checkout, so that the project finds LangGraph without an installation
  const cache = join(earlier, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const home = mkdtempSync(join(cache, "heddle-upgrade-"));
  chmodSync(home, 0o755);
  const [control, traces] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${control}`;
  const agent = `${url}/d/upgraded`;
  const start = async (root: string) => {
    const args = ["up", "--control-port", `${control}`, "--trace-port", `${traces}`, "--data-dir", join(home, "data")];
    const platform = new VersionProcess(root, args, directory, {
      HEDDLE_CONSOLE: "false",
      HEDDLE_DRAIN_SECONDS: "3",
      // the packages are outside of the project
      HEDDLE_PROCESS_ISOLATION: "none",
    });
    await platform.until(`${url}/ok`);
    return platform;
  };
  const project = join(directory, "project");
  mkdirSync(project);
  const deploy = (root: string, suffix: string) => {
    writeFileSync(join(project, "agent.mjs"), graph(suffix));
    writeFileSync(join(project, "langgraph.json"), JSON.stringify({ graphs: { agent: "./agent.mjs:graph" } }));
    const args = [join(root, "cli/bin/heddle.js"), "deploy", "--name", "upgraded", "--url", url];
    return new Promise<void>((done, fail) => {
      execFile(process.execPath, args, { cwd: project, timeout: 180_000 }, (error, stdout, stderr) =>
        error ? fail(new Error(`heddle deploy: ${stdout}${stderr}`)) : done(),
      );
    });
  };
  const wrong: string[] = [];
  const say = async (thread: string, expected: string[]) => {
    const values = await post(`${agent}/threads/${thread}/runs/wait`, {
      assistant_id: "agent",
      input: { said: ["hi"] },
    });
    if (JSON.stringify(values["said"]) !== JSON.stringify(expected))
      wrong.push(`the deployment answered ${JSON.stringify(values)} instead of ${JSON.stringify(expected)}`);
  };

  let platform = await start(earlier);
  try {
    await deploy(earlier, "!");
    const thread = (await post<{ thread_id: string }>(`${agent}/threads`, {})).thread_id;
    await say(thread, ["hi", "hi!"]);
    const questions = ["state", "history", "runs"].map((what) => ({ url: `${agent}/threads/${thread}/${what}` }));
    const before = await answersTo(questions);
    const { resources: deployments } = await ask<{ resources: { id: string; name: string }[] }>({
      url: `${url}/v2/deployments`,
    });
    const records = [
      { url: `${url}/v2/deployments/${deployments[0]!.id}` },
      { url: `${url}/v2/deployments/${deployments[0]!.id}/revisions` },
    ];
    const recorded = await answersTo(records);
    await platform.stop();

    platform = await start(current);
    for (const deadline = Date.now() + SERVED_MS; Date.now() < deadline; await sleep(200)) {
      const found = await fetch(`${agent}/ok`);
      await found.text();
      if (found.ok) break;
    }
    wrong.push(...differences(questions, before, await answersTo(questions)));
    wrong.push(...differences(records, recorded, await answersTo(records)));
    await say(thread, ["hi", "hi!", "hi", "hi!"]);
    await deploy(current, "?");
    await say(thread, ["hi", "hi!", "hi", "hi!", "hi", "hi?"]);
    console.log(`  ${before.length + recorded.length} answers compared`);
  } finally {
    await platform.stop();
    if (wrong.length === 0) rmSync(home, { recursive: true, force: true });
  }
  return wrong;
}
