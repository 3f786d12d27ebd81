import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";
import { formatTable, formatTime } from "../core/table.ts";
import { TraceApi } from "../core/trace-api.ts";
import { TRACE_FLAGS } from "../core/trace-flags.ts";
import { RejectedError } from "../core/reach.ts";
import {
  type Experiment,
  findBaseline,
  findDataset,
  findExperiment,
  findJob,
  type Job,
  readJob,
  setBaseline,
} from "./experiment/experiment-api.ts";
import { formatNumber, parseCondition } from "./experiment/gate.ts";
import { readTarget } from "./experiment/read-target.ts";
import { checkBaseline, reportExperiment, type ReportOptions } from "./experiment/report.ts";
import { Detached, progressLine, watchExperiment } from "./experiment/watch-experiment.ts";
import { WORKFLOW_PATH, writeWorkflow } from "./experiment/workflow.ts";

export const summary = "Run experiments over datasets, compare them, and gate changes";

const argument = { placeholder: "NAME", what: "name or id of the experiment", list: "heddle experiment list" } as const;
const reporting = ["run", "show", "resume", "retry", "gate", "compare"] as const;

export const command = declareActions({
  noun: "experiment",
  about: `Runs a prompt, an assistant or an HTTP endpoint over the examples of a dataset. The platform
executes the experiment: it continues when this command ends, and after a restart of the platform.

  heddle experiment run --dataset questions --target prompt:support-answer@staging \\
    --evaluator correctness --gate "correctness>=0.8" --gate "correctness>=baseline-0.02"
  heddle experiment run --dataset questions --target assistant:agent@https://agent.example \\
    --input '{"messages": [{"role": "user", "content": "{{inputs.question}}"}]}' \\
    --output "{{output.messages.-1.content}}" --header "X-Api-Key: {{secrets.AGENT_KEY}}"

Conditions of a gate name a score or p50_latency, p95_latency, latency, cost, tokens, errors or
error_rate, and compare it with a number or with the baseline: "p95_latency<=3s",
"cost<=baseline*1.1", "regressions(correctness)<5", "not_worse(correctness)".

Exit codes: 0 passed, 1 a condition failed, 2 wrong usage, 3 the experiment or the platform failed.`,
  actions: {
    run: { summary: "Start an experiment, show its progress, and judge it by the gate." },
    list: { summary: "List the experiments that the platform has executed, newest first." },
    show: { summary: "Show the progress or the results of an experiment.", argument },
    cancel: { summary: "Cancel an experiment; its results so far stay.", argument },
    resume: { summary: "Resume a cancelled or stopped experiment, and follow it.", argument },
    retry: { summary: "Execute the failed examples of an experiment again, and follow it.", argument },
    gate: { summary: "Judge any experiment by --gate, also one of the SDKs' evaluate().", argument },
    compare: {
      summary: "Compare two experiments of a dataset.",
      argument,
      second: { placeholder: "BASELINE", what: "name or id of the experiment to compare with" },
    },
    baseline: { summary: "Make an experiment the baseline of its dataset.", argument },
    init: { summary: `Write ${WORKFLOW_PATH}, a workflow that evaluates each pull request.` },
  },
  flags: {
    ...TRACE_FLAGS,
    dataset: { type: "text", placeholder: "NAME", only: ["run", "list"], description: "Name or id of the dataset." },
    "as-of": {
      type: "text",
      placeholder: "TAG",
      only: ["run"],
      description: "Version of the dataset: a tag or a time.",
    },
    split: {
      type: "list",
      placeholder: "NAME",
      only: ["run"],
      description: "Only examples of this split; can be repeated.",
    },
    filter: {
      type: "text",
      placeholder: "EXPRESSION",
      only: ["run"],
      description: "Only examples that pass this filter.",
    },
    "max-examples": {
      type: "integer",
      placeholder: "N",
      min: 1,
      only: ["run"],
      description: "Only the first examples.",
    },
    target: {
      type: "text",
      placeholder: "TARGET",
      only: ["run"],
      description: "What is evaluated: prompt:NAME, prompt:NAME@TAG, assistant:ID@URL or http:URL.",
    },
    connection: { type: "text", placeholder: "ID", only: ["run"], description: "Model connection of a prompt." },
    provider: { type: "text", placeholder: "NAME", only: ["run"], description: "Provider of a prompt's model." },
    model: { type: "text", placeholder: "NAME", only: ["run"], description: "Model of a prompt, instead of its own." },
    input: {
      type: "text",
      placeholder: "JSON",
      only: ["run"],
      description: "Variables, input or body with {{inputs.…}}, as JSON or @FILE. Default: the example's inputs.",
    },
    output: {
      type: "text",
      placeholder: "JSON",
      only: ["run"],
      description: "Outputs with {{output.…}}, as JSON, text or @FILE. Default: the whole answer.",
    },
    header: {
      type: "list",
      placeholder: "HEADER",
      only: ["run"],
      description: "Header of requests, with secrets of the workspace as {{secrets.KEY}}; can be repeated.",
    },
    evaluator: {
      type: "list",
      placeholder: "NAME",
      only: ["run"],
      description: "Evaluator that judges each run, as NAME or NAME@VERSION; can be repeated.",
    },
    repetitions: {
      type: "integer",
      placeholder: "N",
      default: 1,
      min: 1,
      max: 100,
      only: ["run"],
      description: "Runs of each example.",
    },
    concurrency: {
      type: "integer",
      placeholder: "N",
      default: 5,
      min: 1,
      max: 50,
      only: ["run"],
      description: "Examples that run at once.",
    },
    "requests-per-second": {
      type: "integer",
      placeholder: "N",
      min: 1,
      max: 1000,
      only: ["run"],
      description: "Most starts per second.",
    },
    timeout: {
      type: "integer",
      placeholder: "SECONDS",
      default: 120,
      min: 1,
      max: 3600,
      only: ["run"],
      description: "Time limit of each run.",
    },
    retries: {
      type: "integer",
      placeholder: "N",
      default: 2,
      max: 10,
      only: ["run"],
      description: "Retries of transient failures.",
    },
    name: {
      type: "text",
      placeholder: "NAME",
      only: ["run"],
      description: "Name of the experiment. Default: the target's, and an id.",
    },
    metadata: {
      type: "list",
      placeholder: "KEY=VALUE",
      only: ["run"],
      description: "Metadata of the experiment; can be repeated.",
    },
    detach: {
      type: "switch",
      default: false,
      only: ["run", "resume", "retry"],
      description: "Do not wait for the end.",
    },
    baseline: {
      type: "text",
      placeholder: "NAME",
      only: ["run", "show", "resume", "retry", "gate"],
      description: "Experiment to compare with: a name, latest or none. Default: the dataset's baseline.",
    },
    gate: {
      type: "list",
      placeholder: "CONDITION",
      only: reporting,
      description: "Condition that must hold; can be repeated.",
    },
    "set-baseline": {
      type: "switch",
      default: false,
      only: ["run", "resume", "retry", "gate"],
      description: "Make the experiment the dataset's baseline when its gate passes.",
    },
    summary: {
      type: "text",
      placeholder: "FILE",
      only: reporting,
      description: "Write a summary in Markdown, which also goes to $GITHUB_STEP_SUMMARY.",
    },
    "console-url": {
      type: "text",
      placeholder: "URL",
      env: ["HEDDLE_CONSOLE_URL"],
      only: reporting,
      description: "URL of the console, for links in the summary.",
    },
    json: { type: "switch", default: false, only: ["run", "list", ...reporting.slice(1)], description: "Print JSON." },
    force: { type: "switch", default: false, only: ["init"], description: "Replace an existing file." },
  },
});

