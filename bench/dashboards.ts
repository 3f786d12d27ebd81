// npm run bench -- dashboards: the time of a project's dashboard (12 charts over 30 days) over 1,000,000 runs, at rest
// and while runs arrive, with the copies of finished hours and without them, by turns. A first read is one of which the
// server remembers no step: each is in another time zone. Options: --runs N, --samples N,
// --turns N, --quick (100,000 runs), --data DIR (kept, so that the next bench needs no seeding), --only-copies. Exits
// with 1 when a target is missed, or when both sides differ.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";

import { processorTime, residentMemory } from "./processes.ts";
import { seedDirectory, startSeededTrace } from "./seeded-trace.ts";
import { startTrace, type TraceUnderTest } from "./servers.ts";
import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string" },
    runs: { type: "string" },
    samples: { type: "string" },
    turns: { type: "string" },
    "only-copies": { type: "boolean", default: false },
  },
});
const RUNS = Number(options.runs ?? (options.quick ? 100_000 : 1_000_000));
const SAMPLES = Number(options.samples ?? 7);
const TURNS = Number(options.turns ?? 2);
const LIMIT_MS = RUNS > 1_000_000 ? 1000 : 400;
const DAY_MS = 86_400_000;

const { directory, end } = await seedDirectory(options.data);
const busyBefore = loadavg()[0]!;
const targets = new Targets();
try {
  const env = { HEDDLE_RATE_LIMITS: "off", UV_THREADPOOL_SIZE: "8" };
  const seeded = await startSeededTrace(directory, "seeded", env, RUNS);
  const { project } = seeded;
  const { firstKey } = seeded.server;
  let server: TraceUnderTest = seeded.server;
  try {
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(server.url + path, {
        method,
        headers: { "x-api-key": firstKey, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    };
    const chart = (title: string, metrics: string[], filter: string, group_by?: object) => ({
      title,
      chart_type: "line",
      common_filters: { session: [project.id], filter },
      series: metrics.map((metric) => ({ name: metric, metric, group_by })),
    });
    const [traces, calls] = ["eq(is_root, true)", 'eq(run_type, "llm")'];
    const charts = [
      chart("traces", ["run_count"], traces),
      chart("latency", ["latency_p50", "latency_p95", "latency_p99"], traces),
      chart("error rate", ["error_rate"], traces),
      chart("cost", ["total_cost"], traces),
      chart("tokens", ["prompt_tokens", "completion_tokens"], traces),
      chart("feedback", ["feedback_count"], traces),
      chart("calls", ["run_count"], calls),
      chart("latency of calls", ["latency_p50", "latency_p99"], calls),
      chart("error rate of calls", ["error_rate"], calls),
      chart("tokens of calls", ["total_tokens"], calls),
      chart("runs by name", ["run_count"], traces, { attribute: "name" }),
      chart("errors by env", ["error_rate"], traces, { attribute: "metadata", path: "env" }),
    ];
    const { id: section } = await ask("POST", "/charts/section", { title: "bench" });
    for (const one of charts) await ask("POST", "/charts/create", { ...one, section_id: section });
    const period = () => ({
      start_time: new Date(Date.now() - 30 * DAY_MS).toISOString(),
      end_time: new Date().toISOString(),
      stride: { hours: 6 },
    });
    // the runs that arrive during the bench are outside of it
    const fixed = {
      start_time: new Date(Math.ceil(Date.now() / 3_600_000 - 29 * 24) * 3_600_000).toISOString(),
      end_time: new Date(Math.floor(Date.now() / 3_600_000 - 2) * 3_600_000).toISOString(),
      stride: { hours: 6 },
    };
    const path = `/charts/section/${String(section)}`;
    const dashboard = () => ask("POST", path, period());
    // their offsets begin at the hour
    const zones = Array.from({ length: 26 }, (_, i) => `Etc/GMT${i < 12 ? "+" : "-"}${i < 12 ? i + 1 : i - 11}`);
    const first = () => {
      zones.push(zones.shift()!);
      return ask("POST", path, { ...period(), timezone: zones[0] });
    };
    const changes = () =>
      ask("POST", "/charts/changes", {
        session: [project.id],
        start_time: new Date(Date.now() - DAY_MS).toISOString(),
      });

    console.log(
      `A project of ${RUNS.toLocaleString("en")} runs, Node ${process.version}, ${cpus().length} cores, client on the ` +
        `same machine. Medians of ${SAMPLES}.\n`,
    );
    const copying = performance.now();
    const copyingFrom = processorTime([server.pid]);
    await copied(server.url);
    const copyingTime = (processorTime([server.pid]) - copyingFrom) / 1000;
    console.log(
      `all hours copied within ${((performance.now() - copying) / 1000).toFixed(0)} s, with ${copyingTime.toFixed(0)} s ` +
        `of a processor, load ${loadavg()[0]!.toFixed(1)}\n`,
    );
    const totals: string[] = [];
    for (let turn = 0; turn < (options["only-copies"] ? 1 : TURNS * 2); turn++) {
      const isWith = turn % 2 === 0;
      if (turn > 0) {
        await server.stop();
        server = await startTrace(directory, "seeded", { ...env, HEDDLE_RUN_COPIES: String(isWith) });
      }
      const side = isWith ? "copies" : "no copies";
      const limit = isWith ? LIMIT_MS : undefined;
      if (isWith) await line(`${side}: first read of 12 charts`, server, first, limit);
      await line(`${side}: 12 charts over 30 days`, server, dashboard, limit);
      let arriving = true;
      const arrive = (async () => {
        while (arriving) {
          const start = new Date(Date.now() - 60_000);
          await ask("POST", "/runs/batch", { post: Array.from({ length: 50 }, () => sample(start)) });
          await new Promise((resolve) => setTimeout(resolve, 250));
        }
      })();
      if (isWith) await line(`${side}: first read while 200 runs arrive`, server, first, limit);
      await line(`${side}: while 200 runs arrive a second`, server, dashboard, limit);
      arriving = false;
      await arrive;
      totals.push(JSON.stringify(await ask("POST", path, fixed)));
    }
    if (totals.some((text) => text !== totals[0])) {
      targets.report("answers with and without copies", "differ", false, "equal");
    }
    await line("what got worse in a day", server, changes, 3000);
    console.log(`\nresident memory of the server: ${(residentMemory(server.pid).own / 1e6).toFixed(0)} MB`);
  } finally {
    await server.stop();
  }

  function sample(start: Date) {
    const id = crypto.randomUUID();
    const segment = `${start.toISOString().replaceAll(/[-:.Z]/g, "")}000Z${id}`;
    return {
      id,
      trace_id: id,
      dotted_order: segment,
      name: "step 0",
      run_type: "chain",
      session_name: "bench",
      start_time: start.toISOString(),
      end_time: new Date().toISOString(),
      inputs: { question: "a question" },
      outputs: { answer: "an answer" },
    };
  }
} finally {
  await end();
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Waits until the server has copied the hours that it can. */
async function copied(url: string): Promise<void> {
  for (;;) {
    const text = await (await fetch(new URL("/metrics", url))).text();
    const read = (state: string) =>
      Number(new RegExp(`heddle_run_hours\\{state="${state}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
    if (read("current") > 0 && read("open") === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function line(
  label: string,
  server: TraceUnderTest,
  work: () => Promise<unknown>,
  limit: number | undefined,
): Promise<void> {
  const times: number[] = [];
  await work();
  const before = processorTime([server.pid]);
  for (let i = 0; i < SAMPLES; i++) times.push(await time(work));
  const processor = (processorTime([server.pid]) - before) / SAMPLES;
  const middle = median(times);
  if (limit === undefined) console.log(`${label.padEnd(42)} ${middle.toFixed(0).padStart(7)} ms`);
  else targets.report(label, `${middle.toFixed(0)} ms`, middle <= limit, `<= ${limit} ms`);
  console.log(
    `${"  least, 95th percentile".padEnd(42)} ${Math.min(...times)
      .toFixed(0)
      .padStart(7)} ms, ` +
      `${percentile(times, 0.95).toFixed(0)} ms; processor time of the server ${processor.toFixed(0)} ms each, ` +
      `load ${loadavg()[0]!.toFixed(1)}`,
  );
}

if (busyBefore > 1) {
  console.log(`\nThe machine was busy before (load ${busyBefore.toFixed(1)}): these measurements are worth little.`);
}
process.exitCode = targets.missed ? 1 : 0;
