/**
 * npm run bench -- code-evaluators: how long an evaluation by code takes in JavaScript and Python, first and in steady
 * use, without the database. Options: --quick (fewer samples). Exits with 1 when a target is missed.
 */
import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { median, percentile } from "./statistics.ts";
import { Targets } from "./targets.ts";

const { values: options } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false } },
});
const SAMPLES = options.quick ? 100 : 1000;
const TARGET_MS: Record<string, number> = { javascript: 5, python: 25 };

const program = join(import.meta.dirname, "../server/test/fixtures/code-evaluation-latency.ts");
const output = execFileSync(process.execPath, ["--import", "tsx", program, String(SAMPLES)], { encoding: "utf8" });

interface Measured {
  language: string;
  first: number;
  latencies: number[];
  perSecond: number;
  memory: number;
}

const targets = new Targets();
const [load] = loadavg();
console.log(
  `${cpus().length} processors, load ${load!.toFixed(1)}, Node.js ${process.version}, ${SAMPLES} evaluations\n`,
);
for (const line of output.trim().split("\n")) {
  const { language, first, latencies, perSecond, memory } = JSON.parse(line) as Measured;
  const target = TARGET_MS[language]!;
  const steady = median(latencies);
  targets.report(`${language}: steady, median`, `${steady.toFixed(1)} ms`, steady <= target, `<= ${target} ms`);
  console.log(
    `${`${language}: steady, 99th percentile`.padEnd(42)} ${percentile(latencies, 0.99).toFixed(1).padStart(7)} ms`,
  );
  console.log(`${`${language}: first, with its process`.padEnd(42)} ${first.toFixed(0).padStart(7)} ms`);
  console.log(`${`${language}: evaluations per second`.padEnd(42)} ${perSecond.toFixed(0).padStart(7)}`);
  console.log(`${`${language}: memory of a process`.padEnd(42)} ${memory.toFixed(0).padStart(7)} MiB`);
}
process.exit(targets.missed ? 1 : 0);
