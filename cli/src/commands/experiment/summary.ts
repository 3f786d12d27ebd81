/** Markdown summary of an experiment, its baseline and the gate, for a pull request or a workflow's page. */
import type { Comparison, Job, JobRow } from "./experiment-api.ts";
import { formatDelta, formatNumber, type Pair, readMeasure, type Verdict, VERDICTS } from "./gate.ts";

export interface SummaryInput {
  pair: Pair;
  comparison: Comparison;
  verdicts: Verdict[];
  job: Job | undefined;
  failed: JobRow[];
  datasetName: string;
  datasetId: string;
  /** URL of the console, for links. */
  console: string | undefined;
}

const METRIC_ROWS = [
  { name: "Latency, mean (s)", measure: "latency", metric: "latency_seconds" },
  { name: "Latency, p50 (s)", measure: "p50_latency", metric: undefined },
  { name: "Latency, p95 (s)", measure: "p95_latency", metric: undefined },
  { name: "Tokens", measure: "tokens", metric: "total_tokens" },
  { name: "Cost (USD)", measure: "cost", metric: "total_cost" },
  { name: "Error rate", measure: "error_rate", metric: "error_rate" },
] as const;

const MARKS = { passed: "✅ passed", failed: "❌ failed", skipped: "➖ skipped" } as const;

export function writeSummary(input: SummaryInput): string {
  const { pair, comparison, verdicts, job, console: base } = input;
  const { experiment, baseline } = pair;
  const isFailed = verdicts.some(({ outcome }) => outcome === "failed");
  const headline = verdicts.length === 0 ? "Experiment" : isFailed ? "❌ Gate failed" : "✅ Gate passed";
  const sessions = [experiment.id, ...(baseline ? [baseline.id] : [])].join(",");
  const page = base && `${base}/datasets/${input.datasetId}?tab=compare&selectedSessions=${sessions}`;
  const lines = [
    `## ${headline}: ${page ? `[${plain(experiment.name)}](${page})` : plain(experiment.name)}`,
    "",
    `Dataset ${plain(input.datasetName)}: ${experiment.examples} examples, ${experiment.runs} runs, ${experiment.errors} errors. ` +
      (baseline ? `Baseline: ${plain(baseline.name)}.` : "No baseline."),
    "",
    ...problems(job, input.failed),
    ...table(pair, comparison.confidence),
    ...gateTable(verdicts),
    ...regressions(input),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function problems(job: Job | undefined, failed: JobRow[]): string[] {
  const lines: string[] = [];
  if (job && job.status !== "completed")
    lines.push(`> The experiment is ${job.status}. ${plain(job.reason ?? "")}`, "");
  if (job && job.progress.judge_failures > 0) {
    lines.push(`> Evaluators failed for ${job.progress.judge_failures} runs, which have no scores of them.`, "");
  }
  const [first] = failed;
  if (first) lines.push(`> First error: ${plain((first.error ?? "").slice(0, 300))}`, "");
  return lines;
}

function table({ experiment, baseline }: Pair, confidence: number): string[] {
  const percent = Math.round(confidence * 100);
  const head = baseline
    ? [
        `| Measure | Value | Baseline | Difference [${percent} % interval] | Verdict |`,
        "| --- | ---: | ---: | ---: | --- |",
      ]
    : ["| Measure | Value |", "| --- | ---: |"];
  const rows = Object.entries(experiment.scores).map(([key, summary]) => {
    const before = baseline?.scores[key]?.mean ?? null;
    return row(plain(key), summary.mean, before, summary.delta);
  });
  for (const { name, measure, metric } of METRIC_ROWS) {
    const value = readMeasure(experiment, measure);
    if (value === null) continue;
    const delta = metric && measure !== "tokens" && measure !== "cost" ? experiment.metrics[metric]?.delta : null;
    rows.push(row(name, value, baseline ? readMeasure(baseline, measure) : null, delta ?? null));
  }
  return [...head, ...rows, ""];

  function row(
    name: string,
    value: number | null,
    before: number | null,
    delta: Parameters<typeof formatDelta>[0] | null,
  ): string {
    const shown = value === null ? "–" : formatNumber(value);
    if (!baseline) return `| ${name} | ${shown} |`;
    const plainDelta = value !== null && before !== null ? signed(value - before) : "–";
    const difference = delta ? formatDelta(delta) : plainDelta;
    return `| ${name} | ${shown} | ${before === null ? "–" : formatNumber(before)} | ${difference} | ${delta ? VERDICTS[delta.verdict] : ""} |`;
  }
}

const signed = (value: number): string => `${value > 0 ? "+" : ""}${formatNumber(value)}`;

function gateTable(verdicts: Verdict[]): string[] {
  if (verdicts.length === 0) return [];
  return [
    "| Condition | Result | |",
    "| --- | --- | --- |",
    ...verdicts.map(
      ({ condition, outcome, detail }) => `| ${code(condition)} | ${MARKS[outcome]} | ${plain(detail)} |`,
    ),
    "",
  ];
}

/** Examples whose scores are worse than the baseline's. */
function regressions({ pair, comparison, console: base }: SummaryInput): string[] {
  const { experiment, baseline } = pair;
  if (!baseline) return [];
  const lower = new Set(comparison.keys.filter((each) => each.lower_is_better).map(({ key }) => key));
  const worse = comparison.rows.flatMap((row) => {
    const result = row.results[experiment.id];
    const deltas = Object.entries(result?.score_deltas ?? {}).filter(
      ([key, delta]) => delta !== null && (lower.has(key) ? delta > 0 : delta < 0),
    );
    return result && deltas.length > 0 ? [{ row, result, deltas }] : [];
  });
  if (worse.length === 0) return [];
  return [
    `### Regressions`,
    "",
    "| Example | Scores | Runs |",
    "| --- | --- | --- |",
    ...worse.map(({ row, result, deltas }) => {
      const scores = deltas.map(([key, delta]) => `${plain(key)} ${signed(delta!)}`).join(", ");
      const before = row.results[baseline.id];
      const runs = [
        link("new", experiment.id, result.run_id, base),
        ...(before ? [link("baseline", baseline.id, before.run_id, base)] : []),
      ];
      return `| ${plain((row.inputs_preview ?? row.example_id).slice(0, 120))} | ${scores} | ${runs.join(", ")} |`;
    }),
    "",
  ];
}

const link = (label: string, project: string, run: string, base: string | undefined): string =>
  base ? `[${label}](${base}/projects/${project}/r/${run})` : `${label} \`${run}\``;

const code = (text: string): string => `\`${text.replaceAll(/[`|\s]+/g, " ")}\``;

/** Escapes what Markdown would interpret, so that inputs of examples cannot forge the summary. */
const plain = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_[\]|~#!>]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
