import { Counter, type Registry } from "prom-client";

import { isClickHouseUnavailable, TIMEOUT } from "../../base/clickhouse/unavailable.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { AppError, coerceError, unavailable } from "../../base/errors.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { shortageIn } from "../../base/shortage.ts";
import { type AttachmentRow, insertAttachments } from "../attachments/clickhouse.ts";
import type { ModelPrices } from "../prices/model-prices.ts";
import type { ProjectDirectory } from "../projects/project-directory.ts";
import type { RunChange } from "../rule-candidates/concerned-rules.ts";
import type { RuleCandidates } from "../rule-candidates/rule-candidates.ts";
import { HourMarks, hourOf } from "../run-facts/hour-marks.ts";
import type { Hour } from "../run-facts/sql.ts";
import { insertRunKeys, insertRuns, type RunKeyRow, type RunRow } from "../run-rows/clickhouse.ts";
import { composeRow } from "./compose-row.ts";
import { mergeExtras } from "./merge-extra.ts";
import { placeRuns } from "./place-children.ts";
import { markRepeatedUsage } from "./repeated-usage.ts";
import { type Resolved, resolveRuns } from "./resolve-runs.ts";
import { RunHistory } from "./run-history.ts";
import { RunMemory } from "./run-memory.ts";
import type { RunPiece } from "./run-piece.ts";
import { type HeadChanges, TraceHeads } from "./trace-heads.ts";
import { fromMicros } from "../run-rows/times.ts";
import { WaitingPieces } from "./waiting-pieces.ts";

/** Most pieces per insert. More bring no gain, and all of their rows are in memory at once. */
const MAX_GROUP = 5000;
/**
 * Most pieces of one tenant in progress while other tenants write too, so that theirs do not wait for a large insert.
 */
const CROWDED = 100;

interface Call {
  tenantId: string;
  pieces: RunPiece[];
}

/** What a group of calls writes. */
interface Batch {
  rows: RunRow[];
  keys: RunKeyRow[];
  files: AttachmentRow[];
  /** Runs whose state in memory the batch changes. */
  touched: { tenantId: string; id: string }[];
  heads: HeadChanges[];
  /** The rows, for the rules. */
  written: RunChange[];
  hours: Hour[];
}

export interface RunWriterDeps {
  sql: Sql;
  clickhouse: ClickHouse;
  log: Log;
  projects: ProjectDirectory;
  prices: ModelPrices;
  /** Records runs for the rules. */
  ruleCandidates: Pick<RuleCandidates, "record">;
  registry: Registry;
}

/**
 * Inserts runs into ClickHouse; nothing else does. Requests that arrive during an insert share the next one; without a
 * current insert, a request is written at once. `write` resolves when its pieces are durable: visible to every query,
 * or, updates of unknown runs, waiting in Postgres.
 *
 * Inserts are sequential: two pieces of a run that were accepted one after the other are stored in that order, and the
 * later one wins.
 */
