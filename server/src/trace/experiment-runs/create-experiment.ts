import type { Principal } from "../../base/auth/principal.ts";
import { AppError, conflict, notFound, unprocessable } from "../../base/errors.ts";
import { isUuid, uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import { resolveAsOf } from "../datasets/resolve-version.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { loadEvaluator } from "../evaluators/load-evaluator.ts";
import { compileExampleFilter } from "../examples/compile-filter.ts";
import { countExamples, type ExampleQuery } from "../examples/sql.ts";
import { findCommit } from "../playground/find-commit.ts";
import { insertProject } from "../projects/sql.ts";
import { checkEndpoint } from "./call-endpoint.ts";
import { readyTarget } from "./ready-target.ts";
import { type CreateBody, EXAMPLE_ROOTS, type JobEvaluator, MAX_ROWS, type Target } from "./schema.ts";
import * as rows from "./sql.ts";
import { checkTemplate } from "./template.ts";

/**
 * Records an experiment, which is then executed in the background. Dataset version, prompt commit and evaluator versions
 * are fixed here.
 *
 * @returns its id
 * @throws 404 for an unknown dataset, commit or evaluator, 409 for a used name, 422 for invalid targets, 424 without
 *   their secrets
 */
export async function createExperiment(deps: TraceDeps, principal: Principal, body: CreateBody): Promise<string> {
  const tenantId = principal.workspaceId;
  const { sql } = deps;
  const dataset = await findDataset(deps, tenantId, body);
  const asOf = await resolveAsOf(sql, tenantId, dataset.dataset_id, body.as_of ?? undefined);
  const time = asOf === "latest" ? await rows.selectNow(sql) : asOf.time;
  const target = await pinTarget(deps, principal, body.target);
  const evaluators = await loadEvaluators(deps, tenantId, body);
  const examples: ExampleQuery = {
    dataset: dataset.dataset_id,
    as_of: { time },
    splits: body.splits ?? undefined,
    metadata: body.example_metadata ?? undefined,
    condition: body.filter ? compileExampleFilter(sql, body.filter) : undefined,
  };
  const { repetitions, max_examples: max } = body;
  const count = Math.min(await countExamples(sql, tenantId, examples), max ?? Infinity);
  if (count === 0) throw unprocessable("dataset: no example of this version matches splits and filter");
  if (count * repetitions > MAX_ROWS) {
    throw unprocessable(
      `An experiment has at most ${MAX_ROWS} rows, and ${count} examples with ${repetitions} repetitions have ` +
        `${count * repetitions}. Set max_examples or lower repetitions.`,
    );
  }
  const id = uuid7();
  const ready = await readyTarget(deps, principal, target, { id, name: "" }, body.timeout_seconds);
  const name = body.name ?? `${ready.name}-${id.slice(-8)}`;
  const version = await rows.selectVersion(sql, tenantId, examples);
  const metadata = {
    ...body.metadata,
    ...ready.metadata,
    dataset_version: version,
    num_repetitions: repetitions,
    ...(body.splits && { dataset_splits: body.splits }),
  };
  const { concurrency, requests_per_second, timeout_seconds, retries, stop_after_failures } = body;
  await sql.begin(async (tx) => {
    const project = await insertProject(tx, tenantId, {
      id,
      name,
      description: body.description,
      reference_dataset_id: dataset.dataset_id,
      extra: { metadata: { ...metadata, heddle_source: "experiment" } },
      experiment: { num_examples: count, num_repetitions: repetitions, evaluator_keys: evaluators.keys },
    });
    if (!project) throw conflict(`Session with name "${name}" already exists`);
    await rows.insertJob(tx, {
      tenant_id: tenantId,
      project_id: id,
      dataset_id: dataset.dataset_id,
      dataset_as_of: time,
      target,
      evaluators: evaluators.list,
      options: { concurrency, requests_per_second, timeout_seconds, retries, stop_after_failures },
      metadata: body.metadata ?? {},
      repetitions,
      total: count * repetitions,
      created_by: principal.actor.userId,
    });
    const inserted = await rows.insertRows(
      tx,
      sql,
      { tenant_id: tenantId, project_id: id, repetitions },
      examples,
      count,
    );
    if (inserted.count !== count * repetitions) throw conflict("The dataset changed meanwhile. Repeat the request.");
  });
  return id;
}

async function findDataset({ sql }: Pick<TraceDeps, "sql">, tenantId: string, body: CreateBody) {
  const { dataset_id: id, dataset_name: name } = body;
  if ((id == null) === (name == null)) throw unprocessable("dataset_id, dataset_name: exactly one of them is required");
  const found =
    id == null ? await rows.findDatasetByName(sql, tenantId, name!) : await findDatasetRow(sql, tenantId, id);
  if (!found) throw notFound(id == null ? `There is no dataset "${name}".` : "Dataset not found");
  return found;
}

/** Checks a target, and replaces `latest` and tags of a prompt by the commit's hash. */
async function pinTarget(deps: TraceDeps, principal: Principal, target: Target): Promise<Target> {
  const check = (value: unknown, where: string, roots: readonly string[] = EXAMPLE_ROOTS) =>
    checkTemplate(value ?? null, roots, `target.${where}`);
  if (target.type === "prompt") {
    if (!target.prompt && !target.manifest) throw unprocessable("target: names neither a prompt nor a manifest");
    check(target.variables, "variables");
    if (!target.prompt) return target;
    const { hash } = await findCommit(deps, principal, target.prompt);
    return { ...target, prompt: { ...target.prompt, commit: hash } };
  }
  checkEndpoint(deps, principal, target);
  check(target.output, "output", ["output", ...EXAMPLE_ROOTS]);
  if (target.type === "http") check(target.body, "body");
  else check(target.input, "input");
  return target;
}

async function loadEvaluators(deps: TraceDeps, tenantId: string, { evaluators }: CreateBody) {
  const list: JobEvaluator[] = [];
  const keys = new Set<string>();
  for (const [i, { version, ...named }] of evaluators.entries()) {
    const id = named.evaluator_id ?? (await findByName(deps, tenantId, named.name!, i));
    const loaded = await loadEvaluator(deps, tenantId, id, version ?? undefined);
    if (!loaded) throw new AppError(404, `evaluators.${i}: Evaluator not found`);
    const { subject } = loaded.definition;
    if (subject !== "run" && subject !== "trace") {
      throw unprocessable(`evaluators.${i}: "${loaded.name}" judges a ${subject}; an experiment has runs`);
    }
    if (list.some((other) => other.evaluator_id === id)) throw unprocessable(`evaluators.${i}: named twice`);
    list.push({ evaluator_id: id, version: loaded.version, name: loaded.name });
    for (const key of loaded.feedback_keys) keys.add(key);
  }
  return { list, keys: [...keys] };
}

/** Returns the id of the evaluator with this name, or this id as text. */
async function findByName({ sql }: Pick<TraceDeps, "sql">, tenantId: string, name: string, i: number): Promise<string> {
  if (isUuid(name)) return name.toLowerCase();
  const [id, another] = await rows.findEvaluatorsByName(sql, tenantId, name);
  if (id === undefined) throw notFound(`evaluators.${i}: There is no evaluator "${name}".`);
  if (another !== undefined)
    throw unprocessable(`evaluators.${i}: several evaluators are named "${name}"; give the id`);
  return id;
}
