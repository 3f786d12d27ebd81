/**
 * Servers to fuzz: `heddle dev` and `heddle up` as users start them, with keys required, and some resources in them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, openSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { RealIds } from "./fuzz-ids.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const START_MS = 90_000;

export interface FuzzTarget {
  name: "agent" | "trace" | "control";
  url: string;
  key: string;
  ids: RealIds;
  /** Path that a working key may read. */
  probe: string;
}

export interface Targets {
  targets: FuzzTarget[];
  /** Directory for files, deleted by `stop`. */
  directory: string;
  /** Returns the servers' log. */
  log(): string;
  stop(): Promise<void>;
}

type Json = Record<string, never> & Record<string, unknown>;
type Ask = (method: string, path: string, body?: unknown) => Promise<Json>;

/** `space`: starts only this one. */
export async function startTargets(space?: string): Promise<Targets> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-fuzz-"));
  chmodSync(directory, 0o755);
  const launched: Launched[] = [];
  let tail = "";
  const log = () => (tail === "" ? launched.map((target) => target.log()).join("") : tail);
  const stop = async () => {
    await Promise.all(launched.map((target) => end(target.child)));
    tail = log();
    rmSync(directory, { recursive: true, force: true });
  };
  const start = (name: string, args: string[]): Promise<string> => {
    const process = launch(join(directory, name), args);
    launched.push(process);
    return untilStarted(process);
  };
  try {
    const targets: FuzzTarget[] = [];
    if (space !== "control") targets.push(...(await startDev(start)));
    if (space === undefined || space === "control") targets.push(await startUp(start));
    return { targets, directory, log, stop };
  } catch (error) {
    const output = log();
    await stop();
    throw new Error(`${String(error)}\n${output.slice(-4000)}`, { cause: error });
  }
}

/** @returns its output once it has started */
type Start = (name: string, args: string[]) => Promise<string>;

async function startDev(start: Start): Promise<FuzzTarget[]> {
  const project = ["--config", "conformance/project/langgraph.json", "--no-reload", "--no-console"];
  const banner = await start("dev", ["dev", ...project, "--port", "0", "--trace-port", "0"]);
  const key = find(banner, /Key\s+(lsv2_\S+)/);
  const agent = find(banner, /API\s+(http\S+)/);
  const trace = find(banner, /Traces\s+(http\S+)/);
  return [
    { name: "agent", url: agent, key, probe: "/threads/count", ids: await fillAgent(asker(agent, key)) },
    { name: "trace", url: trace, key, probe: "/api/v1/workspaces", ids: await fillTrace(asker(trace, key)) },
  ];
}

async function startUp(start: Start): Promise<FuzzTarget> {
  const banner = await start("up", ["up", "--control-port", "0", "--no-trace", "--no-console"]);
  const key = find(banner, /Key\s+(lsv2_\S+)/);
  const url = find(banner, /Control\s+(http\S+)/);
  return { name: "control", url, key, probe: "/v2/deployments", ids: await fillControl(asker(url, key)) };
}

interface Launched {
  child: ChildProcess;
  /** Path of its output. */
  output: string;
  log(): string;
}

/** `directory`: for its data and output. */
function launch(directory: string, args: string[]): Launched {
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const [output, errors] = [join(directory, "output"), join(directory, "errors")];
  const [out, err] = [openSync(output, "w"), openSync(errors, "w")];
  const env = {
    ...process.env,
    HEDDLE_AUTH: "required",
    HEDDLE_RATE_LIMITS: "off",
    // the fuzzer sends queries of any length; 431 is tested elsewhere
    HEDDLE_HTTP_MAX_HEADER_BYTES: "1048576",
    // a run that waits for an answer would never end
    HEDDLE_RUN_TIMEOUT_SECS: "5",
    HEDDLE_GIT_SECONDS: "5",
  };
  const program = ["cli/bin/heddle.js", ...args, "--data-dir", join(directory, "data")];
  const child = spawn(process.execPath, program, { cwd: root, env, stdio: ["ignore", out, err] });
  closeSync(out);
  closeSync(err);
  return { child, output, log: () => readFileSync(errors, "utf8") };
}

const find = (banner: string, pattern: RegExp): string =>
  pattern.exec(banner)?.[1] ?? fail(`the server does not tell ${pattern}: ${banner}`);

async function untilStarted({ child, output }: Launched): Promise<string> {
  for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(100)) {
    const banner = readFileSync(output, "utf8");
    if (banner.includes("Stop with Ctrl-C")) return banner;
    if (child.exitCode !== null) break;
  }
  throw new Error("the servers did not start");
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  await ended;
  clearTimeout(timer);
}

