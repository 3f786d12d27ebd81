// npm run bench -- query: response times of the trace platform in a project of 1,000,000 runs. Options: --runs N,
// --samples N, --quick (100,000 runs), --laptop (50,000 runs), --data DIR (kept). Targets depend on the number of runs. Exits
// with 1 when a target is missed.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { residentMemory } from "./processes.ts";
import { seedDirectory, startSeededTrace } from "./seeded-trace.ts";
import { median, percentile } from "./statistics.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    laptop: { type: "boolean", default: false },
    data: { type: "string" },
    runs: { type: "string" },
    samples: { type: "string" },
  },
});
const RUNS = Number(options.runs ?? (options.laptop ? 50_000 : options.quick ? 100_000 : 1_000_000));
const SAMPLES = Number(options.samples ?? 21);
/** Times that a question is asked again. */
const AGAIN = 5;
const DAY_MS = 86_400_000;
const startedAt = Date.now();
/** Medians in milliseconds: on a laptop (50,000 runs), and at size. */
const targets =
  RUNS <= 50_000
    ? { run: 8, trace: 12, roots: 25, errors: 25, totals: 10, attribute: 40, word: 100, noWord: 60 }
    : { trace: 30, roots: 30, totals: 150, attribute: 80, noWord: RUNS <= 1_000_000 ? 300 : 1500 };
const ENV = { HEDDLE_RATE_LIMITS: "off", UV_THREADPOOL_SIZE: "8" };

interface Answer {
  runs?: unknown[];
  run_count?: number;
  groups?: unknown[];
  id?: string;
  tenant_id?: string;
}

