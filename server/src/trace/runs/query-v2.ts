import { notFound } from "../../base/errors.ts";
import type { TraceDeps } from "../deps.ts";
import { parseTime } from "../run-rows/times.ts";
import { readFilter } from "../filter/read-filter.ts";
import { projectsOfDataset } from "../projects/sql.ts";
import { encodeCursor, readCursor } from "./cursor.ts";
import { loadScope } from "./load-scope.ts";
import { limited } from "./limited.ts";
import { planV2 } from "./serialize-v2.ts";
import type { SerializationPlan } from "./serialize-v1.ts";
import { lookUp } from "./related.ts";
import type { SerializationContext } from "./run-fields.ts";
import { zulu } from "./run-fields.ts";
import type { RunScope } from "./run-scope.ts";
import { collectPage } from "./bounded-page.ts";
import type { PageRequest } from "./select-page.ts";
import type { RunSelection } from "./selection.ts";
import { addSubtreeUsage } from "./subtree-usage.ts";
import { readTraceTotals } from "./trace-totals.ts";
import type { QueryBody, TracesBody } from "./v2-schema.ts";

const DAY_MS = 86_400_000;

export const daysAgo = (days: number): string => parseTime(Date.now() - days * DAY_MS)!;

export const readFilters = (...expressions: (string | undefined)[]) =>
  expressions.flatMap((expression) => (expression === undefined ? [] : [readFilter(expression)]));

/** Page of serialized runs; the caller adds the envelope. */
export interface SerializedPage {
  items: string[];
  next: string | undefined;
}

/** Formats `{"items": …, "has_more": …, "next_cursor": …}`. */
export const pageText = ({ items, next }: SerializedPage): string =>
  `{"items":[${items.join(",")}],"has_more":${next !== undefined}` +
  (next === undefined ? "}" : `,"next_cursor":${JSON.stringify(next)}}`);

export async function serializePage(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  selection: RunSelection,
  plan: SerializationPlan,
  page: Omit<PageRequest, "columns">,
  withSubtrees = false,
): Promise<SerializedPage> {
  const known = await loadScope(deps, scope, selection);
  const items: string[] = [];
  const request = { ...page, columns: plan.columns };
  const next = await collectPage(deps, known, selection, request, async (rows) => {
    const related = await lookUp(deps, scope, rows, plan.lookups, selection.projects);
    if (withSubtrees) await addSubtreeUsage(deps.clickhouse, known, rows);
    for (const row of rows) items.push(plan.print(row, related, context));
  });
  return { items, next: next && encodeCursor(next, page.sort) };
}

export async function queryRunsV2(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  body: QueryBody,
): Promise<SerializedPage> {
  let projects = body.project_ids;
  // the contract (§3.5) has this default for any runs, also for those that `ids` or `trace_id` name; it has none for traces
  let since = body.min_start_time ?? daysAgo(1);
  if (body.reference_dataset_id !== undefined) {
    const found = await projectsOfDataset(deps.sql, scope.tenantId, body.reference_dataset_id);
    if (found.length === 0) return { items: [], next: undefined };
    projects = found.map((project) => project.id);
    since = body.min_start_time ?? parseTime(found.map((project) => project.start_time).toSorted()[0]!)!;
  }
  const selection: RunSelection = limited({
    projects,
    ids: body.ids,
    traces: body.trace_id === undefined ? undefined : [body.trace_id],
    run_types: body.run_type === undefined ? undefined : [body.run_type.toLowerCase()],
    is_root: body.is_root,
    error: body.has_error,
    reference_examples: body.reference_examples,
    since,
    until: body.max_start_time,
    filters: readFilters(body.filter),
    trace_filter: readFilters(body.trace_filter)[0],
    tree_filter: readFilters(body.tree_filter)[0],
  });
  const page = {
    descending: body.sort_order === "DESC",
    sort: body.order_by,
    limit: body.page_size,
    after: readCursor(body.cursor, body.order_by),
  };
  const plan = planV2(body.selects);
  return serializePage(deps, scope, context, selection, plan, page, body.include_subtree_usage);
}

/** Throws 404 when the project has no such run. */
export async function retrieveRunV2(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  selection: RunSelection,
  selects: readonly string[] | undefined,
): Promise<string> {
  const page = { descending: true, limit: 1 };
  const { items } = await serializePage(deps, scope, context, selection, planV2(selects), page);
  if (items.length === 0) throw notFound("Run not found");
  return items[0]!;
}

/** Returns the heads of traces with the usage of their traces. */
export async function queryTraces(
  deps: TraceDeps,
  scope: RunScope,
  context: SerializationContext,
  body: TracesBody,
): Promise<SerializedPage> {
  const plan = planV2(body.selects);
  const selection: RunSelection = limited({
    projects: [body.project_id],
    traces: body.trace_ids,
    is_head: true,
    since: body.min_start_time ?? (body.trace_ids ? undefined : daysAgo(1)),
    until: body.max_start_time,
    // for a root the trace filter applies to the run itself
    filters: readFilters(body.trace_filter),
    tree_filter: readFilters(body.tree_filter)[0],
  });
  const request = {
    columns: plan.columns,
    descending: true,
    limit: body.page_size,
    after: readCursor(body.cursor),
  };
  const known = await loadScope(deps, scope, selection);
  const items: string[] = [];
  const next = await collectPage(deps, known, selection, request, async (rows) => {
    if (rows.length === 0) return;
    const [related, totals] = await Promise.all([
      lookUp(deps, scope, rows, plan.lookups),
      readTraceTotals(deps.clickhouse, scope, [body.project_id], rows),
    ]);
    for (const row of rows) {
      const total = totals.get(row.trace_id!);
      const aggregates = {
        total_tokens: total?.trace_total_tokens ?? null,
        total_cost: total?.trace_total_cost == null ? null : Number(total.trace_total_cost),
        first_token_time: total?.first_token == null ? null : zulu(total.first_token),
      };
      const root = plan.print(row, related, context);
      const mark = row.provisional_root === true ? ',"is_provisional_root":true' : "";
      items.push(`{"root_run":${root},"trace_aggregates":${JSON.stringify(aggregates)}${mark}}`);
    }
  });
  return { items, next: next && encodeCursor(next) };
}
