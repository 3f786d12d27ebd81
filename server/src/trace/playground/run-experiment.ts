/**
 * Runs a prompt over the examples of a dataset, as an experiment: a project whose runs name their examples. A call starts
 * when the result of an earlier one was taken, so a slow reader slows the experiment down; one who leaves ends it.
 */
import { setTimeout as sleep } from "node:timers/promises";

import type { Principal } from "../../base/auth/principal.ts";
import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { parseJson } from "../../base/json-structure.ts";
import type { TraceDeps } from "../deps.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { listExamples } from "../examples/sql.ts";
import { startCall } from "../models/call-model.ts";
import { createProject, updateProject } from "../projects/create-project.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { type ExperimentBody, MAX_CONCURRENCY, MAX_RUNS } from "./experiment-schema.ts";
import { type PreparedPrompt, preparePrompt } from "./prepare-prompt.ts";
import { answerMessage, buildRequest, resolveModel, runMetadata } from "./run-prompt.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "./schema.ts";
import type { WireEvent } from "../../base/events/event-stream.ts";

export interface Experiment {
  start: { session_id: string; project_name: string; dataset_id: string; examples: number; repetitions: number };
  /** Number of calls. */
  size: number;
  /** `result` for each call as it ends, and `end`. */
  events: AsyncGenerator<WireEvent, void>;
}

const DEFAULT_CONCURRENCY = 5;

type Connection = Awaited<ReturnType<typeof resolveModel>>;

interface Job {
  index: number;
  exampleId: string;
  repetition: number;
  inputs: Record<string, unknown>;
}

interface Plan {
  body: ExperimentBody;
  prepared: PreparedPrompt;
  connection: Connection;
  project: { id: string; name: string };
  jobs: Job[];
  signal: AbortSignal;
}

/**
 * Creates the experiment.
 * @throws 404 for an unknown dataset or commit, 409 when a project has the name, 422 for an invalid prompt
 */
export async function startExperiment(
  deps: TraceDeps,
  principal: Principal,
  body: ExperimentBody,
  signal: AbortSignal,
  maxRuns = MAX_RUNS,
): Promise<Experiment> {
  const tenantId = principal.workspaceId;
  const { dataset_id: dataset, repetitions, repo_handle: repo, owner, commit } = body;
  if (!(await findDatasetRow(deps.sql, tenantId, dataset))) throw notFound("Dataset not found");
  const prepared = await preparePrompt(deps, principal, {
    manifest: body.manifest ?? undefined,
    commit: repo == null ? undefined : { owner: owner ?? "-", repo, commit: commit ?? "latest" },
    template_format: "none",
    variables: {},
  });
  const connection = await resolveModel(deps, tenantId, prepared, body.model ?? undefined, requestSecrets(body));
  const examples = await readExamples(deps, tenantId, body, maxRuns);
  const project = await createProject(
    deps,
    tenantId,
    {
      name: body.project_name,
      reference_dataset_id: dataset,
      num_examples: examples.length,
      num_repetitions: repetitions,
      extra: { metadata: { ...body.metadata, ...runMetadata(prepared, connection, {}) } },
    },
    false,
  );
  const jobs = examples.flatMap(({ id, inputs }, i) =>
    Array.from({ length: repetitions }, (_, n) => ({
      index: i * repetitions + n,
      exampleId: id,
      repetition: n + 1,
      inputs,
    })),
  );
  const plan = { body, prepared, connection, project: { id: project.id, name: project.name }, jobs, signal };
  return {
    start: {
      session_id: project.id,
      project_name: project.name,
      dataset_id: dataset,
      examples: examples.length,
      repetitions,
    },
    size: jobs.length,
    events: runJobs(deps, principal, plan),
  };
}

/** Secrets of the request precede the workspace's; they replace them unless the request asks for both. */
function requestSecrets({ secrets, use_or_fallback_to_workspace_secrets: fallsBack }: ExperimentBody) {
  const isGiven = Object.keys(secrets).length > 0;
  return isGiven ? { values: secrets, fallsBack } : undefined;
}

async function readExamples(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  { dataset_id: dataset, dataset_splits: splits, max_examples: max, repetitions }: ExperimentBody,
  maxRuns: number,
) {
  const most = Math.floor(maxRuns / repetitions);
  const found = await listExamples(
    sql,
    tenantId,
    { dataset, as_of: "latest", splits: splits ?? undefined },
    {
      order: "recently_created",
      descending: false,
      random_seed: undefined,
      select: ["id", "inputs"],
      limit: Math.min(max ?? most + 1, most + 1),
      offset: 0,
    },
  );
  if (found.length === 0) throw unprocessable("dataset_id: the dataset has no examples to run");
  if (found.length > most) {
    throw unprocessable(`An experiment can have at most ${maxRuns} calls here. Set max_examples or lower repetitions.`);
  }
  return found.map(({ item }) => parseJson(item) as { id: string; inputs: Record<string, unknown> });
}

