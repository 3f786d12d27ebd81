import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import { priceCall } from "../models/budget.ts";
import { resolveConnection } from "../models/resolve-connection.ts";
import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";
import { parseTime } from "../run-rows/times.ts";
import { type Row, selectPage } from "../runs/select-page.ts";
import { type BackfillSelection, countBackfill, selectBackfill } from "./backfill-selection.ts";
import { findMeanCost } from "./log-sql.ts";
import type { Preview, PreviewBody } from "./preview-schema.ts";

const SAMPLE = 10;
const WEEK_MS = 7 * 86_400_000;
/** Tokens of a judge's answer, where its model sets no limit. */
const ANSWER_TOKENS = 300;

/**
 * Previews what a back-fill would do: how many runs pass the filter, what judging them may cost, and a sample.
 * @throws 404 for an unknown project, dataset or evaluator, 422 for an invalid filter
 */
export async function previewRule(deps: TraceDeps, tenantId: string, body: PreviewBody): Promise<Preview> {
  const { session_id, dataset_id, evaluator_id } = body;
  if (session_id != null && !(await deps.projects.hasProject(tenantId, session_id))) {
    throw notFound(`Session not found: ${session_id}`);
  }
  if (dataset_id != null && !(await findDatasetRow(deps.sql, tenantId, dataset_id)))
    throw notFound("Dataset not found");
  const now = new Date();
  const from = body.backfill_from ?? new Date(now.getTime() - WEEK_MS).toISOString();
  const to = now.toISOString();
  const found = await select(deps, tenantId, body, parseTime(from)!, parseTime(to)!);
  const [runs, threads, rows] = found
    ? await Promise.all([
        countBackfill(deps.clickhouse, found, "runs"),
        body.group_by ? countBackfill(deps.clickhouse, found, "threads") : null,
        readSample(deps, found),
      ])
    : [0, body.group_by ? 0 : null, []];
  const actions = Math.round((threads ?? runs) * body.sampling_rate);
  const cost = evaluator_id == null ? undefined : await estimateCost(deps, tenantId, body, evaluator_id, rows);
  return {
    backfill_from: from,
    backfill_to: to,
    runs,
    threads,
    estimated_actions: actions,
    cost_per_action_usd: cost?.each ?? null,
    estimated_cost_usd: cost?.each == null ? null : formatDecimal(parseDecimal(cost.each)! * BigInt(actions)),
    cost_basis: cost?.basis ?? "none",
    sample: rows.map((row) => ({
      id: row.id,
      trace_id: row.trace_id!,
      session_id: row.project_id,
      name: row.name ?? "",
      run_type: row.run_type ?? "chain",
      start_time: `${row.start_time.replace(" ", "T")}Z`,
      error: row.error?.slice(0, 500) ?? null,
      inputs_preview: row.inputs_preview ?? null,
      outputs_preview: row.outputs_preview ?? null,
    })),
  };
}

async function select(deps: TraceDeps, tenantId: string, body: PreviewBody, from: string, to: string) {
  try {
    return await selectBackfill(deps, tenantId, {
      project_id: body.session_id ?? null,
      dataset_id: body.dataset_id ?? null,
      filter: body.filter ?? null,
      trace_filter: body.trace_filter ?? null,
      tree_filter: body.tree_filter ?? null,
      group_by: body.group_by ?? null,
      from,
      to,
    });
  } catch (error) {
    if (error instanceof AppError && error.status === 400) throw unprocessable(`filter: ${error.message}`);
    throw error;
  }
}

const COLUMNS = [
  "r.trace_id",
  "r.name",
  "r.run_type",
  "r.error",
  "r.inputs_preview",
  "r.outputs_preview",
  "toFloat64(length(r.inputs)) as inputs_length",
  "toFloat64(length(r.outputs)) as outputs_length",
];

async function readSample(deps: TraceDeps, { scope, selection }: BackfillSelection): Promise<Row[]> {
  const page = { columns: COLUMNS, descending: true, limit: SAMPLE };
  return (await selectPage(deps, scope, selection, page)).rows;
}

interface Cost {
  each: string | null;
  basis: Preview["cost_basis"];
}

async function estimateCost(
  deps: TraceDeps,
  tenantId: string,
  body: PreviewBody,
  evaluatorId: string,
  sample: readonly Row[],
): Promise<Cost> {
  const evaluator = await loadEvaluator(deps, tenantId, evaluatorId, body.evaluator_version ?? undefined);
  if (!evaluator) throw notFound(`Evaluator not found: ${evaluatorId}`);
  const recent = await findMeanCost(deps.sql, tenantId, [evaluatorId]);
  if (recent) return { each: recent.mean, basis: "recent" };
  const { definition } = evaluator;
  if (definition.type === "code") return { each: "0", basis: "recent" };
  if (definition.model === null) return { each: null, basis: "none" };
  try {
    const connection = await resolveConnection(deps, tenantId, definition.model);
    const prompt = "messages" in definition.prompt ? JSON.stringify(definition.prompt.messages).length : 2000;
    const lengths = sample.map((row) => Number(row["inputs_length"] ?? 0) + Number(row["outputs_length"] ?? 0));
    const mean = lengths.length === 0 ? 0 : lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    const most = connection.parameters["max_tokens"];
    const cost = await priceCall(deps, tenantId, connection, {
      prompt_tokens: Math.ceil((prompt + mean) / 4),
      completion_tokens: Math.min(typeof most === "number" ? most : ANSWER_TOKENS, ANSWER_TOKENS),
    });
    return cost ? { each: cost.total, basis: "prompt" } : { each: null, basis: "none" };
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return { each: null, basis: "none" };
    throw error;
  }
}