export class RunWriter {
  readonly #deps: RunWriterDeps;
  readonly failure: RepeatedFailure;
  readonly #memory = new RunMemory();
  readonly #history: RunHistory;
  readonly #waiting: WaitingPieces;
  readonly #heads: TraceHeads;
  readonly #hours: HourMarks;
  readonly #written: Counter;
  readonly #inserts: Counter;
  /** The current group and the next one. The gate of ingest bounds the queue. */
  readonly #turns = new FairQueue({
    capacity: 2 * MAX_GROUP,
    crowded: CROWDED,
  });
  /** Stores an invalid call separately, so that it does not fail the others. */
  readonly #commits = new GroupCommit<Call, void>((group) => this.#commit(group), {
    max: MAX_GROUP,
    weigh: ({ pieces }) => pieces.length,
    isUnavailable,
    ready: (queued) => this.#yieldToOthers(queued),
  });
  /** The current group; never rejects. */
  #storing: Promise<unknown> | undefined;

  constructor(deps: RunWriterDeps) {
    this.#deps = deps;
    this.failure = new RepeatedFailure({ log: deps.log, message: "could not store traces" });
    this.#history = new RunHistory(deps);
    this.#waiting = new WaitingPieces(deps, (tenantId, pieces) => this.#enqueue(tenantId, pieces));
    this.#heads = new TraceHeads(deps, (tenantId, pieces) => this.#enqueue(tenantId, pieces));
    const registers = [deps.registry];
    this.#hours = new HourMarks(deps.sql);
    this.#written = new Counter({
      name: "heddle_ingest_runs_total",
      help: "Stored creates and updates of runs.",
      registers,
    });
    this.#inserts = new Counter({ name: "heddle_ingest_inserts_total", help: "Inserts that stored them.", registers });
  }

  start(): void {
    this.#history.start();
    this.#waiting.start();
    this.#heads.start();
  }

  async stop(): Promise<void> {
    await this.#waiting.stop();
    await this.#heads.stop();
    await this.#commits.idle();
    await this.#history.stop();
  }

  /** @throws 503 when the stores are unreachable; the pieces may then not be stored */
  async write(tenantId: string, pieces: RunPiece[]): Promise<void> {
    const queued = pieces.filter((piece) => piece.kind === "patch" && this.#waiting.has(tenantId, piece.id));
    if (queued.length > 0) await this.#waiting.add(tenantId, queued.map(waitForRun));
    const now = queued.length > 0 ? pieces.filter((piece) => !queued.includes(piece)) : pieces;
    if (now.length > 0) await this.#enqueue(tenantId, now);
  }

  /**
   * Call after runs were marked as deleted. Once this resolves, none of their pieces is in progress, and later ones are
   * not stored.
   */
  async forget(deleted: { traces?: readonly string[]; projects?: readonly string[] }): Promise<void> {
    await this.#history.noteDeleted(deleted);
    this.#forget();
    // pieces looked up before the mark are in the group that is being stored
    await this.#storing;
    this.#forget();
  }

  /** Whether this run may be deleted; always, if other servers can delete it. */
  mayBeDeleted({ id, trace_id }: { id: string; trace_id: string }): boolean {
    return this.#history.mayBeDeleted(id) || this.#history.mayBeDeleted(trace_id);
  }

  #forget(): void {
    this.#memory.clear();
    this.#heads.clear();
    this.#hours.clear();
  }

  #enqueue(tenantId: string, pieces: RunPiece[]): Promise<void> {
    const commit = () =>
      this.#commits.call({ tenantId, pieces }).catch((error: unknown) => {
        throw translate(error);
      });
    return this.#turns.run(commit, tenantId, pieces.length);
  }

  async #commit(group: Call[]): Promise<void[]> {
    const startedAt = performance.now();
    const work = this.#store(group);
    this.#storing = work.then(
      () => this.failure.succeeded(),
      // an invalid request is no failure of the stores
      (error: unknown) => void (isUnavailable(error) && this.failure.failed(error)),
    );
    await work;
    this.#charge(group, performance.now() - startedAt);
    return group.map(() => undefined);
  }

  /** Yields to queries of other tenants while all calls are of tenants above their share. */
  async #yieldToOthers(queued: () => Call[]): Promise<void> {
    const { share } = this.#deps.clickhouse;
    const isUrgent = () => queued().some(({ tenantId }) => !share!.isAboveShare(tenantId));
    if (share && !isUrgent()) await share.yieldToOthers(isUrgent);
  }

  #charge(group: Call[], ms: number): void {
    const total = group.reduce((sum, { pieces }) => sum + pieces.length, 0);
    for (const { tenantId, pieces } of group)
      this.#deps.clickhouse.share?.charge(tenantId, (ms * pieces.length) / total);
  }

  /** Stores a group of calls. */
  async #store(group: Call[]): Promise<void> {
    const batch: Batch = { rows: [], keys: [], files: [], touched: [], heads: [], written: [], hours: [] };
    const { rows, keys, files, touched, heads, written, hours } = batch;
    try {
      for (const [tenantId, pieces] of byTenant(group)) await this.#compose(batch, tenantId, pieces);
      const { clickhouse } = this.#deps;
      // a create that is repeated, also after a failure, is not known as a whole
      for (const { row } of written) this.#history.noteWriting(row.id);
      const confirm = await this.#hours.announce(hours);
      // where only some of these succeed, nothing is acknowledged, and a repetition completes the run: one of which only
      // the key was stored is new (resolve-runs.ts)
      await Promise.all([
        insertRuns(clickhouse, rows),
        insertRunKeys(clickhouse, keys),
        insertAttachments(clickhouse, files),
      ]);
      await confirm();
      await this.#deps.ruleCandidates.record(written);
    } catch (error) {
      // only stored runs may stay in memory
      for (const { tenantId, id } of touched) this.#memory.forget(tenantId, id);
      this.#heads.clear();
      throw error;
    }
    for (const { settle } of heads) await settle();
    for (const [tenantId, ids] of idsByTenant(rows)) this.#waiting.arrived(tenantId, ids);
    this.#written.inc(group.reduce((sum, { pieces }) => sum + pieces.length, 0));
    this.#inserts.inc();
  }

  /** Adds the rows of a tenant's pieces to the batch. */
  async #compose(batch: Batch, tenantId: string, pieces: RunPiece[]): Promise<void> {
    const { rows, keys, files, touched, heads, written, hours } = batch;
    const resolved = await this.#prepare(tenantId, pieces);
    const now = fromMicros(Date.now() * 1000)!;
    const composed: { entry: Resolved; row: RunRow }[] = [];
    for (const entry of resolved) {
      const { id } = entry.piece;
      touched.push({ tenantId, id });
      if (entry.writesKey) {
        const { project_id, start_time, trace_id } = entry.run;
        keys.push({ tenant_id: tenantId, id, project_id, start_time, trace_id, deleted: false, version: now });
      }
      composed.push({ entry, row: await composeRow(this.#deps.prices, tenantId, entry, now) });
      for (const file of entry.piece.attachments) {
        files.push({ tenant_id: tenantId, run_id: id, uploaded_at: now, ...file });
      }
    }
    const repeated = markRepeatedUsage(this.#memory, tenantId, composed, now);
    for (const { id } of repeated) touched.push({ tenantId, id });
    const changes = await this.#heads.mark(tenantId, composed, now);
    heads.push(changes);
    keys.push(...changes.keys);
    const first = rows.length;
    for (const { entry, row } of composed) {
      rows.push(row);
      const isNewTrace = changes.newTraces.has(row.project_id + row.trace_id);
      // a first create without an end is no state that a rule acts on
      const isState = row.end_time !== undefined || !entry.isNew;
      written.push({ row, isNew: entry.isNew, isNewTrace, isState, isTierOnly: setsTierOnly(entry.piece) });
    }
    for (const row of [...repeated, ...changes.rows]) {
      rows.push(row);
      written.push({ row, isNew: false, isNewTrace: false, isState: true });
    }
    hours.push(...(await this.#findHours(tenantId, resolved, rows.slice(first))));
  }

  /** Returns the hours of the rows, and of the heads of their traces, which bear the sums of the traces. */
  async #findHours(tenantId: string, resolved: readonly Resolved[], rows: readonly RunRow[]): Promise<Hour[]> {
    const traces = new Map(rows.map(({ project_id, trace_id }) => [project_id + trace_id, { project_id, trace_id }]));
    for (const { run, movedFrom: trace_id } of resolved) {
      if (trace_id !== undefined) traces.set(run.project_id + trace_id, { project_id: run.project_id, trace_id });
    }
    const starts = await this.#heads.findStarts(tenantId, [...traces.values()]);
    return [...rows, ...starts].map(({ project_id, start_time }) => ({
      tenant_id: tenantId,
      project_id,
      hour: hourOf(start_time),
    }));
  }

  /** Resolves, places and merges pieces. Those that cannot be written yet are stored as waiting. */
  async #prepare(tenantId: string, pieces: RunPiece[]): Promise<Resolved[]> {
    const { clickhouse, projects } = this.#deps;
    const memory = this.#memory;
    const history = this.#history;
    const { resolved, waiting } = await resolveRuns({ clickhouse, projects, memory, history }, tenantId, pieces);
    if (waiting.length > 0) await this.#waiting.add(tenantId, waiting.map(waitForRun));
    const misplaced = await placeRuns(clickhouse, tenantId, resolved);
    if (misplaced.length > 0) await this.#waiting.add(tenantId, misplaced.map(waitForParent));
    await mergeExtras({ clickhouse, memory }, tenantId, resolved);
    return resolved;
  }
}

/**
 * Returns true for errors that leave open whether data was written: the store is unavailable, stopping, or out of
 * memory.
 */
function isUnavailable(error: unknown): boolean {
  if (error instanceof AppError) return error.status === 503;
  if (shortageIn(error) || isClickHouseUnavailable(error)) return true;
  const code = (error as { code?: unknown } | null)?.code;
  // 08…: lost connections to Postgres
  return typeof code === "string" && (code === TIMEOUT || code.startsWith("08"));
}

/** Whether the piece only moves its run to another tier, as feedback and rules do with whole traces. */
function setsTierOnly({ kind, fields, extra }: RunPiece): boolean {
  if (kind !== "patch" || fields.trace_tier === undefined || extra) return false;
  return Object.entries(fields).every(([name, value]) => name === "trace_tier" || value === undefined);
}

/** Translates a storage failure to the error of the request. */
function translate(error: unknown): Error {
  if (error instanceof AppError) return error;
  if (!isUnavailable(error)) return coerceError(error);
  const reason = shortageIn(error)?.message ?? "The trace store cannot accept traces at the moment.";
  return unavailable(`${reason} Try again later.`, 2, error);
}

const waitForRun = (piece: RunPiece) => ({ piece, kind: "update" as const, needs: piece.id });

const waitForParent = ({ piece, run }: Resolved) => ({
  kind: "place" as const,
  needs: piece.parent_run_id!,
  piece: {
    kind: "patch" as const,
    id: piece.id,
    start_time: run.start_time,
    fields: {},
    attachments: [],
    received_at: piece.received_at,
  },
});

function byTenant(group: Call[]): Map<string, RunPiece[]> {
  const tenants = new Map<string, RunPiece[]>();
  for (const { tenantId, pieces } of group) {
    const known = tenants.get(tenantId);
    if (known) known.push(...pieces);
    else tenants.set(tenantId, [...pieces]);
  }
  return tenants;
}

function idsByTenant(rows: RunRow[]): Map<string, Set<string>> {
  const tenants = new Map<string, Set<string>>();
  for (const { tenant_id, id } of rows) {
    const ids = tenants.get(tenant_id);
    if (ids) ids.add(id);
    else tenants.set(tenant_id, new Set([id]));
  }
  return tenants;
}
