import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { fromMicros } from "./times.ts";

/**
 * Piece of a run, as inserted into `runs` (migrations/clickhouse/0001_runs.sql). Absent and null fields change nothing.
 * Times: `YYYY-MM-DD hh:mm:ss.ffffff` in UTC. Costs: decimal text.
 */
export interface RunRow {
  tenant_id: string;
  project_id: string;
  start_time: string;
  id: string;
  trace_id: string;
  updated_at: string;
  parent_run_id?: string | undefined;
  dotted_order?: string | undefined;
  name?: string | undefined;
  run_type?: string | undefined;
  end_time?: string | undefined;
  status?: string | undefined;
  error?: string | undefined;
  inputs?: string | undefined;
  outputs?: string | undefined;
  events?: string | undefined;
  extra?: string | undefined;
  serialized?: string | undefined;
  inputs_preview?: string | undefined;
  outputs_preview?: string | undefined;
  tags?: string | undefined;
  metadata?: string | undefined;
  input_pairs?: string | undefined;
  output_pairs?: string | undefined;
  thread_id?: string | undefined;
  reference_example_id?: string | undefined;
  prompt_tokens?: number | undefined;
  completion_tokens?: number | undefined;
  total_tokens?: number | undefined;
  prompt_token_details?: string | undefined;
  completion_token_details?: string | undefined;
  prompt_cost?: string | undefined;
  completion_cost?: string | undefined;
  total_cost?: string | undefined;
  prompt_cost_details?: string | undefined;
  completion_cost_details?: string | undefined;
  price_model_id?: string | undefined;
  first_token_time?: string | undefined;
  trace_tier?: string | undefined;
  inserted_at?: string | undefined;
  /** Whether the run stands in for its trace's root, which has not arrived (ingest/trace-heads.ts). */
  provisional_root?: boolean | undefined;
  /** JSON object (prices/usage.ts). */
  cost_basis?: string | undefined;
  /** Whether another model call directly around or within it has the same usage (ingest/repeated-usage.ts). */
  repeats_usage?: boolean | undefined;
  /** Bit mask of the fields that an update sets, and of the kind of piece (ingest/patched-fields.ts). */
  patched?: number | undefined;
}

/** Hours after its start from which a run without an end is incomplete, unless its project has its own. */
const INCOMPLETE_HOURS = 24;

/** Hours of the projects that have their own. */
export type IncompleteHours = ReadonlyMap<string, number>;

/** Statuses of runs that were stopped on purpose; tracers send them with the text of the exception as their error. */
export const STOPPED: readonly unknown[] = ["interrupted", "cancelled"];

const failed = (row: "" | "r.") =>
  `(${row}error is not null and ifNull(${row}status, '') not in (${STOPPED.map((status) => `'${status}'`).join(", ")}))`;

/**
 * Whether a merged row failed: it has an error and was not stopped on purpose. The rule of statistics, filters and alerts.
 */
export const HAS_FAILED = failed("r.");

/**
 * Status of a merged row (contract §1.6): a run whose end has not come for so long was probably killed. The time is that of
 * this process, in whole minutes, so that a statement that is asked again is the same one for a while.
 */
export function runStatus(own: IncompleteHours): string {
  const projects = Array.from(own.keys(), (id) => `toUUID('${id}')`).join(", ");
  const hours = Array.from(own.values(), String).join(", ");
  const age =
    own.size === 0 ? INCOMPLETE_HOURS : `transform(project_id, [${projects}], [${hours}], ${INCOMPLETE_HOURS})`;
  const minute = fromMicros(Math.floor(Date.now() / 60_000) * 60_000_000);
  return `multiIf(${failed("")}, 'error', status is not null, status, end_time is not null, 'success',
    start_time < toDateTime64('${minute}', 6, 'UTC') - toIntervalHour(${age}), 'incomplete', 'pending')`;
}

/** Whether a merged row is the head of its trace: the root, or the run that stands in for it. */
export const IS_HEAD = "(r.parent_run_id is null or ifNull(r.provisional_root, false))";

