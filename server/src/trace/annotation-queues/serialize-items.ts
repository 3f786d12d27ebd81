import type { TraceDeps } from "../deps.ts";
import { loadScope } from "../runs/load-scope.ts";
import { lookUp } from "../runs/related.ts";
import { naive, type SerializationContext } from "../runs/run-fields.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { readRuns, type Row } from "../runs/select-page.ts";
import { planV1, type SerializationPlan, UNSELECTED, WITHOUT_EXTRA, WITHOUT_STATS } from "../runs/serialize-v1.ts";
import type { ItemRow } from "./item-sql.ts";

/** Runs read at a time, because their inputs and outputs may be large. */
const AT_ONCE = 20;

/** Serializes items with their runs, in order, as chunks of a JSON array. */
export async function* serializeItems(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  items: readonly ItemRow[],
  includeStats = true,
): AsyncGenerator<string> {
  const plan = planV1(includeStats ? undefined : WITHOUT_STATS, { more: UNSELECTED });
  let separator = "[";
  for (let i = 0; i < items.length; i += AT_ONCE) {
    const texts = await serializeBatch(deps, scope, context, items.slice(i, i + AT_ONCE), plan);
    yield separator + texts.join(",");
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

/** Serializes one item with its run. */
export async function serializeItem(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  item: ItemRow,
  includeExtra = true,
): Promise<string> {
  const plan = planV1(includeExtra ? undefined : WITHOUT_EXTRA, { more: UNSELECTED });
  const [text] = await serializeBatch(deps, scope, context, [item], plan);
  return text!;
}

async function serializeBatch(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  items: readonly ItemRow[],
  plan: SerializationPlan,
): Promise<string[]> {
  const rows = await readItemRuns(deps, scope, items, plan.columns);
  const related = await lookUp(deps, scope, [...rows.values()], plan.lookups);
  return items.map((item) => {
    const row = rows.get(item.run_id);
    const run = row ? plan.print(row, related, context) : JSON.stringify(deletedRun(item));
    const { queue_run_id, added_at, effective_added_at, last_reviewed_time, archived_at, ...rest } = item;
    const { reserved_by, completed_by, source_proposed_example_id, item_type, other_run_id } = rest;
    const info = {
      ...{ queue_run_id, added_at, effective_added_at, last_reviewed_time, archived_at },
      ...{ reserved_by, completed_by, source_proposed_example_id, item_type, other_run_id },
    };
    return `${run.slice(0, -1)},${JSON.stringify(info).slice(1)}`;
  });
}

/** Reads columns of the items' runs, by run; those deleted meanwhile are left out. */
export async function readItemRuns(
  deps: TraceDeps,
  scope: RunScope,
  items: readonly ItemRow[],
  columns: readonly string[],
): Promise<Map<string, Row>> {
  const keys = items.map(({ run_id: id, project_id, start_time }) => ({ id, project_id, start_time }));
  const rows = await readRuns(deps.clickhouse, await loadScope(deps, scope), keys, columns);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Stands in for a run that was deleted after it had been added; the clients' models require these fields. */
const deletedRun = (item: ItemRow) => ({
  id: item.run_id,
  name: "Deleted run",
  run_type: "chain",
  start_time: naive(item.start_time),
  trace_id: item.trace_id,
  dotted_order: "",
  status: "deleted",
  session_id: item.project_id,
  app_path: "",
  inputs: {},
  outputs: null,
  error: "The run was deleted.",
});
