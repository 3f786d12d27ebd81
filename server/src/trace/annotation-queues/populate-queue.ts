import { notFound, unprocessable } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { extendTraces } from "../feedback/extend-traces.ts";
import { loadScope } from "../runs/load-scope.ts";
import { checkProjects, toSelection } from "../runs/query-runs.ts";
import type { SelectionBody } from "../runs/query-schema.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { type Position, selectPage } from "../runs/select-page.ts";
import { insertIntoQueue } from "./add-items.ts";
import { MAX_ITEMS, type PopulateBody } from "./item-schema.ts";
import { pairExperiments } from "./pair-runs.ts";
import { findQueueRow } from "./sql.ts";

/** Runs per transaction. */
const BATCH = 1000;

/**
 * Adds the runs of projects that match the conditions to a queue, oldest first: the roots, unless `is_root` or a
 * condition that selects other runs says otherwise.
 *
 * @returns the number of matching runs, up to the limit, and of those that the queue did not have
 * @throws 404 for an unknown queue or project, 422 when the queue is full; earlier batches stay
 */
export async function populateQueue(
  deps: TraceDeps,
  scope: RunScope,
  { queue_id, session_ids, extend_trace_retention, limit, ...conditions }: PopulateBody,
): Promise<{ matched: number; added: number }> {
  const { sql } = deps;
  await checkProjects(deps, scope, session_ids);
  const queue = await findQueueRow(sql, scope.tenantId, queue_id);
  if (!queue) throw notFound("Annotation queue not found");
  if (queue.queue_type === "pairwise") {
    const [first, second, ...others] = session_ids;
    if (first === undefined || second === undefined || others.length > 0) {
      throw unprocessable("session_ids: a pairwise queue takes the runs of two experiments.");
    }
    return pairExperiments(deps, scope.tenantId, queue_id, [first, second]);
  }
  const body: SelectionBody = {
    ...conditions,
    id: undefined,
    trace: undefined,
    parent_run: undefined,
    session: session_ids,
  };
  if (body.is_root === undefined && body.run_type === undefined) body.is_root = true;
  const selection = toSelection(body);
  const loaded = await loadScope(deps, scope, selection);
  const max = limit ?? MAX_ITEMS;
  let matched = 0;
  let added = 0;
  let after: Position | undefined;
  do {
    const page = { columns: ["r.trace_id"], descending: false, limit: Math.min(BATCH, max - matched), after };
    const { rows, next } = await selectPage(deps, loaded, selection, page);
    const keys = rows.map(({ id, project_id, start_time, trace_id }) => ({
      id,
      project_id,
      start_time,
      trace_id: trace_id!,
    }));
    const runs = keys.map((key) => ({ key, source_proposed_example_id: null }));
    added += (await sql.begin((tx) => insertIntoQueue(tx, scope.tenantId, queue_id, runs))) as number;
    if (extend_trace_retention !== false) await extendTraces(deps, scope.tenantId, keys);
    matched += rows.length;
    after = next;
  } while (after && matched < max);
  return { matched, added };
}