function asker(url: string, key: string): Ask {
  return async (method, path, body) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Json;
  };
}

async function fillAgent(ask: Ask): Promise<RealIds> {
  const ids: Record<string, string[]> = { thread_id: [], run_id: [], checkpoint_id: [] };
  for (const graph of ["counter", "approval", "echo"]) {
    const thread = String((await ask("POST", "/threads", { metadata: { made: "by the fuzzer" } }))["thread_id"]);
    const input = graph === "counter" ? { add: 1 } : graph === "approval" ? { topic: "t" } : { text: "t" };
    const run = await ask("POST", `/threads/${thread}/runs`, { assistant_id: graph, input });
    await ask("GET", `/threads/${thread}/runs/${String(run["run_id"])}/join`).catch(() => {});
    const states = (await ask("GET", `/threads/${thread}/history`)) as unknown as { checkpoint_id?: string }[];
    ids["thread_id"]!.push(thread);
    ids["run_id"]!.push(String(run["run_id"]));
    ids["checkpoint_id"]!.push(...states.flatMap((state) => state.checkpoint_id ?? []));
  }
  const graphs = ["counter", "approval", "echo", "nested", "failing"];
  return { ...ids, assistant_id: graphs, graph_id: graphs };
}

/** Creates resources without starting anything: there is no project to build, and no builder. */
async function fillControl(ask: Ask): Promise<RealIds> {
  const integration = await ask("POST", "/v2/integrations/git", {
    name: "made by the fuzzer",
    url: "https://a.example",
  });
  const listener = await ask("POST", "/v2/listeners", { compute_type: "k8s", compute_id: "c", compute_config: {} });
  const ids: Record<string, string[]> = {
    deployment_id: [],
    revision_id: [],
    deployment_ids: [],
    integration_id: [String(integration["id"])],
    listener_id: [String(listener["id"])],
  };
  for (const name of ["fuzzed", "fuzzed-2", "fuzzed-3"]) {
    const created = await ask("POST", "/v2/deployments", {
      name,
      source: "github",
      source_config: { repo_url: "https://git.invalid/nothing.git" },
      source_revision_config: { repo_ref: "main", langgraph_config_path: "langgraph.json" },
      secrets: [{ name: "A", value: "1" }],
    });
    ids["deployment_id"]!.push(String(created["id"]));
    ids["revision_id"]!.push(String(created["latest_revision_id"]));
  }
  return ids;
}

async function fillTrace(ask: Ask): Promise<RealIds> {
  const dataset = await ask("POST", "/api/v1/datasets", { name: "made by the fuzzer" });
  const example = await ask("POST", "/api/v1/examples", {
    dataset_id: dataset["id"],
    inputs: { a: 1 },
    outputs: { b: 2 },
  });
  const project = await ask("POST", "/api/v1/sessions", { name: "made by the fuzzer" }).catch(() => ({}) as Json);
  const run = crypto.randomUUID();
  const now = new Date().toISOString();
  const launchedProcess = {
    id: run,
    trace_id: run,
    name: "r",
    run_type: "chain",
    start_time: now,
    end_time: now,
    inputs: {},
    outputs: {},
  };
  const dotted = `${now.replaceAll(/[-:.]/g, "").replace("Z", "000Z")}${run}`;
  await ask("POST", "/api/v1/runs/batch", {
    post: [{ ...launchedProcess, dotted_order: dotted, session_name: "made by the fuzzer" }],
  });
  const feedback = await ask("POST", "/api/v1/feedback", { run_id: run, key: "k", score: 1 });
  const share = await ask("PUT", `/api/v1/datasets/${String(dataset["id"])}/share`, {}).catch(() => ({}) as Json);
  const roles = (await ask("GET", "/api/v1/orgs/current/roles").catch(() => [])) as unknown as { id: string }[];
  const text = (...values: unknown[]): string[] =>
    values.flatMap((value) => (typeof value === "string" ? [value] : []));
  return {
    dataset_id: text(dataset["id"]),
    dataset: text(dataset["id"]),
    example_id: text(example["id"]),
    session_id: text(project["id"]),
    project_id: text(project["id"]),
    session: text(project["id"]),
    run_id: [run],
    trace_id: [run],
    feedback_id: text(feedback["id"]),
    share_token: text(share["share_token"]),
    role_id: roles.map((role) => role.id),
  };
}

function fail(message: string): never {
  throw new Error(message);
}
