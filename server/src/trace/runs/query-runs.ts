import { notFound } from "../../base/errors.ts";
import { type Expression } from "../filter/expression.ts";
import { readFilter } from "../filter/read-filter.ts";
import type { TraceDeps } from "../deps.ts";
import { encodeCursor, readCursor } from "./cursor.ts";
import type { SerializationContext } from "./run-fields.ts";
import { loadScope } from "./load-scope.ts";
import { limited } from "./limited.ts";
import { planV1, type SerializationPlan, UNSELECTED } from "./serialize-v1.ts";
import type { QueryBody, SelectionBody } from "./query-schema.ts";
import { startLookups } from "./related.ts";
import { TRACE_RUN_COLUMNS } from "./trace-runs.ts";
import type { RunScope } from "./run-scope.ts";
import { PAGE_BYTES, readPage } from "./bounded-page.ts";
import type { PageRequest, Position, Row } from "./select-page.ts";
import { isOfWholeTraces, type RunSelection } from "./selection.ts";

/** Runs read and sent per batch in a list without pages. */
const AT_ONCE = 2000;
/** Characters per chunk: passing on a chunk costs more than serializing a run. */
const CHUNK = 262_144;

/** Builds the selection of a v1 body. @throws FilterError (400), and 422 for more conditions than a request may have */
export function toSelection(body: SelectionBody): RunSelection {
  // runs requested by id ignore all other filters (contract §3.1)
  if (body.id) return { ids: body.id };
  const filters: Expression[] = [];
  if (body.filter !== undefined) filters.push(readFilter(body.filter));
  if (body.search_filter !== undefined) filters.push(readFilter(body.search_filter));
  if (body.query !== undefined && body.query !== "") filters.push({ kind: "search", text: body.query });
  return limited({
    projects: body.session,
    traces: body.trace === undefined ? undefined : [body.trace],
    parents: body.parent_run === undefined ? undefined : [body.parent_run],
    run_types: body.run_type === undefined ? undefined : [body.run_type],
    reference_examples: body.reference_example,
    since: body.start_time,
    until: body.end_time,
    ...selectRoots(body),
    error: body.error,
    filters,
    trace_filter: body.trace_filter === undefined ? undefined : readFilter(body.trace_filter),
    tree_filter: body.tree_filter === undefined ? undefined : readFilter(body.tree_filter),
  });
}

function selectRoots(body: SelectionBody): Pick<RunSelection, "is_root" | "is_head"> {
  const is_root = body.execution_order === 1 ? true : body.is_root;
  return is_root && body.include_provisional_roots ? { is_head: true } : { is_root };
}

/** Throws 404 when one of these is not a project of the workspace. */
export async function checkProjects(
  { projects }: Pick<TraceDeps, "projects">,
  scope: RunScope,
  ids: readonly string[] | undefined,
): Promise<void> {
  const known = await Promise.all((ids ?? []).map((id) => projects.hasProject(scope.tenantId, id)));
  const missing = known.indexOf(false);
  if (missing !== -1) throw notFound(`Session not found: ${ids![missing]}`);
}

/** Streams the response of `POST /runs/query` as chunks of JSON text: one page, or a whole trace. */
export async function* queryRuns(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  body: QueryBody,
): AsyncGenerator<string> {
  const selection = toSelection(body);
  scope = await loadScope(deps, scope, selection);
  // a trace is returned whole (contract §3.1)
  const page = selection.traces ? undefined : { limit: body.limit, after: readCursor(body.cursor, body.order_by) };
  const plan = planV1(body.select, { more: UNSELECTED });
  yield '{"runs":';
  const order = { descending: body.order === "desc", sort: body.order_by };
  const end = yield* serializeRuns(deps, scope, context, selection, plan, order, page);
  const next = end && !body.skip_pagination ? encodeCursor(end, body.order_by) : null;
  yield `,"cursors":${JSON.stringify({ next, prev: null })},"search_cursors":null,"parsed_query":null}`;
}

/** Streams a list of runs as chunks of JSON text: a page or, without `page`, all. @returns the end of the page */
export async function* serializeRuns(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  selection: RunSelection,
  plan: SerializationPlan,
  order: Pick<PageRequest, "descending" | "sort">,
  page?: { limit: number; after: Position | undefined },
): AsyncGenerator<string, Position | undefined> {
  const { lookups } = plan;
  const { projects } = selection;
  const isWhole = page === undefined && isOfWholeTraces(selection);
  const columns = isWhole && lookups.has("totals") ? [...plan.columns, ...TRACE_RUN_COLUMNS] : plan.columns;
  let after = page?.after;
  let separator = "[";
  let text = "";
  for (;;) {
    let related: ReturnType<typeof startLookups> | undefined;
    const onKeys = (keys: readonly Row[]) => (related = startLookups(deps, scope, keys, lookups, { projects }));
    const request = { columns, ...order, limit: page?.limit ?? AT_ONCE, after, onKeys };
    const batches = readPage(deps, scope, selection, request, page && PAGE_BYTES);
    let batch = await batches.next();
    let isFirst = after === undefined;
    while (!batch.done) {
      const rows = batch.value;
      // what follows the first batch tells whether it has all runs
      const following: IteratorResult<Row[], Position | undefined> | undefined =
        isWhole && isFirst ? await batches.next() : undefined;
      const isAll = following?.done === true && following.value === undefined;
      isFirst = false;
      const found = await (related ?? startLookups(deps, scope, rows, lookups, { isWhole: isAll, projects }))(rows);
      for (const row of rows) {
        text += separator + plan.print(row, found, context);
        separator = ",";
        if (text.length < CHUNK) continue;
        yield text;
        text = "";
      }
      batch = following ?? (await batches.next());
    }
    const next = batch.value;
    if (page || !next) {
      yield text + (separator === "[" ? "[]" : "]");
      return next;
    }
    after = next;
  }
}
