/** Data of a run outside its own row, looked up for a whole page at once, and only if selected. */
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { ch } from "../../base/clickhouse/fragment.ts";
import { type AttachmentRow, findAttachments } from "../attachments/clickhouse.ts";
import { attachmentPath, type LinkSigner } from "../attachments/sign-link.ts";
import type { TraceDeps } from "../deps.ts";
import { isHead } from "../run-rows/clickhouse.ts";
import { feedbackStats, type FeedbackStatsByKey } from "../feedback/stats.ts";
import { findTiers, type Tier } from "../projects/sql.ts";
import { findShares, type ShareTokens } from "./share-sql.ts";
import { findExampleDatasets, findExamplesFrom } from "./related-sql.ts";
import { readRows } from "./read-rows.ts";
import type { RunScope } from "./run-scope.ts";
import type { Row } from "./select-page.ts";
import { fromRuns } from "./selection.ts";
import { MAX_TRACE_RUNS, readTraceRuns, sumTraces } from "./trace-runs.ts";
import { findTraceTotals, type TraceTotals } from "./trace-totals.ts";

export type Lookup = keyof Related;

export interface Related {
  /** Totals by trace; for heads only. */
  totals: Map<string, TraceTotals>;
  shares: ShareTokens;
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

/** What lookups need of a run before it is read. */
type RunKey = Pick<Row, "id" | "project_id" | "start_time" | "trace_id">;

/**
 * Runs the wanted lookups. They need `trace_id`, `parent_run_id`, and `reference_example_id` or `dotted_order` in the
 * rows.
 */
export const lookUp = (
  deps: LookupDeps,
  scope: RunScope,
  rows: readonly Row[],
  selected: ReadonlySet<Lookup>,
  projects?: readonly string[],
): Promise<Partial<Related>> => startLookups(deps, scope, rows, selected, { projects })(rows);

type LookupDeps = Pick<TraceDeps, "sql" | "clickhouse" | "links" | "settings">;

/**
 * Starts the lookups that need only keys, while the runs themselves are read.
 * @param isWhole whether the runs are whole traces, with TRACE_RUN_COLUMNS, so that sums and trees follow from them
 * @param projects those from which runs are selected: sums of a trace include its runs in all of them, on whatever page
 * its head is. By default the projects of the keys
 * @returns a function of these runs, or of some of them, that awaits these lookups and runs the others
 */
export function startLookups(
  deps: LookupDeps,
  scope: RunScope,
  keys: readonly RunKey[],
  selected: ReadonlySet<Lookup>,
  { isWhole = false, projects: searched }: { isWhole?: boolean; projects?: readonly string[] | undefined } = {},
): (rows: readonly Row[]) => Promise<Partial<Related>> {
  if (keys.length === 0) return async () => ({});
  const { sql, clickhouse, links } = deps;
  const { tenantId } = scope;
  const [ids, traces, own] = [distinct(keys, "id"), distinct(keys, "trace_id"), distinct(keys, "project_id")];
  const projects = searched ? [...searched] : own;
  const since = keys.reduce((first, { start_time: at }) => (at < first ? at : first), keys[0]!.start_time);
  const totalsOf = (heads: readonly RunKey[]) => findTraceTotals(deps, scope, projects, heads);
  // a root has the id of its trace
  const roots = keys.filter(({ id, trace_id }) => id === trace_id);
  const byKey = {
    totals: () => totalsOf(roots),
    shares: () => findShares(sql, tenantId, traces),
    feedback: () => feedbackStats(sql, tenantId, "runs", ids),
    inDataset: () => findExamplesFrom(sql, tenantId, ids),
    tiers: () => findTiers(sql, tenantId, own),
    runs: () => readTraceRuns(clickhouse, scope, { projects, traces, since }),
    bounds: () => findBounds(clickhouse, scope, { projects, traces }),
    attachments: async () => signLinks(links, await findAttachments(clickhouse, tenantId, ids)),
  };
  const names = new Set<string>(selected);
  if (names.delete("children") && !isWhole) names.add("runs");
  if (isWhole || names.has("runs")) names.delete("totals");
  const wanted = Object.entries(byKey).filter(([name]) => names.has(name));
  const started = Promise.all(wanted.map(async ([name, run]) => [name, await run()])).then(
    (entries) => Object.fromEntries(entries) as { [L in keyof typeof byKey]?: Awaited<ReturnType<(typeof byKey)[L]>> },
  );
  // awaited with the rows, unless reading those fails
  started.catch(() => {});
  return async (rows) => {
    const { totals, runs = isWhole ? rows : undefined, ...rest } = await started;
    const others = totals && rows.filter((row) => isHead(row) && !totals.has(row.trace_id!));
    const isCut = runs?.length === MAX_TRACE_RUNS;
    const tree = selected.has("children") ? runs && inTreeOrder(runs) : undefined;
    const [more, datasets] = await Promise.all([
      isCut ? totalsOf(rows.filter(isHead)) : others && totalsOf(others),
      selected.has("datasets") ? findExampleDatasets(sql, tenantId, distinct(rows, "reference_example_id")) : undefined,
    ]);
    return {
      ...rest,
      ...(selected.has("totals") && {
        totals: new Map([...(runs && !isCut ? sumTraces(runs) : (totals ?? [])), ...(more ?? [])]),
      }),
      ...(datasets && { datasets }),
      ...(tree && { children: new Map(rows.map((row) => [row.id, descendantsOf(row, tree)])) }),
    };
  };
}

const distinct = <N extends "id" | "trace_id" | "project_id" | "reference_example_id">(
  list: readonly { [name in N]?: string | null | undefined }[],
  name: N,
): string[] => [...new Set(list.flatMap((row) => row[name] ?? []))];

const inTreeOrder = (runs: readonly Row[]): Row[] => {
  const order = (run: Row) => run.dotted_order ?? "";
  return runs.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
};

/** Finds descendants, whose dotted order begins with their ancestor's. */
function descendantsOf({ id, dotted_order }: Row, runs: readonly Row[]): { id: string; isDirect: boolean }[] {
  const prefix = `${dotted_order ?? ""}.`;
  const below = runs.filter((run) => run.dotted_order?.startsWith(prefix) || run.parent_run_id === id);
  return below.map((run) => ({ id: run.id, isDirect: run.parent_run_id === id }));
}

async function findBounds(
  clickhouse: ClickHouse,
  scope: RunScope,
  selection: { projects: string[]; traces: string[] },
): Promise<Related["bounds"]> {
  const statement = ch`select r.trace_id as trace, min(r.start_time) as first, max(r.start_time) as last
    ${fromRuns(scope, selection)} group by r.trace_id`;
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
