import { appendFileSync, writeFileSync } from "node:fs";

import { UsageError } from "../../core/flags.ts";
import { formatTable } from "../../core/table.ts";
import type { TraceApi } from "../../core/trace-api.ts";
import {
  compare,
  type Comparison,
  type Experiment,
  findBaseline,
  type Job,
  type JobRow,
  listFailed,
  setBaseline,
} from "./experiment-api.ts";
import {
  type Condition,
  formatDelta,
  formatNumber,
  judgeGate,
  needsBaseline,
  pairOf,
  type Pair,
  readMeasure,
  type Verdict,
  VERDICTS,
} from "./gate.ts";
import { writeSummary } from "./summary.ts";

/** Examples of the summary's list of regressions. */
const MAX_REGRESSIONS = 20;

export interface ReportOptions {
  baseline: string | undefined;
  conditions: Condition[];
  summary: string | undefined;
  json: boolean;
  console: string | undefined;
  /** Whether the experiment becomes the dataset's baseline when its gate passes. */
  setsBaseline: boolean;
}

/**
 * Compares an experiment with its baseline, judges the gate, and writes the results.
 * @returns the exit code: 0 passed, 1 failed
 * @throws UsageError when a condition needs a baseline and none is named
 */
export async function reportExperiment(
  api: TraceApi,
  experiment: Experiment,
  job: Job | undefined,
  options: ReportOptions,
): Promise<0 | 1> {
  const dataset = experiment.reference_dataset_id!;
  const baseline = await findBaseline(api, dataset, options.baseline, experiment.id);
  checkBaseline(options, baseline);
  const order = { experiment: experiment.id, baseline, rows: MAX_REGRESSIONS };
  const [comparison, { name: datasetName }, failed] = await Promise.all([
    compare(api, dataset, order),
    api.send<{ name: string }>("GET", `/datasets/${dataset}`),
    job ? listFailed(api, job.id, 5) : ([] as JobRow[]),
  ]);
  const pair = pairOf(comparison, experiment.id);
  const verdicts = judgeGate(options.conditions, pair);
  const isFailed = verdicts.some(({ outcome }) => outcome === "failed");
  const base = options.console ?? job?.url.replace(/\/experiments\/[^/]*$/, "");
  const markdown = writeSummary({
    ...{ pair, comparison, verdicts, job, failed, datasetName },
    datasetId: dataset,
    console: base?.replace(/\/+$/, ""),
  });
  const stepSummary = process.env["GITHUB_STEP_SUMMARY"];
  if (options.summary !== undefined) writeFileSync(options.summary, markdown);
  if (stepSummary) appendFileSync(stepSummary, markdown);
  const moves = options.setsBaseline && !isFailed;
  if (moves) await setBaseline(api, dataset, experiment.id);
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ experiment: pair.experiment, baseline: pair.baseline ?? null, gate: verdicts, job: job ?? null }, null, 2)}\n`,
    );
  } else {
    process.stdout.write(describeResult(pair, comparison, verdicts, failed));
    if (moves) process.stdout.write(`\n${experiment.name} is now the baseline of ${datasetName}.\n`);
  }
  return isFailed ? 1 : 0;
}

/** @throws UsageError when a condition needs a baseline, and none was named and none is set */
export function checkBaseline(
  { conditions, baseline }: Pick<ReportOptions, "conditions" | "baseline">,
  found: string | undefined,
): void {
  const needing = conditions.find(needsBaseline);
  if (needing && found === undefined && baseline === undefined) {
    throw new UsageError(
      `The condition "${needing.text}" needs a baseline: the dataset has none, or it is this experiment. Set one by ` +
        "heddle experiment baseline NAME, " +
        "name one by --baseline, or skip such conditions by --baseline none.",
    );
  }
}

/** Formats the averages, the differences and the gate for a terminal. */
function describeResult(
  { experiment, baseline }: Pair,
  { confidence }: Pick<Comparison, "confidence">,
  verdicts: Verdict[],
  failed: JobRow[] = [],
): string {
  const number = (value: number | null) => (value === null ? "-" : formatNumber(value));
  const measures = ["latency", "p50_latency", "p95_latency", "tokens", "cost", "error_rate"];
  const rows = [
    ...Object.entries(experiment.scores).map(([key, { mean, delta }]) => [
      key,
      number(mean),
      ...(baseline
        ? [number(baseline.scores[key]?.mean ?? null), delta ? `${formatDelta(delta)} ${VERDICTS[delta.verdict]}` : "-"]
        : []),
    ]),
    ...measures.flatMap((measure) => {
      const value = readMeasure(experiment, measure);
      if (value === null) return [];
      const before = baseline ? readMeasure(baseline, measure) : null;
      const change = before === null ? "-" : `${value - before > 0 ? "+" : ""}${formatNumber(value - before)}`;
      return [[measure, number(value), ...(baseline ? [number(before), change] : [])]];
    }),
  ];
  const interval = `DIFFERENCE [${Math.round(confidence * 100)} %]`;
  const head = ["MEASURE", "VALUE", ...(baseline ? ["BASELINE", interval] : [])];
  const title = `${experiment.name}: ${experiment.examples} examples, ${experiment.runs} runs, ${experiment.errors} errors`;
  const against = baseline ? `\nBaseline: ${baseline.name}` : "";
  const errors = failed.map(({ error }) => `  ${(error ?? "").split("\n")[0]!.slice(0, 200)}\n`).join("");
  const gate = verdicts.map(({ condition, outcome, detail }) => `${outcome.padEnd(7)}  ${condition}: ${detail}\n`);
  return [
    `${title}${against}\n\n${formatTable(head, rows)}`,
    ...(errors === "" ? [] : [`\nFirst errors:\n${errors}`]),
    ...(gate.length === 0 ? [] : [`\nGate:\n${gate.join("")}`]),
  ].join("");
}
