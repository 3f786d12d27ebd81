import type { Principal } from "../../base/auth/principal.ts";
import { AppError, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { priceCall } from "../models/budget.ts";
import { type ChosenModels, chooseModels, toChoice } from "./choose-models.ts";
import { findConfig } from "./config-sql.ts";
import type { JobOptions } from "./options.ts";
import { loadPopulation } from "./population.ts";
import { type CreateBody, createBody, DEFAULT_HOURS, DEFAULT_SAMPLE } from "./schema.ts";
import { insertJob } from "./sql.ts";

/** Jobs of a project that wait or run, at most. */
const MAX_OPEN = 20;
const HOUR_MS = 3_600_000;
/** Longest description of the project in characters. */
const MAX_CONTEXT = 8000;

export interface PlannedJob {
  options: JobOptions;
  models: ChosenModels;
  budget: string | null;
  config_id: string | null;
  name: string;
}

/**
 * Plans a job: the request's settings, completed by those of its config.
 * @throws 404 for an unknown config; 422; 424 without a model connection
 */
export async function planJob(
  deps: TraceDeps,
  tenantId: string,
  projectId: string,
  request: CreateBody,
): Promise<PlannedJob> {
  const body = await withConfig(deps, tenantId, projectId, request);
  const models = await chooseModels(deps, tenantId, body);
  const options = toOptions(body, models);
  // rejects invalid filters
  await loadPopulation(deps, tenantId, projectId, options);
  const budget = body.budget_usd ?? null;
  if (budget !== null) await checkPrices(deps, tenantId, options, models);
  const day = options.end_time.slice(0, 10);
  const name = body.name ?? `${options.subject === "questions" ? "Questions" : "Failures"} until ${day}`;
  return { options, models, budget, config_id: body.config_id ?? null, name };
}

/** Creates a job. @returns its id */
export async function createJob(
  deps: TraceDeps,
  principal: Principal,
  projectId: string,
  request: CreateBody,
): Promise<string> {
  const tenantId = principal.workspaceId;
  const { options, budget, config_id, name } = await planJob(deps, tenantId, projectId, request);
  const id = uuid7();
  const job = {
    id,
    project_id: projectId,
    config_id,
    name,
    options,
    series: config_id ?? JSON.stringify([options.subject, options.unit, options.filter]),
    budget_usd: budget,
    requested_by: principal.actor.name,
  };
  if (!(await insertJob(deps.sql, tenantId, job, MAX_OPEN))) {
    throw unprocessable(`The project has ${MAX_OPEN} insights jobs that wait or run. Wait for one, or cancel it.`);
  }
  deps.insights.wake();
  return id;
}

async function withConfig(
  { sql }: Pick<TraceDeps, "sql">,
  tenantId: string,
  projectId: string,
  request: CreateBody,
): Promise<CreateBody> {
  if (request.config_id == null) return request;
  const config = await findConfig(sql, tenantId, projectId, request.config_id);
  if (!config) throw notFound("Insights config not found");
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value != null));
  return createBody.parse({ ...config.config, ...given });
}

function toOptions(body: CreateBody, models: ChosenModels): JobOptions {
  const end = body.end_time == null ? new Date() : new Date(body.end_time);
  const hours = body.last_n_hours ?? DEFAULT_HOURS;
  const start = body.start_time == null ? new Date(end.getTime() - hours * HOUR_MS) : new Date(body.start_time);
  if (start >= end) throw unprocessable("start_time: must be before end_time");
  const context = Object.entries(body.user_context ?? {})
    .map(([question, answer]) => `${question}\n${answer}`)
    .join("\n\n")
    .slice(0, MAX_CONTEXT);
  return {
    subject: body.subject ?? "questions",
    unit: body.unit ?? "roots",
    start_time: start.toISOString(),
    end_time: end.toISOString(),
    filter: body.filter ?? null,
    sample: body.sample ?? DEFAULT_SAMPLE,
    hierarchy: body.hierarchy?.length ? body.hierarchy : null,
    summarize: body.summarize ?? body.summary_prompt != null,
    summary_prompt: body.summary_prompt ?? null,
    context: context === "" ? null : context,
    names: toChoice(models.names),
    summaries: toChoice(models.summaries),
    embedding: toChoice(models.embedding),
  };
}

/** A budget counts nothing without prices. */
async function checkPrices(deps: TraceDeps, tenantId: string, { summarize }: JobOptions, models: ChosenModels) {
  const used = [models.names, models.embedding, ...(summarize ? [models.summaries] : [])];
  for (const connection of used) {
    const price = await priceCall(deps, tenantId, connection, { prompt_tokens: 1, completion_tokens: 1 });
    if (price || connection.provider.mayBeFree) continue;
    throw new AppError(
      422,
      `budget_usd: "${connection.model}" of ${connection.provider.name} has no price, so the budget cannot count it. ` +
        "Add its price (POST /api/v1/model-price-map), or leave the budget out.",
    );
  }
}