export const isHead = (row: { parent_run_id?: string | null; provisional_root?: boolean | null }): boolean =>
  row.parent_run_id == null || row.provisional_root === true;

/** Types of runs that call a model, whose usage counts. */
const CALL_TYPES: readonly (string | undefined)[] = ["llm", "embedding"];

/** Whether a run of this type calls a model. */
export const callsModel = (type: string | undefined): boolean => CALL_TYPES.includes(type);

/** Whether a merged row is a model call whose usage counts. */
export const IS_CALL = `(r.run_type in (${CALL_TYPES.map((type) => `'${type}'`).join(", ")}) and not ifNull(r.repeats_usage, false))`;

/**
 * Type of a merged row. A run of which only an end arrived has none, which copies have as an empty text; it is shown as
 * a chain.
 */
export const RUN_TYPE = "ifNull(nullIf(r.run_type, ''), 'chain')";

/**
 * Microseconds from the start of a merged row to another of its times, or null. Clocks of several machines differ: a
 * time before the start counts as the start.
 */
export const sinceStart = (time: string) =>
  `dateDiff('microsecond', start_time, if(${time} < start_time, start_time, ${time}))`;

/** Latency of a merged row in seconds; null while the run is pending. */
export const RUN_LATENCY = `${sinceStart("end_time")} / 1e6`;

/** Seconds until the first token. */
export const FIRST_TOKEN = `${sinceStart("first_token_time")} / 1e6`;

/** Location of a run. */
export interface RunKey {
  id: string;
  project_id: string;
  start_time: string;
  trace_id: string;
  deleted: boolean;
}

/** Finds at most one key per run; unknown runs are left out. FINAL is cheap here: the ids bound the read. */
export function findRunKeys(clickhouse: ClickHouse, tenantId: string, ids: readonly string[]): Promise<RunKey[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return clickhouse.rows<RunKey>({
    name: "run_keys.find",
    query: `select id, project_id, start_time, trace_id, deleted from run_keys final
      where tenant_id = {tenant:UUID} and id in {ids:Array(UUID)}`,
    params: { tenant: tenantId, ids },
    isRepeatable: true,
  });
}

/** Returns the ids of those runs that are roots. The trace of a root from OpenTelemetry has another id than the root. */
export async function findRoots(
  clickhouse: ClickHouse,
  tenantId: string,
  runs: readonly RunKey[],
): Promise<Set<string>> {
  const roots = new Set(runs.filter((run) => run.id === run.trace_id).map((run) => run.id));
  const others = runs.filter((run) => !roots.has(run.id));
  if (others.length === 0) return roots;
  const rows = await clickhouse.rows<{ id: string }>({
    name: "runs.roots",
    query: `select id from runs
      where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)}
        and start_time in {starts:Array(DateTime64(6, 'UTC'))} and id in {ids:Array(UUID)}
      group by id having countIf(parent_run_id is not null) = 0`,
    params: {
      tenant: tenantId,
      projects: [...new Set(others.map((run) => run.project_id))],
      starts: [...new Set(others.map((run) => run.start_time))],
      ids: others.map((run) => run.id),
    },
    isRepeatable: true,
  });
  for (const { id } of rows) roots.add(id);
  return roots;
}

/** What is stored of a run. */
export interface StoredPieces {
  /** Fields that updates have set (ingest/patched-fields.ts). */
  bits: number;
  /** Pieces that are not merged; on a cluster, pieces of different times of writing. */
  count: number;
  ended: boolean | 0 | 1;
  /** Times of writing. */
  first: string;
  last: string;
}

/**
 * Describes what is stored of runs; unknown runs are left out. The key's columns bound the read. On a cluster all
 * replicas are read: an insert that was acknowledged is on most of them, but not on each.
 */
