// npm run bench -- rules: what 20 rules cost the ingest of traces. By turns, with the rules enabled and disabled, runs
// arrive at 2,000 per second and as fast as they are accepted. Prints the ratio of the rates (target: at least 0.95), the
// time from the acknowledgement of a run until its match is stored, and until the rule's actions are done (target: p99
// of 2 s). Takes four minutes. Options: --quick, --seconds N (per turn), --turns N, --apart (starts and ends of runs in
// requests of their own, as most clients send them). Exits with 1 when a target is missed.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import postgres from "postgres";
import { Pool } from "undici";

import { BATCH, multipartBody } from "./ingest-load.ts";
import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    turns: { type: "string" },
    apart: { type: "boolean", default: false },
  },
});
const SECONDS = Number(options.seconds ?? (options.quick ? 5 : 10));
const TURNS = Number(options.turns ?? (options.quick ? 2 : 4));
const OFFERED = 2000;
const CONNECTIONS = 8;
const PROBE_MS = 200;
const PROJECT = "bench";
const TARGETS = { ratio: 0.95, p99: 2000 };

/** Filters as people write them: most look at roots or single runs and match few, some look at whole traces. */
const RULES: Record<string, unknown>[] = [
  { filter: "and(eq(is_root, true), neq(error, null))" },
  { filter: 'and(eq(is_root, true), has(metadata, \'{"user": "u5"}\'))' },
  { filter: 'and(eq(is_root, true), has(tags, "vip"))' },
  { filter: 'and(eq(is_root, true), gt(latency, "30s"))' },
  { filter: 'and(eq(is_root, true), eq(name, "agent"))', sampling_rate: 0.01 },
  { filter: 'and(eq(is_root, true), eq(metadata_key, "environment"), eq(metadata_value, "production"))' },
  { filter: 'and(eq(is_root, true), search(outputs, "I cannot help"))' },
  { filter: 'and(eq(feedback_key, "user"), lt(feedback_score, 0.5))' },
  { filter: 'and(eq(run_type, "llm"), neq(error, null))' },
  { filter: 'and(eq(run_type, "llm"), gt(latency, "20s"))' },
  { filter: 'eq(name, "search_tool")' },
  { filter: 'and(eq(run_type, "retriever"), eq(outputs, null))' },
  { filter: 'has(tags, "review")' },
  { filter: 'and(eq(run_type, "tool"), neq(error, null))' },
  { filter: 'and(eq(run_type, "llm"), has(metadata, \'{"ls_model_name": "model-9"}\'))' },
  { filter: "and(eq(is_root, true), gt(total_tokens, 5000))" },
  { filter: "and(eq(is_root, true), gt(total_cost, 1))" },
  { filter: "eq(is_root, true)", tree_filter: 'and(eq(run_type, "tool"), neq(error, null))' },
  {
    filter: 'and(eq(is_root, true), eq(name, "agent"))',
    group_by: "thread_id",
    sampling_rate: 0.05,
    idle_seconds: 600,
  },
];
const PROBE = "probe";

const directory = await temporaryDirectory();
const rows: [string, string, string, boolean | undefined][] = [];
const busyBefore = loadavg()[0]!;

interface Turn {
  perSecond: number;
  /** CPU time of the server per run in ms. */
  cpu: number;
  p99: number;
}

async function measure(server: TraceUnderTest, rate: number | undefined): Promise<Turn> {
  const pool = new Pool(server.url, { connections: rate === undefined ? CONNECTIONS : 64 });
  const cpuBefore = await processorMs(server.url);
  const latencies: number[] = [];
  let runs = 0;
  const startedAt = performance.now();
  const deadline = startedAt + SECONDS * 1000;
  const send = async () => {
    const { body, ends, type } = multipartBody(PROJECT, options.apart);
    const headers = { "content-type": type, "x-api-key": server.firstKey };
    for (const one of ends ? [body, ends] : [body]) {
      const sent = performance.now();
      const response = await pool.request({ method: "POST", path: "/runs/multipart", headers, body: one });
      const text = await response.body.text();
      latencies.push(performance.now() - sent);
      if (response.statusCode === 202) runs += one === (ends ?? body) ? BATCH : 0;
      else if (response.statusCode !== 429 && response.statusCode !== 503)
        throw new Error(`${response.statusCode} ${text}`);
    }
  };
  if (rate === undefined) {
    const worker = async () => {
      while (performance.now() < deadline) await send();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  } else {
    const sent: Promise<void>[] = [];
    for (let n = 0; performance.now() < deadline; n++) {
      const wait = startedAt + (n * 1000 * BATCH) / rate - performance.now();
      if (wait > 0) await sleep(wait);
      sent.push(send());
    }
    await Promise.all(sent);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  const cpu = ((await processorMs(server.url)) - cpuBefore) / runs;
  return { perSecond: runs / seconds, cpu, p99: percentile(latencies, 0.99) };
}

async function processorMs(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]) * 1000;
}

