/** The servers that are fuzzed: `heddle dev` as a user starts it, with keys needed, and some things in it. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, openSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { RealIds } from "./fuzz-ids.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const START_MS = 90_000;

export interface FuzzTarget {
  name: "agent" | "trace";
  url: string;
  key: string;
  ids: RealIds;
  /** A path that a working key may read. */
  probe: string;
}

export interface Targets {
  targets: FuzzTarget[];
  /** For files, gone after `stop`. */
  directory: string;
  /** What the servers have logged. */
  log(): string;
  stop(): Promise<void>;
}

type Json = Record<string, never> & Record<string, unknown>;
type Ask = (method: string, path: string, body?: unknown) => Promise<Json>;

export async function startTargets(): Promise<Targets> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-fuzz-"));
  chmodSync(directory, 0o755);
  const output = join(directory, "output");
  const errors = join(directory, "errors");
  const [out, err] = [openSync(output, "w"), openSync(errors, "w")];
  const args = [
    "cli/bin/heddle.js",
    "dev",
    "--config",
    "conformance/project/langgraph.json",
    "--no-reload",
    "--no-console",
  ];
  args.push("--port", "0", "--trace-port", "0", "--data-dir", join(directory, "data"));
  const env = {
    ...process.env,
    HEDDLE_AUTH: "required",
    HEDDLE_RATE_LIMITS: "off",
    // the fuzzer sends queries of any length; 431 is tested elsewhere
    HEDDLE_HTTP_MAX_HEADER_BYTES: "1048576",
    // a run that waits for somebody would wait for ever
    HEDDLE_RUN_TIMEOUT_SECS: "5",
  };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", out, err] });
  closeSync(out);
  closeSync(err);
  let tail = "";
  const log = () => (tail === "" ? readFileSync(errors, "utf8") : tail);
  const stop = async () => {
    await end(child);
    tail = log();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const banner = await untilStarted(child, output);
    const found = (pattern: RegExp) =>
      pattern.exec(banner)?.[1] ?? fail(`the server does not tell ${pattern}: ${banner}`);
    const key = found(/Key\s+(lsv2_\S+)/);
    const agent = found(/API\s+(http\S+)/);
    const trace = found(/Traces\s+(http\S+)/);
    const targets: FuzzTarget[] = [
      { name: "agent", url: agent, key, probe: "/threads/count", ids: await fillAgent(asker(agent, key)) },
      { name: "trace", url: trace, key, probe: "/api/v1/workspaces", ids: await fillTrace(asker(trace, key)) },
    ];
    return { targets, directory, log, stop };
  } catch (error) {
    const told = log();
    await stop();
    throw new Error(`${String(error)}\n${told.slice(-4000)}`, { cause: error });
  }
}

async function untilStarted(child: ChildProcess, output: string): Promise<string> {
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
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
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
  const one = {
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
    post: [{ ...one, dotted_order: dotted, session_name: "made by the fuzzer" }],
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