export const help = (): string => describeActions(command);

type Call = ReturnType<typeof readAction<(typeof command)["flags"], keyof (typeof command)["actions"]>>;

const INFRASTRUCTURE = 3;

export async function run(args: string[]): Promise<void> {
  const call = readAction(command, args);
  try {
    process.exitCode = await dispatch(call);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof Detached) {
      process.exitCode = 130;
      return;
    }
    // what the platform rejects is usage, apart from keys and permissions
    if (error instanceof RejectedError && [400, 404, 409, 422, 424].includes(error.status))
      throw new UsageError(error.message);
    console.error(`heddle: ${(error as Error).message}`);
    process.exitCode = INFRASTRUCTURE;
  }
}

async function dispatch({ action, argument: name, second, options }: Call): Promise<number> {
  if (action === "init") {
    if (!writeWorkflow(process.cwd(), options.force)) {
      throw new UsageError(`${WORKFLOW_PATH} exists. Replace it by --force.`);
    }
    process.stdout.write(
      `Wrote ${WORKFLOW_PATH}. Change dataset, target, evaluator and conditions in it, and set the variable ` +
        "HEDDLE_TRACE_URL and the secret HEDDLE_API_KEY of the repository.\n",
    );
    return 0;
  }
  const api = new TraceApi(options.url, options["api-key"]);
  const report: ReportOptions = {
    baseline: options.baseline,
    conditions: options.gate.map(parseCondition),
    summary: options.summary,
    json: options.json,
    console: options["console-url"],
    setsBaseline: options["set-baseline"],
  };
  if (action === "run") return runExperiment(api, options, report);
  if (action === "list") return list(api, options);
  const experiment = await findExperiment(api, name);
  switch (action) {
    case "show": {
      const job = await findJob(api, experiment.id);
      if (job && !isOver(job) && !options.json) {
        process.stdout.write(`${experiment.name}: ${progressLine(job)}\n`);
        return 0;
      }
      return reportExperiment(api, experiment, job, report);
    }
    case "gate":
      return judged(api, experiment, await findJob(api, experiment.id), report);
    case "compare": {
      const other = await findExperiment(api, second);
      return reportExperiment(api, experiment, undefined, { ...report, baseline: other.id });
    }
    case "baseline": {
      await setBaseline(api, experiment.reference_dataset_id!, experiment.id);
      process.stdout.write(`${experiment.name} is now the baseline of its dataset.\n`);
      return 0;
    }
    case "cancel": {
      await api.send("POST", `/experiments/runs/${experiment.id}/cancel`);
      process.stdout.write(
        `Cancelled ${experiment.name}. To resume it: heddle experiment resume ${quoted(experiment.name)}\n`,
      );
      return 0;
    }
    case "resume":
    case "retry": {
      await api.send("POST", `/experiments/runs/${experiment.id}/${action}`);
      if (options.detach) return started(experiment.name);
      return follow(api, experiment, report);
    }
  }
}