export async function findPieces(
  clickhouse: ClickHouse,
  tenantId: string,
  runs: readonly Pick<RunKey, "id" | "project_id" | "start_time">[],
): Promise<Map<string, StoredPieces>> {
  if (runs.length === 0) return new Map();
  const { cluster } = clickhouse;
  const isReplicated = cluster !== "";
  const rows = await clickhouse.rows<StoredPieces & { id: string }>({
    name: "runs.pieces",
    query: `select id, groupBitOr(patched) as bits, ${isReplicated ? "uniqExact(updated_at)" : "count()"} as count,
        countIf(end_time is not null) > 0 as ended, min(updated_at) as first, max(updated_at) as last
      from ${isReplicated ? "clusterAllReplicas({cluster:String}, currentDatabase(), runs_local)" : "runs"}
      where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)}
        and start_time in {starts:Array(DateTime64(6, 'UTC'))} and id in {ids:Array(UUID)}
      group by id`,
    params: {
      tenant: tenantId,
      projects: [...new Set(runs.map((run) => run.project_id))],
      starts: [...new Set(runs.map((run) => run.start_time))],
      ids: runs.map((run) => run.id),
      ...(isReplicated && { cluster }),
    },
    ...(isReplicated && { settings: { skip_unavailable_shards: 1 as const } }),
  });
  return new Map(rows.map(({ id, ...stored }) => [id, stored]));
}

const RUN_COLUMNS =
  `tenant_id project_id start_time id trace_id updated_at parent_run_id dotted_order name run_type end_time status
  error inputs outputs events extra serialized inputs_preview outputs_preview tags metadata input_pairs output_pairs
  thread_id reference_example_id prompt_tokens completion_tokens total_tokens prompt_token_details
  completion_token_details prompt_cost completion_cost total_cost prompt_cost_details completion_cost_details
  price_model_id first_token_time trace_tier inserted_at provisional_root cost_basis
  repeats_usage patched`.split(/\s+/);

/**
 * Characters per statement. A statement's rows are in memory as lines, as bytes and as the engine's columns at the same
 * time.
 */
const MAX_INSERT = 8 * 1024 * 1024;
/** Size of an insert in bytes above which its memory is returned to the system, which takes 5 ms. */
const LARGE_INSERT = 4 * 1024 * 1024;

/** Inserts rows in order. Resolves when all are durable; if it rejects, the first ones may be. */
export async function insertRuns(clickhouse: ClickHouse, rows: readonly RunRow[]): Promise<void> {
  for (let start = 0; start < rows.length;) {
    let end = start;
    for (let size = 0; end < rows.length; end++) {
      size += weigh(rows[end]!);
      if (end > start && size > MAX_INSERT) break;
    }
    const lines = encodeLines(rows.slice(start, end));
    start = end;
    await clickhouse.insert("runs", RUN_COLUMNS, lines);
    if (lines.length >= LARGE_INSERT) await clickhouse.releaseMemory();
  }
}

const weigh = ({ inputs, outputs, events, extra, serialized, error }: RunRow): number =>
  [inputs, outputs, events, extra, serialized, error].reduce((sum, text) => sum + (text?.length ?? 0), 0);

export type RunKeyRow = RunKey & { tenant_id: string; version: string };

const KEY_COLUMNS = ["tenant_id", "id", "project_id", "start_time", "trace_id", "deleted", "version"];

export const insertRunKeys = (clickhouse: ClickHouse, rows: readonly RunKeyRow[]): Promise<void> =>
  clickhouse.insert("run_keys", KEY_COLUMNS, encodeLines(rows));

/** Serializes rows as lines of JSON. Each line is written separately: a joined text would be copied twice more. */
function encodeLines(rows: readonly object[]): Buffer {
  if (rows.length === 1) return Buffer.from(`${JSON.stringify(rows[0])}\n`);
  const lines = rows.map((row) => JSON.stringify(row));
  let size = lines.length;
  for (const line of lines) size += Buffer.byteLength(line);
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (const line of lines) {
    at += buffer.write(line, at);
    buffer[at++] = LF;
  }
  return buffer;
}

const LF = 10;