async function* runJobs(deps: TraceDeps, principal: Principal, plan: Plan): AsyncGenerator<WireEvent, void> {
  const { body, jobs, project, signal } = plan;
  const concurrency = Math.min(body.options.max_concurrency ?? DEFAULT_CONCURRENCY, MAX_CONCURRENCY);
  const pauseMs = body.requests_per_second == null ? 0 : 1000 / body.requests_per_second;
  const waiting = [...jobs];
  const running = new Map<number, Promise<JobResult>>();
  const sum = { runs: 0, errors: 0, total_tokens: 0, cost: 0n, hasCost: false };
  let stopped: string | null = null;
  let startedAt = 0;
  try {
    while ((waiting.length > 0 && stopped === null) || running.size > 0) {
      while (waiting.length > 0 && stopped === null && running.size < concurrency) {
        const early = startedAt + pauseMs - performance.now();
        if (early > 0) await sleep(early, undefined, { signal });
        startedAt = performance.now();
        const job = waiting.shift()!;
        running.set(job.index, runJob(deps, principal, plan, job));
      }
      const { data, stop } = await Promise.race(running.values());
      running.delete(data.index);
      stopped ??= stop;
      sum.runs++;
      if (data.error) sum.errors++;
      sum.total_tokens += data.usage?.total_tokens ?? 0;
      if (data.cost) {
        sum.hasCost = true;
        sum.cost += parseDecimal(data.cost.total) ?? 0n;
      }
      yield { event: "result", data };
    }
    const { runs, errors, total_tokens, cost, hasCost } = sum;
    const total_cost = hasCost ? formatDecimal(cost) : null;
    yield { event: "end", data: { session_id: project.id, runs, errors, stopped, total_tokens, total_cost } };
  } finally {
    // calls that were running when the reader left are cancelled by its signal
    await Promise.allSettled(running.values());
    await updateProject(deps.sql, principal.workspaceId, project.id, { end_time: new Date().toISOString() });
  }
}

interface JobResult {
  data: {
    index: number;
    example_id: string;
    repetition: number;
    run_id: string | null;
    message: object | null;
    structured: unknown;
    error: object | null;
    usage: { total_tokens: number } | null;
    cost: { total: string } | null;
    latency_ms: number | null;
  };
  /** Why no further call is to start; null: go on. */
  stop: string | null;
}

/** Never rejects. */
async function runJob(deps: TraceDeps, principal: Principal, plan: Plan, job: Job): Promise<JobResult> {
  const { body, prepared, connection, project, signal } = plan;
  const { index, exampleId: example_id, repetition } = job;
  const place = { index, example_id, repetition };
  const nothing = { run_id: null, message: null, structured: null, usage: null, cost: null, latency_ms: null };
  try {
    const { tool_choice, parallel_tool_calls, response_schema } = body;
    const options = { tools: body.tools ?? [], tool_choice, parallel_tool_calls, response_schema };
    const order = {
      request: buildRequest(connection, prepared, job.inputs, options),
      project,
      runName: body.options.run_name ?? "playground",
      tags: body.options.tags ?? [],
      metadata: runMetadata(prepared, connection, { ...body.metadata, ...body.options.metadata }),
      referenceExampleId: example_id,
      timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    };
    const { start, events } = await startCall(deps, principal, order, signal);
    for await (const { type, data } of events) {
      if (type === "end") {
        const { answer, usage, cost, latency_ms } = data;
        const done = { run_id: start.run_id, message: answerMessage(answer), structured: answer.structured };
        return { data: { ...place, ...done, error: null, usage, cost, latency_ms }, stop: null };
      }
      if (type === "error") {
        const { run_id, latency_ms, ...error } = data;
        const stop = error.kind === "cancelled" ? "cancelled" : null;
        return { data: { ...place, ...nothing, run_id, latency_ms, error }, stop };
      }
    }
    throw new Error("a model call ended without a result");
  } catch (error) {
    const isOurs = error instanceof AppError;
    if (!isOurs) deps.log.error({ err: error }, "a call of an experiment failed");
    const message = isOurs ? error.message : "Internal server error";
    const status = isOurs ? error.status : 500;
    const failure = { kind: status === 402 ? "budget" : "bad_request", status, message, retry_after_seconds: null };
    return { data: { ...place, ...nothing, error: failure }, stop: status === 402 || status >= 500 ? message : null };
  }
}
