/** Runs the code that empty pages offer, in both languages, against a real platform. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Client as AgentClient } from "@langchain/langgraph-sdk";
import { Client as TraceClient } from "langsmith";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { type Platform, startPlatform } from "../../../test/platform.ts";
import type { Sample } from "../../ui/code-sample.tsx";
import * as samples from "./samples.ts";

const run = promisify(execFile);
const PYTHON = process.env["HEDDLE_PYTHON"] ?? "python3";
const CONSOLE = fileURLToPath(new URL("../../..", import.meta.url));
const LANGUAGES = ["Python", "TypeScript"];

let platform: Platform;
let agents: AgentClient;
let traces: TraceClient;
let agentAccess: samples.Access;
let traceAccess: samples.Access;
beforeAll(async () => {
  platform = await startPlatform("dev", { HEDDLE_RATE_LIMITS: "off" });
  // the addresses that the console shows
  agentAccess = { url: `${platform.url}/api/agent`, key: null };
  traceAccess = { url: `${platform.url}/api/trace`, key: null };
  agents = new AgentClient({ apiUrl: platform.agentUrl, apiKey: null });
  traces = new TraceClient({ apiUrl: platform.traceUrl, apiKey: "none" });
  await vi.waitUntil(async () => (await agents.assistants.search()).length > 0, { timeout: 60_000, interval: 200 });
}, 180_000);
afterAll(() => platform?.stop());

/** Runs a sample as a user pastes it; packages are already installed. */
async function paste(list: Sample[], language: string): Promise<string> {
  const { code } = list.find((sample) => sample.language === language)!;
  const environment = { ...process.env, PATH: `${PYTHON.replace(/\/[^/]*$/, "")}:${process.env["PATH"]}` };
  const options = { cwd: CONSOLE, env: environment, timeout: 60_000 };
  const isShell = code.startsWith("export ");
  const { stdout } = isShell
    ? // as its input is a socket, it would otherwise read ~/.bashrc, which may put another Python first
      await run("bash", ["--norc", "-ec", code.replace(/^(pip|npm) install .*$/m, "")], options)
    : language === "Python"
      ? await run(PYTHON, ["-c", code], options)
      : await run(process.execPath, ["--input-type=module", "-e", code], options);
  return stdout;
}

test.each(LANGUAGES)("the %s code for traces sends one", async (language) => {
  const project = `sample "${language}"`;
  await paste(samples.tracingSamples(traceAccess, project), language);
  const runs = async () => {
    const names: string[] = [];
    if (!(await traces.hasProject({ projectName: project }))) return null;
    for await (const { name } of traces.listRuns({ projectName: project })) names.push(name);
    // the project exists a moment before its run can be found
    return names.length > 0 ? names : null;
  };
  expect(await vi.waitUntil(runs, { timeout: 20_000, interval: 200 })).toEqual(["answer"]);
});

test.each(LANGUAGES)("the %s code for runs prints the reply", async (language) => {
  expect(await paste(samples.runSamples(agentAccess, "agent"), language)).toContain("sunny in Berlin");
});

test.each(LANGUAGES)("the %s code for datasets and experiments creates both", async (language) => {
  const name = `sample ${language}`;
  await paste(samples.datasetSamples(traceAccess, name), language);
  await paste(samples.experimentSamples(traceAccess, name), language);
  const { id, example_count: examples } = await traces.readDataset({ datasetName: name });
  expect(examples).toBe(1);
  await vi.waitUntil(
    async () => {
      const url = `${platform.traceUrl}/api/v1/sessions?reference_dataset=${id}&include_stats=true`;
      const experiments = (await (await fetch(url)).json()) as { feedback_stats?: { correct?: { avg: number } } }[];
      return experiments[0]?.feedback_stats?.correct?.avg === 1;
    },
    { timeout: 30_000, interval: 500 },
  );
});

test.each([
  ["Python", "python"],
  ["JavaScript", "js"],
])("the %s example of docs/evaluation.md evaluates the agent, also the second time", async (language, block) => {
  const page = readFileSync(new URL("../../../../docs/evaluation.md", import.meta.url), "utf8");
  const [, text] = new RegExp(`^\`\`\`${block}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page) ?? [];
  const code = text!
    .replace("http://127.0.0.1:2024", agentAccess.url)
    .replace("http://127.0.0.1:1984", traceAccess.url);
  const evaluate = () => paste([{ language, code }], language);
  expect([await evaluate(), await evaluate()].map((output) => /^\d+ of \d+$/m.exec(output)?.[0])).toEqual([
    "2 of 2",
    "2 of 2",
  ]);
  const { id, example_count: examples } = await traces.readDataset({ datasetName: `weather in ${language}` });
  expect(examples).toBe(2);
  const experiments: string[] = [];
  for await (const { name } of traces.listProjects({ referenceDatasetId: id })) experiments.push(name!);
  expect(experiments).toHaveLength(2);
});

test.each(LANGUAGES)("the %s code for the store, webhooks and crons creates one each", async (language) => {
  await paste(samples.storeSamples(agentAccess), language);
  expect((await agents.store.getItem(["users", "ada"], "profile"))?.value).toEqual({ likes: "trains" });
  await agents.store.deleteItem(["users", "ada"], "profile");
  const count = async () => (await agents.crons.search({})).length;
  const before = await count();
  await paste(samples.cronSamples(agentAccess, "agent"), language);
  expect(await count()).toBe(before + 1);
  await paste(samples.webhookSamples(agentAccess, "agent"), language);
});