const { directory, end } = await seedDirectory(options.data);
const busyBefore = loadavg()[0]!;
let missed = false;
try {
  const { server, project, bigTrace } = await startSeededTrace(directory, "seeded", ENV, RUNS);
  try {
    const session = [project.id];
    const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const metadata = 'and(eq(metadata_key,"env"),eq(metadata_value,"prod"),gt(latency,9))';
    const rare = 'and(eq(metadata_key,"user"),eq(metadata_value,"nobody"))';
    // a bound before all runs, another one for each number: an answer is remembered until something is written
    const since = (n: number) => new Date(startedAt - 400 * DAY_MS - n * 1000).toISOString();
    const until = (n: number) => new Date(startedAt + DAY_MS + n * 1000).toISOString();
    const query = (body: object) => (n: number) =>
      ask(server, "POST", "/runs/query", { session, start_time: since(n), ...body });
    const select = [
      "id",
      "name",
      "status",
      "start_time",
      "end_time",
      "inputs_preview",
      "outputs_preview",
      "total_tokens",
    ];

    console.log(
      `A project of ${RUNS.toLocaleString("en")} runs in two pieces each, Node ${process.version}, ${cpus().length} cores, ` +
        `client on the same machine. Medians of ${SAMPLES} questions, each with another bound, id or word, and of the last one asked again.\n`,
    );
    const { runs: some } = await ask(server, "POST", "/runs/query", {
      session,
      is_root: true,
      select: ["id"],
      limit: 50,
    });
    const traces = some!.map((run) => (run as { id: string }).id);
    const trace = (n: number) => traces.at(n % traces.length)!;
    await line("a run by its id", (n) => ask(server, "GET", `/runs/${trace(n)}`), targets.run);
    await line("a trace, whole", (n) => query({ trace: trace(n), start_time: undefined })(n), targets.trace);
    await line("newest 100 roots, as a table shows them", query({ is_root: true, select }), targets.roots);
    await line("newest 100 errors, as a table", query({ error: true, select }), targets.errors);
    await line("totals", () => ask(server, "GET", `/sessions/${project.id}?include_stats=true`), targets.totals);
    await line("100 by an attribute", query({ select, filter: metadata }), targets.attribute);
    await line("100 by a word", query({ select, filter: 'search("answer")' }), targets.word);
    const unknown = (n: number) => query({ select, filter: `search("zebra${startedAt}${n + 2}")` })(n);
    await line("a word that occurs nowhere, each a new one", unknown, targets.noWord);
    console.log("");
    await line("newest 100 runs, whole", query({}), 50);
    await line("newest 100 roots, whole", query({ is_root: true }));
    await line("a page in the middle", (n) => query({ end_time: ago(15 + n / 1e4), limit: 100 })(n));
    await line("a trace of 1,000 runs, whole", query({ trace: bigTrace, start_time: undefined }), 150);
    await line(
      "100 by metadata and latency in a day",
      (n) => query({ filter: metadata, start_time: ago(8), end_time: ago(7 + n / 1e4) })(n),
      300,
    );
    await line("100 by metadata and latency, any time", query({ filter: metadata }));
    await line("what nothing passes, any time", query({ filter: rare }));
    await line("100 with a failed run in their trace", query({ is_root: true, tree_filter: 'eq(status,"error")' }));
    for (const order_by of ["latency", "total_cost", "name"]) {
      for (const [range, bounds] of [
        ["a week", { start_time: ago(7) }],
        ["everything", {}],
      ] as const) {
        await line(
          `50 roots of ${range} by ${order_by}`,
          query({ is_root: true, select, limit: 50, order_by, ...bounds }),
        );
      }
    }
    await line("50 runs of everything by total_cost", query({ select, limit: 50, order_by: "total_cost" }));
    await line(
      "50 roots with gt(total_cost, 0.001)",
      query({ is_root: true, select, filter: "gt(total_cost, 0.001)" }),
    );
    await line(
      "statistics over a week, all runs",
      (n) => ask(server, "POST", "/runs/stats", { session, start_time: ago(7), end_time: until(n) }),
      500,
    );
    await line(
      "statistics over a week, traces",
      (n) => ask(server, "POST", "/runs/stats", { session, is_root: true, start_time: ago(7), end_time: until(n) }),
      500,
    );
    await line("statistics over everything, traces", () =>
      ask(server, "GET", `/sessions/${project.id}?include_stats=true`),
    );
    for (const order_by of ["start_time", "latency", "total_cost"]) {
      await line(`20 threads of a week by ${order_by}`, (n) =>
        ask(server, "POST", "/runs/group", {
          session_id: project.id,
          group_by: "conversation",
          limit: 20,
          start_time: ago(7 + n / 1e4),
          order_by,
        }),
      );
    }
    const find = (label: string, text: string, target = 1000) =>
      line(
        label,
        (n) => ask(server, "GET", `/search?q=${encodeURIComponent(text)}&limit=${1 + ((n + 2) % 20)}`),
        target,
      );
    await find("search: 6 characters of an id", bigTrace.slice(-6), 300);
    await find("search: a whole id", bigTrace, 300);
    await find("search: a part of no id", "0f1e2d3c4b5a");
    await find("search: a word of every run", "answer");
    await find("search: a name", "step 7", 300);
    await find("search: what occurs nowhere", "no such words");
    console.log(`\nresident memory of the server: ${(residentMemory(server.pid).own / 1e6).toFixed(0)} MB`);
  } finally {
    await server.stop();
  }
} finally {
  await end();
}

/** Asks for numbers from -2 on, of which the first two do not count, and then the last question again. */
async function line(label: string, work: (n: number) => Promise<Answer>, target?: number): Promise<void> {
  const times: number[] = [];
  const again: number[] = [];
  let answer: Answer = {};
  for (let n = -2; n < SAMPLES + AGAIN; n++) {
    const startedAt = performance.now();
    answer = await work(Math.min(n, SAMPLES - 1));
    if (n >= 0) (n < SAMPLES ? times : again).push(performance.now() - startedAt);
  }
  const found = answer.runs?.length ?? answer.groups?.length ?? answer.run_count ?? 1;
  const pass = target === undefined ? undefined : median(times) < target;
  if (pass === false) missed = true;
  console.log(
    `${label.padEnd(42)} ${median(times).toFixed(1).padStart(8)} ms  p95 ${percentile(times, 0.95).toFixed(1).padStart(7)} ms  ` +
      `again ${median(again).toFixed(1).padStart(6)} ms  ` +
      `${String(found).padStart(8)}   ${target === undefined ? "" : `< ${target} ms`.padEnd(10)} ${pass === undefined ? "" : pass ? "ok" : "MISSED"}`,
  );
}

async function ask(
  server: { url: string; firstKey: string },
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { "x-api-key": server.firstKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

if (busyBefore > 1)
  console.log(`\nThe machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
process.exitCode = missed ? 1 : 0;
