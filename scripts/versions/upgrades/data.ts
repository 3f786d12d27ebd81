/** Data of every kind, made by a release that is then killed under load, is opened by this version, and not by the release again. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../../../server/src/base/free-port.ts";
import { Ledger } from "../../../test/crash/ledger.ts";
import { Load } from "../../../test/crash/load.ts";
import { embeddedUri } from "../../../test/crash/server-process.ts";
import { verify } from "../../../test/crash/verify.ts";
import { answersTo, ask, differences, post, type Question } from "./requests.ts";
import { type Place, VersionProcess } from "./version-process.ts";

const LOAD_MS = 15_000;
/** Time until the traces of finished runs can be queried. */
const TRACED_MS = 30_000;

export async function upgradeData({ earlier, current, directory }: Place): Promise<string[]> {
  const [port, tracePort] = [await freePort(), await freePort()];
  const stepLog = join(directory, "steps.jsonl");
  const dataDir = join(directory, "data");
  const agent = `http://127.0.0.1:${port}`;
  const traces = `http://127.0.0.1:${tracePort}`;
  const start = (root: string) => {
    const args = ["dev", "--config", join(current, "test/crash/project/langgraph.json"), "--data-dir", dataDir];
    args.push("--port", `${port}`, "--trace-port", `${tracePort}`, "--no-reload", "--no-console");
    return new VersionProcess(root, args, directory, { STEP_LOG: stepLog });
  };
  const untilReady = async (server: VersionProcess) => {
    await server.until(`${agent}/ok`);
    await server.until(`${traces}/ok`);
  };

  const old = start(earlier);
  await untilReady(old);
  const made = await makeData(agent, traces);
  const before = await answersTo(made.questions);
  const ledger = new Ledger();
  const load = new Load(agent, ledger);
  load.start();
  await sleep(LOAD_MS);
  // in the middle of its runs, which this version takes over
  await old.kill();
  await load.stop();

  const upgraded = start(current);
  await untilReady(upgraded);
  const wrong = before.flatMap((answer, i) =>
    typeof answer === "string" ? [`the release answered ${made.questions[i]!.url}: ${answer}`] : [],
  );
  wrong.push(...differences(made.questions, before, await answersTo(made.questions)));
  wrong.push(...(await verify(agent, embeddedUri(dataDir), stepLog, ledger)));
  console.log(`  ${ledger.threads.size} threads, ${ledger.runs.size} runs, ${before.length} answers compared`);
  wrong.push(...(await goOn(agent, traces, made)));
  await upgraded.stop();

  const rejected = start(earlier);
  const outcome = await rejected.ended(60_000);
  if (outcome === "runs") await rejected.kill();
  if (outcome === 0 || outcome === "runs") wrong.push(`the release opens newer data: ${outcome}`);
  else if (!/newer/i.test(rejected.printed()))
    wrong.push(`the release does not say why: ${rejected.printed().slice(-500)}`);

  const again = start(current);
  await untilReady(again);
  await ask({ url: `${agent}/threads/${made.conversation}/state` }).catch((error: Error) => wrong.push(error.message));
  await again.stop();
  return wrong;
}

interface MadeData {
  questions: Question[];
  conversation: string;
  waiting: string;
  run: string;
  dataset: string;
}

