import { bind, ch } from "../../base/clickhouse/fragment.ts";
import { unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { listFeedbackOfRuns } from "../feedback/sql.ts";
import type { Expression } from "../filter/expression.ts";
import { readFilter } from "../filter/read-filter.ts";
import { loadScope } from "../runs/load-scope.ts";
import { limited } from "../runs/limited.ts";
import { readRows } from "../runs/read-rows.ts";
import type { SerializationPlan } from "../runs/serialize-v1.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { lookUp } from "../runs/related.ts";
import type { SerializationContext } from "../runs/run-fields.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { readPage } from "../runs/bounded-page.ts";
import type { PageDeps } from "../runs/select-page.ts";
import type { Position, Row } from "../runs/select-page.ts";
import { fromRuns } from "../runs/selection.ts";
import { type ExampleSort, sortExamples } from "./sort-examples.ts";
import { type ExampleItem, listExamples } from "../examples/sql.ts";

/** Runs per read, and per response: an example has one per repetition and experiment. */
const RUN_PAGE = 500;
const MAX_RUNS = 5000;
/** Characters of the runs of a page of examples. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILTERED = 100_000;

/** Fields of a run in v1, other than its inputs and outputs. */
export const RUN_FIELDS =
  `end_time error extra events parent_run_id serialized reference_example_id total_tokens prompt_tokens
  completion_tokens total_cost prompt_cost completion_cost feedback_stats tags execution_order`.split(/\s+/);

export interface ExperimentQuery {
  experiments: string[];
  examples?: string[] | null | undefined;
  /** Filter expressions by experiment: only examples with a run that passes all of them. */
  filters?: Record<string, string[]> | null | undefined;
  /** Only runs that pass these. */
  runs?: readonly Expression[] | undefined;
  /** Default: the examples that were changed last come first. */
  sort?: ExampleSort | undefined;
  limit: number;
  offset: number;
}

export interface ExampleWithRuns {
  example: ExampleItem;
  /** Runs, each as JSON text. */
  runs: string[];
}

/**
 * Returns a page of a dataset's examples, each with its experiment runs. With `feedback` the runs include theirs: all
 * of it, or that of a comparison.
 *
 * @throws 404 for an experiment that is not in the workspace, 400 for an invalid filter
 */
export async function experimentRuns(
  deps: TraceDeps,
  scope: RunScope,
  datasetId: string,
  query: ExperimentQuery,
  { plan, context }: { plan: SerializationPlan; context: SerializationContext },
  feedback?: { comparison: string | null | undefined },
): Promise<ExampleWithRuns[]> {
  await checkProjects(deps, scope, [...query.experiments, ...Object.keys(query.filters ?? {})]);
  const known = await loadScope(deps, scope);
  const id = await filteredExamples(deps, scope, query);
  const page = { order: "recent", descending: undefined, select: undefined } as const;
  const found = query.sort
    ? await sortedPage(deps, scope.tenantId, datasetId, query, query.sort, id)
    : await listExamples(
        deps.sql,
        scope.tenantId,
        { dataset: datasetId, as_of: "latest", id },
        { ...page, limit: query.limit, offset: query.offset },
      );
  const runs = new Map(found.map(({ item }) => [(JSON.parse(item) as { id: string }).id, [] as string[]]));
  let bytes = 0;
  for await (const rows of readRuns(deps, known, query, [...runs.keys()], plan.columns)) {
    const related = await lookUp(deps, scope, rows, plan.lookups);
    const ids = rows.map((row) => row.id);
    const feedbackRows = feedback && (await listFeedbackOfRuns(deps.sql, scope.tenantId, ids, feedback.comparison));
    for (const row of rows) {
      const text = plan.print(row, related, context);
      const whole = feedbackRows ? `${text.slice(0, -1)},"feedbacks":${feedbackRows.get(row.id) ?? "[]"}}` : text;
      bytes += whole.length;
      if (bytes > MAX_BYTES) throw tooMuch();
      runs.get(row.reference_example_id!)?.push(whole);
    }
  }
  const lists = [...runs.values()];
  return found.map((example, i) => ({ example, runs: lists[i]! }));
}

/** Lists a page of examples in the order of their scores. */
async function sortedPage(
  deps: TraceDeps,
  tenantId: string,
  datasetId: string,
  { experiments, offset, limit }: ExperimentQuery,
  sort: ExampleSort,
  among: string[] | undefined,
): Promise<ExampleItem[]> {
  const passing = among && new Set(among);
  const sorted = await sortExamples(deps, tenantId, datasetId, experiments, sort);
  const ids = sorted.filter((id) => passing?.has(id) ?? true).slice(offset, offset + limit);
  if (ids.length === 0) return [];
  const order = { order: "id", descending: undefined, select: undefined, limit: ids.length, offset: 0 } as const;
  const found = await listExamples(deps.sql, tenantId, { dataset: datasetId, as_of: "latest", id: ids }, order);
  const places = new Map(ids.map((id, place) => [id, place]));
  const placeOf = ({ item }: ExampleItem) => places.get((JSON.parse(item) as { id: string }).id)!;
  return found.toSorted((a, b) => placeOf(a) - placeOf(b));
}

async function* readRuns(
  deps: PageDeps,
  scope: RunScope,
  { experiments: projects, runs: filters }: ExperimentQuery,
  examples: string[],
  columns: string[],
): AsyncGenerator<Row[]> {
  if (examples.length === 0) return;
  const selection = { projects, reference_examples: examples, is_root: true, filters };
  // the reference example is needed for grouping, whether it was selected or not
  const request = { columns: [...columns, "r.reference_example_id"], descending: false, limit: RUN_PAGE };
  let after: Position | undefined;
  for (let sent = 0; sent < MAX_RUNS; sent += RUN_PAGE) {
    const next = yield* readPage(deps, scope, selection, { ...request, after });
    if (!next) return;
    after = next;
  }
  throw unprocessable(
    `These examples have more than ${MAX_RUNS} runs in the experiments. Request fewer examples at a time.`,
  );
}

const tooMuch = (): Error =>
  unprocessable(
    "The runs of these examples have more than 64 MB in the experiments. Request fewer examples at a time, or previews.",
  );

/** Undefined: no restriction. */
async function filteredExamples(
  deps: TraceDeps,
  scope: RunScope,
  { filters, examples }: ExperimentQuery,
): Promise<string[] | undefined> {
  const left = await examplesPassing(deps, scope, filters ?? {}, examples ? new Set(examples) : undefined);
  return left && [...left];
}

/**
 * Returns the examples that have, in each of these projects, a run that passes all of its filters. Undefined: no
 * restriction. @throws FilterError (400), 422 for too many examples
 */
export async function examplesPassing(
  deps: TraceDeps,
  scope: RunScope,
  filters: Record<string, string[]>,
  among?: Set<string>,
): Promise<Set<string> | undefined> {
  let left = among;
  for (const [project, texts] of Object.entries(filters)) {
    const selection = limited({ projects: [project], is_root: true, filters: texts.map((text) => readFilter(text)) });
    const known = await loadScope(deps, scope, selection);
    const statement = ch`select distinct r.reference_example_id as id ${fromRuns(known, selection)}
      limit ${bind("UInt32", MAX_FILTERED)}`;
    const rows = await readRows<{ id: string | null }>(
      deps.clickhouse.forTenant(scope.tenantId),
      "datasets.filtered",
      statement,
    );
    if (rows.length === MAX_FILTERED)
      throw unprocessable(`filters: more than ${MAX_FILTERED} examples match. Add conditions.`);
    left = new Set(rows.flatMap((row) => row.id ?? []).filter((id) => left?.has(id) ?? true));
  }
  return left;
}