async function runExperiment(api: TraceApi, options: Call["options"], report: ReportOptions): Promise<number> {
  if (options.dataset === undefined) throw new UsageError("--dataset is required: the name of a dataset.");
  if (options.target === undefined)
    throw new UsageError("--target is required: prompt:NAME, assistant:ID@URL or http:URL.");
  const target = readTarget({ ...options, target: options.target, headers: options.header });
  const dataset = await findDataset(api, options.dataset);
  // before anything is executed
  checkBaseline(report, await findBaseline(api, dataset.id, report.baseline));
  const job = await api.send<Job>("POST", "/experiments/runs", {
    dataset_id: dataset.id,
    target,
    ...(options.name !== undefined && { name: options.name }),
    ...(options["as-of"] !== undefined && { as_of: options["as-of"] }),
    ...(options.split.length > 0 && { splits: options.split }),
    ...(options.filter !== undefined && { filter: options.filter }),
    ...(options["max-examples"] !== undefined && { max_examples: options["max-examples"] }),
    ...(options["requests-per-second"] !== undefined && { requests_per_second: options["requests-per-second"] }),
    evaluators: options.evaluator.map(readEvaluator),
    repetitions: options.repetitions,
    concurrency: options.concurrency,
    timeout_seconds: options.timeout,
    retries: options.retries,
    metadata: Object.fromEntries(options.metadata.map(readMetadata)),
  });
  if (options.detach) return started(job.name);
  process.stderr.write(`Experiment ${job.name}: ${job.progress.total} runs\n`);
  return follow(api, { id: job.id, name: job.name, reference_dataset_id: job.dataset_id }, report);
}

function started(name: string): number {
  process.stdout.write(`${name}\nTo follow it: heddle experiment show ${quoted(name)}\n`);
  return 0;
}

async function follow(api: TraceApi, experiment: Experiment, report: ReportOptions): Promise<number> {
  try {
    await watchExperiment(api, experiment.id);
  } catch (error) {
    if (error instanceof Detached) {
      const name = quoted(experiment.name);
      console.error(
        `\nThe experiment continues. Show it: heddle experiment show ${name}. Cancel it: heddle experiment cancel ${name}`,
      );
    }
    throw error;
  }
  return judged(api, experiment, await readJob(api, experiment.id), report);
}

/** Reports an experiment. One that did not complete, or whose runs all failed, is no result. */
async function judged(
  api: TraceApi,
  experiment: Experiment,
  job: Job | undefined,
  report: ReportOptions,
): Promise<number> {
  if (job && !isOver(job)) throw new UsageError(`The experiment ${job.name} has not ended: ${progressLine(job)}.`);
  const isBroken = job !== undefined && (job.status !== "completed" || job.progress.failed === job.progress.total);
  const code = await reportExperiment(api, experiment, job, {
    ...report,
    setsBaseline: report.setsBaseline && !isBroken,
  });
  if (!isBroken) return code;
  const why =
    job.status === "completed" ? "all runs failed" : `it was ${job.status}${job.reason ? `: ${job.reason}` : ""}`;
  const again = job.status === "completed" ? "retry" : "resume";
  console.error(
    `heddle: The experiment ${job.name} has no result: ${why}. Try again: heddle experiment ${again} ${quoted(job.name)}`,
  );
  return INFRASTRUCTURE;
}

const isOver = ({ status }: Job): boolean => status !== "pending" && status !== "running";

async function list(api: TraceApi, { dataset, json }: Call["options"]): Promise<number> {
  const only = dataset === undefined ? "" : `&dataset=${(await findDataset(api, dataset)).id}`;
  const { items } = await api.send<{ items: Job[] }>("GET", `/experiments/runs?limit=50${only}`);
  if (json) process.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  else {
    const rows = items.map(({ name, dataset_name, status, progress, scores, created_at }) => [
      name,
      dataset_name ?? "-",
      status,
      `${progress.done}/${progress.total}`,
      String(progress.failed),
      Object.entries(scores)
        .map(([key, { mean }]) => `${key} ${mean === null ? "-" : formatNumber(mean)}`)
        .join(", ") || "-",
      formatTime(new Date(created_at), "-"),
    ]);
    process.stdout.write(formatTable(["NAME", "DATASET", "STATUS", "DONE", "FAILED", "SCORES", "CREATED"], rows));
  }
  return 0;
}

/** Reads `NAME`, `NAME@VERSION` or an id. */
function readEvaluator(text: string): object {
  const [, name, version] = /^(.+?)(?:@(\d+))?$/.exec(text)!;
  return { name, ...(version !== undefined && { version: Number(version) }) };
}

function readMetadata(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--metadata "${text}": write KEY=VALUE.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const quoted = (name: string): string => (/^[\w.:@/-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