/** Reads how many runs of projects with rules were written, and how many of them were recorded. */
async function recordedShare(url: string): Promise<{ runs: number; candidates: number }> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(metrics)?.[1] ?? 0);
  return { runs: read("heddle_rule_runs_total"), candidates: read("heddle_rule_candidates_total") };
}

/** Times from the acknowledgement of runs in ms. */
interface Delays {
  match: number[];
  action: number[];
}

/**
 * Sends a run every 200 ms, and measures the times from its acknowledgement until its match can be read, and until the
 * actions of the match are done: the run has its tag and its feedback. With the rules disabled it sends and looks as
 * often, so that both sides of a ratio carry its load.
 */
function probe(
  server: TraceUnderTest,
  sql: postgres.Sql,
  ruleId: string,
  isEnabled: boolean,
): { stop(): Promise<Delays> } {
  const delays: Delays = { match: [], action: [] };
  const waiting = new Map<string, { at: number; isMatched: boolean }>();
  let stopped = false;
  const sending = (async () => {
    while (!stopped) {
      const id = randomUUID();
      const now = new Date().toISOString();
      const order = now.replaceAll(/[-:.]/g, "").replace("Z", "000Z") + id;
      const run = { id, trace_id: id, dotted_order: order, name: PROBE, run_type: "chain", session_name: PROJECT };
      const answer = await fetch(`${server.url}/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": server.firstKey },
        body: JSON.stringify({ ...run, start_time: now, end_time: now }),
      });
      if (answer.ok && isEnabled) waiting.set(id, { at: performance.now(), isMatched: false });
      await answer.arrayBuffer();
      await sleep(PROBE_MS);
    }
  })();
  const looking = (async () => {
    while (!stopped || waiting.size > 0) {
      const ids = [...waiting.keys()];
      const found = await sql<{ run_id: string; status: string }[]>`
        select run_id, status from rule_matches where rule_id = ${ruleId} and run_id = any(${ids}::uuid[])`;
      const now = performance.now();
      for (const { run_id, status } of found) {
        const run = waiting.get(run_id)!;
        if (!run.isMatched) delays.match.push(now - run.at);
        run.isMatched = true;
        if (status === "pending") continue;
        delays.action.push(status === "done" ? now - run.at : Infinity);
        waiting.delete(run_id);
      }
      for (const [id, { at, isMatched }] of waiting) {
        if (now - at < 60_000) continue;
        if (!isMatched) delays.match.push(Infinity);
        delays.action.push(Infinity);
        waiting.delete(id);
      }
      await sleep(20);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await sending;
      await looking;
      return delays;
    },
  };
}

try {
  const server = await startTrace(directory, "rules", { HEDDLE_RATE_LIMITS: "off", UV_THREADPOOL_SIZE: "8" });
  const data = join(directory, "data-rules", "postgres");
  const [port, password] = await Promise.all(["port", "password"].map((file) => readFile(join(data, file), "utf8")));
  const address = { host: "127.0.0.1", port: Number(port), username: "heddle", password: password!.trim() };
  const sql = postgres({ ...address, database: "heddle", max: 2 });
  try {
    const ask = async (method: string, path: string, body: object) => {
      const headers = { "content-type": "application/json", "x-api-key": server.firstKey };
      const answer = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { id: string };
    };
    const create = (rule: object) =>
      ask("POST", "/api/v1/runs/rules", { display_name: "bench", sampling_rate: 1, is_enabled: false, ...rule });
    const rules = await Promise.all(RULES.map(create));
    const probed = await create({
      filter: `eq(name, "${PROBE}")`,
      add_tags: ["probed"],
      add_feedback: [{ key: "probe", score: 1 }],
    });
    const toggle = (is_enabled: boolean) =>
      Promise.all([...rules, probed].map(({ id }) => ask("PATCH", `/api/v1/runs/rules/${id}`, { is_enabled })));
    const drained = async () => {
      while ((await sql`select 1 from rule_candidates limit 1`).length > 0) await sleep(100);
    };
    // warm up both
    for (const isEnabled of [false, true]) {
      await toggle(isEnabled);
      await measure(server, OFFERED);
    }
    for (const rate of [OFFERED, undefined]) {
      const turns: Record<"with" | "without", Turn[]> = { with: [], without: [] };
      const delays: Delays = { match: [], action: [] };
      const recordedBefore = await recordedShare(server.url);
      for (let n = 0; n < 2 * TURNS; n++) {
        // without, with, with, without, …
        const isEnabled = n % 4 === 1 || n % 4 === 2;
        await toggle(isEnabled);
        const probing = probe(server, sql, probed.id, isEnabled);
        turns[isEnabled ? "with" : "without"].push(await measure(server, rate));
        const { match, action } = await probing.stop();
        delays.match.push(...match);
        delays.action.push(...action);
        await drained();
      }
      const name = rate === undefined ? "at full load" : `at ${rate} runs/s`;
      const of = (kind: "with" | "without", value: keyof Turn) => median(turns[kind].map((turn) => turn[value]));
      const ratio = of("with", "perSecond") / of("without", "perSecond");
      const pairs = turns.with.map((turn, n) => turn.perSecond / turns.without[n]!.perSecond);
      const recorded = await recordedShare(server.url);
      const share = (recorded.candidates - recordedBefore.candidates) / (recorded.runs - recordedBefore.runs);
      rows.push(
        [
          `runs/s ${name}, without / with rules`,
          `${of("without", "perSecond").toFixed(0)} / ${of("with", "perSecond").toFixed(0)}`,
          "",
          undefined,
        ],
        [`ratio ${name}`, ratio.toFixed(3), `>= ${TARGETS.ratio}`, ratio >= TARGETS.ratio],
        [`ratios of the turns ${name}`, pairs.map((pair) => pair.toFixed(2)).join(" "), "", undefined],
        [`runs recorded for rules ${name}`, `${(100 * share).toFixed(1)} %`, "", undefined],
        [
          `CPU time per run ${name}, without / with`,
          `${of("without", "cpu").toFixed(3)} / ${of("with", "cpu").toFixed(3)} ms`,
          "",
          undefined,
        ],
        [
          `answer ${name}, p99, without / with`,
          `${of("without", "p99").toFixed(0)} / ${of("with", "p99").toFixed(0)} ms`,
          "",
          undefined,
        ],
        ...(["match", "action"] as const).map((what): (typeof rows)[number] => {
          const p99 = percentile(delays[what], 0.99);
          const value = `${median(delays[what]).toFixed(0)} / ${p99.toFixed(0)} ms`;
          const target = `p99 <= ${TARGETS.p99} ms`;
          return [`acknowledgement to ${what} ${name}, median / p99`, value, target, p99 <= TARGETS.p99];
        }),
      );
    }
  } finally {
    await sql.end();
    await server.stop();
  }
} finally {
  await removeDirectory(directory);
}

console.log(
  `Rules: ${RULES.length + 1} rules, requests of ${BATCH} runs of 2 kB, ${TURNS} turns of ${SECONDS} s each. ` +
    `Node ${process.version}, ${cpus().length} cores, client on the same machine.\n`,
);
for (const [what, value, target, pass] of rows) {
  console.log(
    `${what.padEnd(52)} ${value.padEnd(18)} ${target.padEnd(16)} ${pass === undefined ? "" : pass ? "ok" : "MISSED"}`,
  );
}
if (busyBefore > 1)
  console.log(`\nThe machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
process.exitCode = rows.some(([, , , pass]) => pass === false) ? 1 : 0;
