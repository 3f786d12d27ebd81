/** Data of a run outside its own row, looked up for a whole page at once, and only if selected. */
import { ch } from "../../base/clickhouse/fragment.ts";
import { type AttachmentRow, findAttachments } from "../attachments/clickhouse.ts";
import { attachmentPath, type LinkSigner } from "../attachments/sign-link.ts";
import type { TraceDeps } from "../deps.ts";
import { isHead } from "../run-rows/clickhouse.ts";
import { feedbackStats, type FeedbackStatsByKey } from "../feedback/stats.ts";
import { findTiers, type Tier } from "../projects/sql.ts";
import { findShares } from "./share-sql.ts";
import { findExampleDatasets, findExamplesFrom } from "./related-sql.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import type { Row } from "./select-page.ts";
import { fromRuns } from "./selection.ts";
import { readTraceTotals, type TraceTotals } from "./trace-totals.ts";

export type Lookup = keyof Related;

export interface Related {
  /** Totals by trace; for heads only. */
  totals: Map<string, TraceTotals>;
  /** Share tokens by trace. */
  shares: Map<string, string>;
  /** Statistics by run. */
  feedback: Map<string, FeedbackStatsByKey>;
  /** Datasets by reference example. */
  datasets: Map<string, string>;
  /** Runs that are the source of an example. */
  inDataset: Set<string>;
  /** Tiers by project. */
  tiers: Map<string, Tier>;
  /** Descendants by run, ordered by start. */
  children: Map<string, { id: string; isDirect: boolean }[]>;
  /** First and last start in a trace. */
  bounds: Map<string, { first: string; last: string }>;
  /** Links by run. They work for a while without a key. */
  attachments: Map<string, AttachmentLink[]>;
}

export interface AttachmentLink {
  name: string;
  mime_type: string;
  /** Path below the API's base. */
  path: string;
}

/**
 * Runs the wanted lookups. They need `trace_id`, `parent_run_id`, and `reference_example_id` or `dotted_order` in the
 * rows.
 */
export async function lookUp(
  { sql, clickhouse, links }: Pick<TraceDeps, "sql" | "clickhouse" | "links">,
  scope: RunScope,
  rows: readonly Row[],
  selected: ReadonlySet<Lookup>,
): Promise<Partial<Related>> {
  if (rows.length === 0) return {};
  const { tenantId } = scope;
  const roots = rows.filter(isHead);
  const distinctIds = (list: readonly Row[], name: "id" | "trace_id" | "project_id" | "reference_example_id") => [
    ...new Set(list.flatMap((row) => (row[name] as string | null | undefined) ?? [])),
  ];
  const since = rows.reduce((first, row) => (row.start_time < first ? row.start_time : first), rows[0]!.start_time);
  const projects = distinctIds(rows, "project_id");
  const lookups: { [L in Lookup]: () => Promise<Related[L]> } = {
    totals: async () =>
      roots.length === 0
        ? new Map()
        : readTraceTotals(clickhouse, scope, { projects, traces: distinctIds(roots, "trace_id"), since }),
    shares: () => findShares(sql, tenantId, distinctIds(rows, "trace_id")),
    feedback: () => feedbackStats(sql, tenantId, "runs", distinctIds(rows, "id")),
    datasets: () => findExampleDatasets(sql, tenantId, distinctIds(rows, "reference_example_id")),
    inDataset: () => findExamplesFrom(sql, tenantId, distinctIds(rows, "id")),
    tiers: () => findTiers(sql, tenantId, projects),
    children: () => findChildren({ clickhouse }, scope, rows),
    bounds: () => findBounds({ clickhouse }, scope, rows),
    attachments: async () => signLinks(links, await findAttachments(clickhouse, tenantId, distinctIds(rows, "id"))),
  };
  const related: Partial<Related> = {};
  await Promise.all([...selected].map(async (lookup) => Object.assign(related, { [lookup]: await lookups[lookup]() })));
  return related;
}

/** Finds descendants, whose dotted order begins with their ancestor's. */
async function findChildren(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  rows: readonly Row[],
): Promise<Related["children"]> {
  const statement = ch`select r.id, r.parent_run_id, r.dotted_order ${fromRuns(scope, distinctTraces(rows))}
    order by r.dotted_order limit 200000`;
  const runs = await readRows<Row>(clickhouse.forTenant(scope.tenantId), "runs.children", statement);
  return new Map(
    rows.map((row) => {
      const prefix = `${row.dotted_order ?? ""}.`;
      const below = runs.filter((run) => run.dotted_order?.startsWith(prefix) || run.parent_run_id === row.id);
      return [row.id, below.map((run) => ({ id: run.id, isDirect: run.parent_run_id === row.id }))];
    }),
  );
}

async function findBounds(
  { clickhouse }: Pick<TraceDeps, "clickhouse">,
  scope: RunScope,
  rows: readonly Row[],
): Promise<Related["bounds"]> {
  const statement = ch`select r.trace_id as trace, min(r.start_time) as first, max(r.start_time) as last
    ${fromRuns(scope, distinctTraces(rows))} group by r.trace_id`;
  const bounds = await readRows<{ trace: string; first: string; last: string }>(
    clickhouse.forTenant(scope.tenantId),
    "runs.trace_bounds",
    statement,
  );
  return new Map(bounds.map(({ trace, first, last }) => [trace, { first, last }]));
}

function signLinks(links: LinkSigner, attachments: AttachmentRow[]): Related["attachments"] {
  const found: Related["attachments"] = new Map();
  for (const { run_id, name, mime_type, blob } of attachments) {
    const link = { name, mime_type, path: attachmentPath(links.sign({ blob, mime_type, name })) };
    found.set(run_id, [...(found.get(run_id) ?? []), link]);
  }
  return found;
}

const distinctTraces = (rows: readonly Row[]) => ({
  projects: [...new Set(rows.map((row) => row.project_id))],
  traces: [...new Set(rows.flatMap((row) => row.trace_id ?? []))],
});