/** Makes something of each kind. */
async function makeData(agent: string, traces: string): Promise<MadeData> {
  const newThread = async () =>
    (await post<{ thread_id: string }>(`${agent}/threads`, { metadata: { of: "old" } })).thread_id;
  const wait = (thread: string, body: object) => post(`${agent}/threads/${thread}/runs/wait`, body);

  const [conversation, waiting] = [await newThread(), await newThread()];
  for (let label = 0; label < 5; label++) await wait(conversation, { assistant_id: "counter", input: { label } });
  await wait(waiting, { assistant_id: "approval", input: {} });
  const assistant = await post<{ assistant_id: string }>(`${agent}/assistants`, { graph_id: "echo", name: "first" });
  const assistantUrl = `${agent}/assistants/${assistant.assistant_id}`;
  await ask({ url: assistantUrl, method: "PATCH", body: { name: "second", context: { tone: "kind" } } });
  for (const key of ["a", "b"]) {
    const body = { namespace: ["old", "notes"], key, value: { text: `note ${key}` } };
    await ask({ url: `${agent}/store/items`, method: "PUT", body });
  }
  await post(`${agent}/threads/${conversation}/runs/crons`, {
    assistant_id: "counter",
    schedule: "0 5 1 1 *",
    input: { label: 9 },
  });

  const project = await firstProject(traces);
  const run = randomUUID();
  const times = { start_time: "2026-01-01T00:00:00.000000Z", end_time: "2026-01-01T00:00:01.500000Z" };
  const written = {
    id: run,
    trace_id: run,
    dotted_order: `20260101T000000000000Z${run}`,
    name: "by hand",
    run_type: "llm",
  };
  await post(`${traces}/runs/batch`, {
    post: [
      { ...written, ...times, session_id: project, inputs: { q: "é".repeat(3000) }, outputs: { a: [1, { b: 2 }] } },
    ],
  });
  await untilFound(traces, run);
  await post(`${traces}/feedback`, { run_id: run, key: "quality", score: 0.5, comment: "so so" });
  const dataset = (await post<{ id: string }>(`${traces}/datasets`, { name: "old set" })).id;
  await post(`${traces}/examples`, { dataset_id: dataset, inputs: { n: 1 }, outputs: { n: 2 }, source_run_id: run });

  const byId = { sort_by: "created_at", sort_order: "asc" };
  const get = (url: string): Question => ({ url });
  return {
    conversation,
    waiting,
    run,
    dataset,
    questions: [
      get(`${agent}/threads/${conversation}/state`),
      get(`${agent}/threads/${conversation}/history?limit=100`),
      get(`${agent}/threads/${conversation}/runs`),
      get(`${agent}/threads/${waiting}`),
      get(`${agent}/threads/${waiting}/state`),
      get(assistantUrl),
      { url: `${assistantUrl}/versions`, method: "POST", body: {} },
      { url: `${agent}/assistants/search`, method: "POST", body: { limit: 100, ...byId } },
      { url: `${agent}/threads/search`, method: "POST", body: { metadata: { of: "old" }, ...byId } },
      { url: `${agent}/runs/crons/search`, method: "POST", body: {} },
      { url: `${agent}/store/items/search`, method: "POST", body: { namespace_prefix: ["old"] } },
      get(`${traces}/runs/${run}`),
      get(`${traces}/sessions/${project}`),
      get(`${traces}/feedback?run=${run}`),
      get(`${traces}/datasets/${dataset}`),
      get(`${traces}/examples?dataset=${dataset}`),
    ],
  };
}

/** The project of the runs so far, which exists once the first trace has arrived. */
async function firstProject(traces: string): Promise<string> {
  for (const deadline = Date.now() + TRACED_MS; Date.now() < deadline; await sleep(200)) {
    const [project] = await ask<{ id: string }[]>({ url: `${traces}/sessions?limit=1` });
    if (project) return project.id;
  }
  throw new Error("the runs have no traces");
}

async function untilFound(traces: string, run: string): Promise<void> {
  for (const deadline = Date.now() + TRACED_MS; ; await sleep(200)) {
    const found = await fetch(`${traces}/runs/${run}`);
    await found.text();
    if (found.ok) return;
    if (Date.now() > deadline) throw new Error(`run ${run} cannot be read: ${found.status}`);
  }
}

/** Uses the data: continues a thread, answers an interrupt, adds to a dataset. */
async function goOn(
  agent: string,
  traces: string,
  { conversation, waiting, run, dataset }: MadeData,
): Promise<string[]> {
  const wrong: string[] = [];
  const check = (what: string, found: unknown, expected: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(expected))
      wrong.push(`${what}: ${JSON.stringify(found)?.slice(0, 300)} instead of ${JSON.stringify(expected)}`);
  };
  const wait = (thread: string, body: object) => post(`${agent}/threads/${thread}/runs/wait`, body);
  const counted = await wait(conversation, { assistant_id: "counter", input: { label: 5 } });
  check("a thread continues", counted["labels"], [0, 1, 2, 3, 4, 5]);
  const sent = await wait(waiting, { assistant_id: "approval", command: { resume: "yes" } });
  check("an answered interrupt", sent["sent"], ["a draft"]);
  await post(`${traces}/feedback`, { run_id: run, key: "quality", score: 1 });
  const feedback = await ask<unknown[]>({ url: `${traces}/feedback?run=${run}` });
  check("feedback", feedback.length, 2);
  await post(`${traces}/examples`, { dataset_id: dataset, inputs: { n: 3 } });
  const examples = await ask<unknown[]>({ url: `${traces}/examples?dataset=${dataset}` });
  check("examples", examples.length, 2);
  return wrong;
}
