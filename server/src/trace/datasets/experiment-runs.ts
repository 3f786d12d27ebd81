import type { Principal } from "../../base/auth/principal.ts";
import { ch, bind, render } from "../../base/clickhouse/fragment.ts";
import type { TraceDeps } from "../deps.ts";
import { listFeedbackOfRuns } from "../feedback/sql.ts";
import { readFilter } from "../filter/read-filter.ts";
import { planV1 } from "../runs/print-v1.ts";
import type { PrintContext } from "../runs/run-fields.ts";
import { checkProjects } from "../runs/query-runs.ts";
import { lookUp } from "../runs/related.ts";
import { RunScope } from "../runs/run-scope.ts";
import { type Row, selectPage } from "../runs/select-page.ts";
import { fromRuns } from "../runs/selection.ts";
import type { ExperimentRunsQuery } from "./experiment-schema.ts";
import { type ExampleItem, listExamples } from "./example-sql.ts";

/** Runs of a page's examples that are read at once; each example has one a repetition and experiment. */
const RUN_PAGE = 500;
const MAX_RUNS = 5000;

/** Examples that filters may leave; beyond, the answer would lack some without saying so. */
const MAX_FILTERED = 100_000;

const FIELDS = `end_time error extra events parent_run_id serialized reference_example_id total_tokens prompt_tokens
  completion_tokens total_cost prompt_cost completion_cost feedback_stats tags execution_order`.split(/\s+/);

/**
 * A page of a dataset's examples, each with the runs that experiments made of it, and those with their feedback.
 *
 * @returns a JSON array, in chunks
 * @throws 404 for an experiment that is not the workspace's, 400 for a filter that cannot be read
 */
export async function* experimentRuns(
  deps: TraceDeps,
  principal: Principal,
  context: PrintContext,
  datasetId: string,
  query: ExperimentRunsQuery,
  exampleText: (item: ExampleItem) => string,
): AsyncGenerator<string> {
  const scope = RunScope.of(principal);
  await checkProjects(deps, scope, [...query.session_ids, ...Object.keys(query.filters ?? {})]);
  const ids = await filteredExamples(deps, scope, query);
  const filter = { dataset: datasetId, as_of: "latest", id: ids } as const;
  const page = { order: "recent", select: undefined, limit: query.limit, offset: query.offset } as const;
  const examples = await listExamples(deps.sql, scope.tenantId, filter, { ...page, descending: undefined });
  const exampleIds = examples.map(({ item }) => (JSON.parse(item) as { id: string }).id);
  const texts = query.preview ? ["inputs_preview", "outputs_preview"] : ["inputs", "outputs"];
  const plan = planV1([...FIELDS, ...texts]);
  const runs = new Map<string, string[]>(exampleIds.map((id) => [id, []]));
  for await (const rows of runsOf(deps, scope, query.session_ids, exampleIds, plan.columns)) {
    const related = await lookUp(deps, scope, rows, plan.lookups);
    const runIds = rows.map((row) => row.id);
    const feedback = await listFeedbackOfRuns(deps.sql, scope.tenantId, runIds, query.comparative_experiment_id);
    for (const row of rows) {
      const text = plan.print(row, related, context).slice(0, -1);
      runs.get(row.reference_example_id!)?.push(`${text},"feedbacks":${feedback.get(row.id) ?? "[]"}}`);
    }
  }
  let separator = "[";
  for (const [i, one] of examples.entries()) {
    yield `${separator}${exampleText(one).slice(0, -1)},"runs":[${runs.get(exampleIds[i]!)!.join(",")}]}`;
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

async function* runsOf(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  projects: string[],
  examples: string[],
  columns: string[],
): AsyncGenerator<Row[]> {
  if (examples.length === 0) return;
  const selection = { projects, reference_examples: examples, is_root: true };
  let sent = 0;
  for (let after: Awaited<ReturnType<typeof selectPage>>["next"]; sent < MAX_RUNS; sent += RUN_PAGE) {
    const page = await selectPage(clickhouse, scope, selection, { columns, descending: false, limit: RUN_PAGE, after });
    yield page.rows;
    if (!page.next) return;
    after = page.next;
  }
}

/** The examples that have, in each experiment with filters, a run that passes; undefined without filters. */
async function filteredExamples(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  { filters, example_ids: wanted }: ExperimentRunsQuery,
): Promise<string[] | undefined> {
  let left = wanted ? new Set(wanted) : undefined;
  for (const [project, texts] of Object.entries(filters ?? {})) {
    const selection = { projects: [project], is_root: true, filters: texts.map((text) => readFilter(text)) };
    const statement = ch`select distinct r.reference_example_id as id ${fromRuns(scope, selection)}
      limit ${bind("UInt32", MAX_FILTERED)}`;
    const rows = await clickhouse.rows<{ id: string | null }>({ name: "datasets.filtered", ...render(statement) });
    const passing = rows.flatMap((row) => row.id ?? []).filter((id) => left?.has(id) ?? true);
    left = new Set(passing);
  }
  return left && [...left];
}
