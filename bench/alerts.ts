// npm run bench -- alerts: 500 alert rules (the most a workspace can have), each evaluated every minute, and 10 budgets
// over 1,000,000 runs of 30 days. Prints how late the ticks are stored, the share of the processors, and the time to the
// first spend of the budgets. A tick should be stored within 30 s, half of the shortest interval, so that none waits for the
// next one. Options: --runs N, --rules N, --minutes N, --quick, --data DIR (kept). Exits with 1 when a target is missed.
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { seedDirectory, startSeededTrace } from "./seeded-trace.ts";
import { percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    data: { type: "string" },
    runs: { type: "string" },
    rules: { type: "string" },
    minutes: { type: "string" },
  },
});
const RUNS = Number(options.runs ?? (options.quick ? 100_000 : 1_000_000));
const RULES = Number(options.rules ?? (options.quick ? 100 : 500));
const MINUTES = Number(options.minutes ?? (options.quick ? 2 : 5));
const BUDGETS = 10;

/** Conditions as people write them: a third by group, a quarter with long windows. */
const KINDS = [
  { attribute: "error_count", aggregation: "pct", window_minutes: 15 },
  { attribute: "latency", aggregation: "p95", window_minutes: 60, filter: "eq(is_root, true)" },
  { attribute: "total_cost", aggregation: "sum", window_minutes: 1440, filter: "eq(is_root, true)" },
  { attribute: "run_count", aggregation: "sum", window_minutes: 5, group_by: { attribute: "name" } },
  {
    attribute: "total_tokens",
    aggregation: "avg",
    window_minutes: 60,
    group_by: { attribute: "metadata", path: "env" },
  },
  { type: "change", threshold_multiplier: 3, attribute: "run_count", aggregation: "sum", window_minutes: 30 },
];

const { directory, end } = await seedDirectory(options.data);
const busyBefore = loadavg()[0]!;
const targets = new Targets();
try {
  const { server, project } = await startSeededTrace(directory, "seeded", { HEDDLE_RATE_LIMITS: "off" }, RUNS);
  try {
    const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
      const headers = { "x-api-key": server.firstKey, "content-type": "application/json" };
      const response = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    const processorSeconds = async () =>
      Number(/^process_cpu_seconds_total (\S+)/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
    console.log(
      `${RULES} alerts and ${BUDGETS} budgets over ${RUNS.toLocaleString("en")} runs, Node ${process.version}, ` +
        `${cpus().length} cores, load before ${busyBefore.toFixed(1)}. ${MINUTES} minutes.\n`,
    );
    const idleFrom = await processorSeconds();
    await sleep(10_000);
    const idle = ((await processorSeconds()) - idleFrom) / 10;

    const begun = performance.now();
    for (let n = 0; n < BUDGETS; n++) {
      const scope = n % 2 === 0 ? {} : { session_id: project.id };
      await ask("POST", "/v1/platform/budgets", { ...scope, name: `Budget ${n}`, limit_usd: 1e6, user_key: "user" });
    }
    const measured = async () =>
      ((await ask("GET", "/v1/platform/budgets")) as { measured_at: string | null }[]).every((one) => one.measured_at);
    while (!(await measured())) await sleep(100);
    const first = (performance.now() - begun) / 1000 / BUDGETS;
    targets.report("first spend of a budget, two months", `${first.toFixed(1)} s`, first <= 30, "30 s");

    for (let n = 0; n < RULES; n++) {
      const kind = { type: "threshold", operator: "gt", threshold: 1e9, ...KINDS[n % KINDS.length] };
      await ask("POST", `/v1/platform/alerts/${project.id}`, { rule: { name: `Rule ${n}`, ...kind }, actions: [] });
    }
    // the first ticks of all rules are due at once
    await sleep(60_000 - (Date.now() % 60_000) + 30_000);
    const cpuFrom = await processorSeconds();
    const from = performance.now();
    const seen = new Map<string, string>();
    const late: number[] = [];
    let isFirst = true;
    while (performance.now() - from < MINUTES * 60_000) {
      const now = Date.now();
      type Listed = { rule: { id: string; evaluated_at: string | null; error: string | null } }[];
      for (const { rule } of (await ask("GET", "/v1/platform/alerts?limit=500")) as Listed) {
        if (rule.error !== null) throw new Error(rule.error);
        const tick = rule.evaluated_at!;
        if (seen.get(rule.id) !== tick && !isFirst) late.push(now - Date.parse(tick));
        seen.set(rule.id, tick);
      }
      isFirst = false;
      await sleep(1000);
    }
    const share = ((await processorSeconds()) - cpuFrom) / ((performance.now() - from) / 1000) - idle;
    targets.report("ticks stored", String(late.length), late.length >= RULES * (MINUTES - 1), "all");
    const p99 = percentile(late, 0.99) / 1000;
    console.log(
      `${"until a tick is stored, p50".padEnd(42)} ${(percentile(late, 0.5) / 1000).toFixed(1).padStart(8)} s`,
    );
    targets.report("until a tick is stored, p99", `${p99.toFixed(1)} s`, p99 <= 30, "30 s");
    console.log(`${"load at the end".padEnd(42)} ${loadavg()[0]!.toFixed(1).padStart(8)}`);
    targets.report("share of a processor, with this reader", `${(100 * share).toFixed(0)} %`, share <= 1, "100 %");
  } finally {
    await server.stop();
  }
} finally {
  await end();
}
process.exit(targets.missed ? 1 : 0);
