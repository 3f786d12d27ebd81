/**
 * npm run bench -- prompts: how long a pull of a prompt by tag takes, and how many there are per second, in a workspace
 * with 100,000 commits. Options: --quick (2,000 commits), --commits N, --seconds N. Exits with 1 when a target is missed.
 *
 * One prompt gets a thousand commits; its forks, each with a copy of them, make up the rest.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { Pool } from "undici";

import { processorTime } from "./processes.ts";
import { removeDirectory, startTrace, temporaryDirectory } from "./servers.ts";
import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, commits: { type: "string" }, seconds: { type: "string" } },
});
const COMMITS = Number(options.commits ?? (options.quick ? 2000 : 100_000));
const SECONDS = Number(options.seconds ?? (options.quick ? 3 : 10));
/** Commits that a fork copies. */
const EACH = 1000;
const PROMPTS = Math.ceil(COMMITS / EACH);
const CLIENTS = [16, 32];
const TARGET_MS = 3;
const TARGET_PER_SECOND = 2000;
const TAG = "production";

const directory = await temporaryDirectory();
const server = await startTrace(directory, "prompts", { HEDDLE_RATE_LIMITS: "off", HEDDLE_AUTH: "required" });
const pool = new Pool(server.url, { connections: Math.max(...CLIENTS) });
const headers = { "x-api-key": server.firstKey, "content-type": "application/json" };

async function request<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
  const response = await pool.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

/** A chat prompt of the usual size, about 2 KB. */
const manifest = (n: number) => {
  const message = (type: string, text: string) => ({
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "prompts", "chat", `${type}MessagePromptTemplate`],
    kwargs: {
      prompt: {
        lc: 1,
        type: "constructor",
        id: ["langchain_core", "prompts", "prompt", "PromptTemplate"],
        kwargs: { template: text, input_variables: ["question"], template_format: "f-string" },
      },
    },
  });
  const messages = [
    message("System", `Version ${n}. ${"Answer in one sentence. ".repeat(50)}`),
    message("Human", "{question}"),
  ];
  const id = ["langchain_core", "prompts", "chat", "ChatPromptTemplate"];
  return { lc: 1, type: "constructor", id, kwargs: { messages, input_variables: ["question"] } };
};

const name = (n: number) => `prompt-${n}`;

/** Creates the prompts, and sets the tag in the middle of each one's commits. */
async function seed(): Promise<void> {
  await request("POST", "/repos", { repo_handle: name(0), is_public: false });
  let parent: string | null = null;
  for (let n = 0; n < Math.min(EACH, COMMITS); n++) {
    type Created = { commit: { commit_hash: string } };
    const made: Created = await request<Created>("POST", `/commits/-/${name(0)}`, {
      manifest: manifest(n),
      parent_commit: parent,
    });
    parent = made.commit.commit_hash;
  }
  for (let n = 1; n < PROMPTS; n++) await request("POST", `/repos/-/${name(0)}/fork`, { repo_handle: name(n) });
  for (let n = 0; n < PROMPTS; n++) {
    const offset = Math.floor(Math.min(EACH, COMMITS) / 2);
    type Page = { commits: { id: string }[] };
    const { commits } = await request<Page>("GET", `/commits/-/${name(n)}?limit=1&offset=${offset}`);
    await request("POST", `/repos/-/${name(n)}/tags`, { tag_name: TAG, commit_id: commits[0]!.id });
  }
}

/** Pulls prompts in turn for that long. @returns milliseconds of each pull, and pulls per second */
async function pull(clients: number, seconds: number): Promise<{ times: number[]; perSecond: number }> {
  const times: number[] = [];
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  let n = 0;
  const client = async () => {
    while (performance.now() < deadline) {
      const path = `/commits/-/${name((n += 7) % PROMPTS)}/${TAG}`;
      const at = performance.now();
      const response = await pool.request({ method: "GET", path, headers });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { times, perSecond: (times.length * 1000) / (performance.now() - startedAt) };
}

const targets = new Targets();
try {
  console.log(`load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
  const seededAt = performance.now();
  await seed();
  const { total } = await request<{ total: number }>("GET", `/commits/-/${name(PROMPTS - 1)}?limit=1`);
  const seconds = (performance.now() - seededAt) / 1000;
  console.log(`${PROMPTS} prompts with ${total} commits each, in ${seconds.toFixed(0)} s`);
  await pull(Math.max(...CLIENTS), 2);
  const { times } = await pull(1, SECONDS);
  const typical = median(times);
  targets.report(
    "pull by tag, one client: median",
    `${typical.toFixed(2)} ms`,
    typical <= TARGET_MS,
    `<= ${TARGET_MS} ms`,
  );
  console.log(
    `${"pull by tag, one client: p99".padEnd(42)} ${`${percentile(times, 0.99).toFixed(2)} ms`.padStart(10)}`,
  );
  for (const clients of CLIENTS) {
    const before = { server: processorTime([server.pid]), client: process.cpuUsage() };
    const many = await pull(clients, SECONDS);
    const { user, system } = process.cpuUsage(before.client);
    const perSecond = many.perSecond.toFixed(0);
    const label = `pulls per second, ${clients} clients`;
    targets.report(label, perSecond, many.perSecond >= TARGET_PER_SECOND, `>= ${TARGET_PER_SECOND}`);
    const each = (ms: number) => (ms / many.times.length).toFixed(2);
    const cpu = `${each(processorTime([server.pid]) - before.server)} ms with Postgres, client ${each((user + system) / 1000)} ms`;
    console.log(
      `  median / p99 ${median(many.times).toFixed(1)} / ${percentile(many.times, 0.99).toFixed(1)} ms; CPU of each ${cpu}`,
    );
  }
  if (targets.missed) process.exitCode = 1;
} finally {
  await pool.close();
  await server.stop();
  await removeDirectory(directory);
}
