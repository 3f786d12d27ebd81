import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { storableText } from "../../base/well-formed.ts";
import { findRunKeys, type RunKey, type RunKeyRow, type RunRow } from "../run-rows/clickhouse.ts";
import * as roots from "../run-rows/provisional-roots-sql.ts";
import type { Resolved } from "./resolve-runs.ts";
import type { RunPiece } from "./run-piece.ts";

/** Head of a trace in a project. */
interface Head {
  /** Undefined for a root of which only the location was looked up. */
  run_id: string | undefined;
  start_time: string;
  parent_run_id: string | undefined;
  isProvisional: boolean;
  /** Thread of the trace; null for none, undefined when it was not looked up. */
  thread_id: string | null | undefined;
}

/** Rows of a trace in a project that may change its head. */
interface Trace {
  key: string;
  project_id: string;
  trace_id: string;
  head: Head | undefined;
  /** Provisional root in Postgres whose run was never stored. */
  lost: string | undefined;
  /** The root, if it is among the rows. */
  root: RunRow | undefined;
  /** New children, and children that come from another trace. */
  runs: RunRow[];
  /** First thread named by a run that is not the head. */
  thread_id: string | undefined;
  /** Whether this process did not remember the head. */
  wasLoaded: boolean;
}

export interface HeadChanges {
  /** Pieces of runs stored earlier. */
  rows: RunRow[];
  keys: RunKeyRow[];
  /** Traces of which nothing was stored before: project and trace. */
  newTraces: ReadonlySet<string>;
  /** Call when everything is durable. Never rejects: rows that remain are without effect. */
  settle(): Promise<void>;
}

type Changes = Omit<HeadChanges, "settle" | "newTraces"> & {
  tenantId: string;
  now: string;
  /** Runs that are provisional roots of these traces no more. */
  replaced: { trace_id: string; run_id: string }[];
};

const MAX_TRACES = 20_000;
/** Longer than any replica takes to commit a provisional root and to store its run. */
const CHECK_AFTER_SECONDS = 10;
const CHECK_EVERY_MS = 30_000;
const CHECK_PAGE = 1000;

/**
 * Decides which run is the head of each trace: its root or, until that arrives, the earliest run whose parent is not
 * stored, its provisional root. A root may never arrive: another service traces it elsewhere, or it was not sampled.
 *
 * The decision is made when runs are written, so that queries find heads without reading whole traces: a provisional
 * root is marked in its row, and a root takes the mark away with the insert that stores it. Provisional roots are also
 * rows in Postgres, because the root may arrive after a restart or at another replica.
 *
 * The head also gets the thread of its trace: with OpenTelemetry the root is often an HTTP request, and only an agent's
 * span below it names the conversation.
 *
 * A key of a trace's id in `run_keys` means that its root is in the key's project. So where a root's id is not its
 * trace's, as in OpenTelemetry, it gets a second key.
 */
export class TraceHeads {
  readonly #sql: Sql;
  readonly #clickhouse: ClickHouse;
  readonly #log: Log;
  readonly #write: (tenantId: string, pieces: RunPiece[]) => Promise<void>;
  readonly #poller: Poller;
  readonly #heads = new Map<string, Head>();

  constructor(
    { sql, clickhouse, log }: { sql: Sql; clickhouse: ClickHouse; log: Log },
    write: (tenantId: string, pieces: RunPiece[]) => Promise<void>,
  ) {
    this.#sql = sql;
    this.#clickhouse = clickhouse;
    this.#log = log;
    this.#write = write;
    this.#poller = new Poller({
      pass: () => this.check(CHECK_AFTER_SECONDS),
      everyMs: CHECK_EVERY_MS,
      log,
      failing: "could not check provisional roots; will retry",
    });
  }

  start(): void {
    this.#poller.start(CHECK_EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#poller.stop();
  }

  /** Call when rows were deleted, or may not have been stored. */
  clear(): void {
    this.#heads.clear();
  }

  /**
   * Marks the provisional roots among the rows, and sets the threads of heads.
   * @returns what must be stored together with the rows
   */
  async mark(
    tenantId: string,
    written: readonly { entry: Resolved; row: RunRow }[],
    now: string,
  ): Promise<HeadChanges> {
    const changes: Changes = { tenantId, now, rows: [], keys: [], replaced: [] };
    const traces = this.#group(tenantId, written, changes);
    await this.#load(traces, changes);
    const newTraces = new Set(traces.filter(isNewTrace).map(({ project_id, trace_id }) => project_id + trace_id));
    for (const { entry, row } of written) {
      if (entry.movedFrom !== undefined) newTraces.delete(row.project_id + row.trace_id);
    }
    for (const trace of traces) if (trace.root) setRoot(trace, trace.root, changes);
    const rest = traces.filter((trace) => !trace.root);
    await this.#adoptThreads(
      rest.filter(({ head }) => head?.isProvisional === false),
      changes,
    );
    await this.#chooseProvisional(
      rest.filter(({ head }) => head?.isProvisional !== false),
      changes,
    );
    for (const { key, head } of traces) if (head) this.#remember(key, head);
    const { rows, keys, replaced } = changes;
    return { rows, keys, newTraces, settle: () => this.#deleteReplaced(tenantId, replaced) };
  }

  /** Returns where the heads of traces start, which are stored or about to be. */
  async findStarts(
    tenantId: string,
    traces: readonly { project_id: string; trace_id: string }[],
  ): Promise<{ project_id: string; start_time: string }[]> {
    const starts: { project_id: string; start_time: string }[] = [];
    const unknown: string[] = [];
    for (const trace of traces) {
      const head = this.#heads.get(headKey(tenantId, trace));
      if (head) starts.push({ project_id: trace.project_id, start_time: head.start_time });
      // a provisional one may have been replaced by another server
      if (!head || (head.isProvisional && !this.#clickhouse.embedded)) unknown.push(trace.trace_id);
    }
    if (unknown.length === 0) return starts;
    const provisional = await roots.findProvisionalRoots(this.#sql, tenantId, unknown);
    return [...starts, ...provisional, ...(await this.#findKeys(tenantId, unknown)).values()];
  }

  /**
   * Looks for the roots of traces that another replica stored at the same time as their provisional roots, which were
   * stored at least `seconds` ago.
   */
  async check(seconds: number): Promise<void> {
    for (;;) {
      const unchecked = await roots.listUnchecked(this.#sql, seconds, CHECK_PAGE);
      for (const tenantId of new Set(unchecked.map((root) => root.tenant_id))) {
        const own = unchecked.filter((root) => root.tenant_id === tenantId);
        const keys = await this.#findKeys(
          tenantId,
          own.flatMap((root) => [root.trace_id, root.run_id]),
        );
        const rooted = own.filter((root) => isRootKey(keys.get(root.trace_id), root));
        const stored = rooted.filter((root) => keys.has(root.run_id));
        if (stored.length > 0) await this.#write(tenantId, stored.map(demotingPiece));
        for (const root of rooted) this.#heads.delete(headKey(tenantId, root));
        await roots.deleteProvisionalRoots(this.#sql, tenantId, rooted);
        await roots.markChecked(this.#sql, tenantId, own);
      }
      if (unchecked.length < CHECK_PAGE) return;
    }
  }

  async #deleteReplaced(tenantId: string, replaced: Changes["replaced"]): Promise<void> {
    try {
      await roots.deleteProvisionalRoots(this.#sql, tenantId, replaced);
    } catch (error) {
      this.#log.warn({ err: error, tenantId }, "could not delete provisional roots that were replaced");
    }
  }

  #group(tenantId: string, written: readonly { entry: Resolved; row: RunRow }[], changes: Changes): Trace[] {
    const traces = new Map<string, Trace>();
    for (const { entry, row } of written) {
      const { isNew, movedFrom } = entry;
      if (movedFrom !== undefined) {
        row.provisional_root = false;
        changes.replaced.push({ trace_id: movedFrom, run_id: row.id });
        const left = headKey(tenantId, { project_id: row.project_id, trace_id: movedFrom });
        if (this.#heads.get(left)?.run_id === row.id) this.#heads.delete(left);
      }
      const isPlaced = isNew || movedFrom !== undefined;
      if (!isPlaced && row.thread_id === undefined) continue;
      const { project_id, trace_id } = row;
      const key = headKey(tenantId, row);
      let trace = traces.get(key);
      if (!trace) {
        const head = this.#heads.get(key);
        // by far the most frequent: a run of a trace whose root, and thread if it names one, are known
        if (head?.isProvisional === false && (row.thread_id === undefined || head.thread_id)) continue;
        const none = { root: undefined, thread_id: undefined, lost: undefined, wasLoaded: !head };
        trace = { key, project_id, trace_id, head: head && { ...head }, runs: [], ...none };
        traces.set(key, trace);
      }
      if (isNew && row.parent_run_id === undefined) trace.root ??= row;
      else if (isPlaced) trace.runs.push(row);
      if (trace.head && row.id === trace.head.run_id) trace.head.thread_id = row.thread_id ?? trace.head.thread_id;
      else trace.thread_id ??= row.thread_id;
    }
    return [...traces.values()];
  }

  /** Looks up heads that this process does not remember. */
  async #load(traces: readonly Trace[], changes: Changes): Promise<void> {
    const unknown = traces.filter((trace) => !trace.head);
    const found = await roots.findProvisionalRoots(
      this.#sql,
      changes.tenantId,
      unknown.map((trace) => trace.trace_id),
    );
    const provisional = new Map(found.map((root) => [headKey(changes.tenantId, root), root]));
    const keys = await this.#findKeys(
      changes.tenantId,
      unknown.flatMap(({ key, trace_id, root }) => [
        ...(root ? [] : [trace_id]),
        ...(provisional.has(key) ? [provisional.get(key)!.run_id] : []),
      ]),
    );
    for (const trace of unknown) {
      const root = provisional.get(trace.key);
      if (root && keys.has(root.run_id)) {
        const { run_id, start_time, parent_run_id, thread_id } = root;
        trace.head = { run_id, start_time, parent_run_id: parent_run_id ?? undefined, thread_id, isProvisional: true };
      } else trace.lost = root?.run_id;
      const key = keys.get(trace.trace_id);
      if (trace.root || !isRootKey(key, trace)) continue;
      replaceHead(trace, changes);
      const { start_time } = key;
      const none = { run_id: undefined, parent_run_id: undefined, thread_id: undefined };
      trace.head = { ...none, start_time, isProvisional: false };
    }
  }

  /**
   * Gives roots without a thread the one that another run of their trace names. A root that has it is written again if it
   * was looked up: a process that has stored it may have failed before the root was recorded for rules.
   */
  async #adoptThreads(traces: readonly Trace[], { rows, tenantId, now }: Changes): Promise<void> {
    const wanting = traces.filter(({ head, thread_id }) => thread_id !== undefined && !head!.thread_id);
    const unseen = wanting.filter(({ head }) => head!.thread_id === undefined);
    for (const { trace_id, project_id, id, thread_id } of await this.#readRoots(tenantId, unseen)) {
      const trace = unseen.find((trace) => trace.trace_id === trace_id && trace.project_id === project_id);
      if (trace) trace.head = { ...trace.head!, run_id: id, thread_id };
    }
    for (const trace of wanting) {
      const { thread_id } = trace.head!;
      if (thread_id !== null && !(trace.wasLoaded && thread_id === trace.thread_id)) continue;
      trace.head!.thread_id = trace.thread_id!;
      rows.push({ ...headRow(trace, { tenantId, now }), thread_id: trace.thread_id });
    }
  }

  async #chooseProvisional(traces: readonly Trace[], changes: Changes): Promise<void> {
    const { tenantId } = changes;
    const chosen = traces.map((trace) => ({ trace, row: chooseRun(trace) }));
    const parents = chosen.flatMap(({ trace, row }) =>
      trace.head && row && row.id !== trace.head.parent_run_id ? (parentId(row) ?? []) : [],
    );
    const stored = await this.#findKeys(tenantId, parents);
    const pending: { trace: Trace; head: Head; row: RunRow | undefined; change: roots.ProvisionalRootChange }[] = [];
    for (const { trace, row } of chosen) {
      const { head, project_id, trace_id, lost } = trace;
      const thread_id = head?.thread_id ?? row?.thread_id ?? trace.thread_id ?? null;
      // the earlier clock of another machine does not make a child the head
      const wins = row && (!head || row.id === head.parent_run_id || !stored.has(parentId(row) ?? ""));
      // as a root's, which a process may have stored without recording it for rules
      const isAgain = trace.wasLoaded && trace.thread_id !== undefined && trace.thread_id === head?.thread_id;
      if (!wins && (!head || (thread_id === head.thread_id && !isAgain))) continue;
      const next: Head = wins
        ? { run_id: row.id, start_time: row.start_time, parent_run_id: parentId(row), isProvisional: true, thread_id }
        : { ...head!, thread_id };
      const { run_id, start_time, parent_run_id = null } = next;
      const root = {
        trace_id,
        project_id,
        run_id: run_id!,
        start_time,
        parent_run_id,
        thread_id: thread_id && storableText(thread_id),
      };
      const change = { ...root, replaces: head?.run_id ?? lost };
      pending.push({ trace, head: next, row: wins ? row : undefined, change });
    }
    const done = await roots.storeProvisionalRoots(
      this.#sql,
      tenantId,
      pending.map(({ change }) => change),
    );
    for (const { trace, head, row, change } of pending) {
      if (!done.has(change.run_id)) {
        // another replica was first
        this.#heads.delete(trace.key);
        trace.head = undefined;
        continue;
      }
      if (row) {
        if (trace.head) changes.rows.push({ ...headRow(trace, changes), provisional_root: false });
        row.provisional_root = true;
        row.thread_id ??= head.thread_id ?? undefined;
      } else changes.rows.push({ ...headRow(trace, changes), thread_id: head.thread_id ?? undefined });
      trace.head = head;
    }
  }

  /** Returns keys of stored runs, and second keys of roots, by id. */
  async #findKeys(tenantId: string, ids: readonly string[]): Promise<Map<string, RunKey>> {
    const keys = await findRunKeys(this.#clickhouse, tenantId, [...new Set(ids)]);
    return new Map(keys.filter((key) => !key.deleted).map((key) => [key.id, key]));
  }

  /** Reads the roots of traces. Their start time bounds the read. */
  async #readRoots(
    tenantId: string,
    traces: readonly Trace[],
  ): Promise<{ id: string; project_id: string; trace_id: string; thread_id: string | null }[]> {
    if (traces.length === 0) return [];
    return this.#clickhouse.rows({
      name: "runs.roots",
      query: `select id, project_id, trace_id, thread_id from runs final
        where tenant_id = {tenant:UUID} and project_id in {projects:Array(UUID)}
          and start_time in {starts:Array(DateTime64(6, 'UTC'))} and trace_id in {traces:Array(UUID)}
          and parent_run_id is null`,
      params: {
        tenant: tenantId,
        projects: [...new Set(traces.map((trace) => trace.project_id))],
        starts: [...new Set(traces.map((trace) => trace.head!.start_time))],
        traces: traces.map((trace) => trace.trace_id),
      },
    });
  }

  #remember(key: string, head: Head): void {
    this.#heads.delete(key);
    this.#heads.set(key, head);
    if (this.#heads.size > MAX_TRACES) this.#heads.delete(this.#heads.keys().next().value!);
  }
}

const headKey = (tenantId: string, { project_id, trace_id }: { project_id: string; trace_id: string }): string =>
  tenantId + project_id + trace_id;

/**
 * Whether nothing of the trace was stored: each stored trace has a provisional root or a root, which was looked up,
 * except for a root whose id is not the trace's while another one arrives.
 */
const isNewTrace = ({ head, lost, root, runs, trace_id }: Trace): boolean =>
  !head && lost === undefined && (root ? root.id === trace_id : runs.length > 0);

/** Whether the key of a trace's id is that of its root in this project. */
const isRootKey = (key: RunKey | undefined, trace: { project_id: string; trace_id: string }): key is RunKey =>
  key !== undefined && key.project_id === trace.project_id && key.trace_id === trace.trace_id;

const parentId = ({ parent_run_id, dotted_order }: RunRow): string | undefined =>
  parent_run_id ?? dotted_order?.split(".").at(-2)?.slice(-36);

/** Makes the root in the group the head. */
function setRoot(trace: Trace, root: RunRow, changes: Changes): void {
  // of several roots the first is the head
  if (trace.head?.isProvisional === false) return;
  root.thread_id ??= trace.head?.thread_id ?? trace.thread_id;
  replaceHead(trace, changes);
  const { id, start_time, project_id, trace_id, thread_id = null } = root;
  trace.head = { run_id: id, start_time, parent_run_id: undefined, isProvisional: false, thread_id };
  if (id === trace_id) return;
  const { tenantId: tenant_id, now: version } = changes;
  changes.keys.push({ tenant_id, id: trace_id, project_id, start_time, trace_id, deleted: false, version });
}

/** Takes the mark from a provisional root. */
function replaceHead(trace: Trace, changes: Changes): void {
  const run_id = trace.head?.run_id ?? trace.lost;
  if (run_id === undefined) return;
  changes.replaced.push({ trace_id: trace.trace_id, run_id });
  if (trace.head) changes.rows.push({ ...headRow(trace, changes), provisional_root: false });
}

/** Returns the run that takes the head's place, or the place of none. */
function chooseRun({ head, runs }: Trace): RunRow | undefined {
  const ids = new Set(runs.map((row) => row.id));
  const tops = runs.filter((row) => !ids.has(parentId(row) ?? ""));
  // without a top they form a cycle, which is invalid
  const [first, ...others] = tops.length > 0 ? tops : runs;
  const best = others.reduce<RunRow | undefined>(
    (best, row) => (goesBefore(row, { ...best!, run_id: best!.id, parent_run_id: parentId(best!) }) ? row : best),
    first,
  );
  return best && head && !goesBefore(best, head) ? undefined : best;
}

/** Whether a run is above another one, or on another branch and earlier. */
function goesBefore(row: RunRow, other: Pick<Head, "run_id" | "start_time" | "parent_run_id">): boolean {
  if (row.id === other.parent_run_id) return true;
  if (row.dotted_order?.includes(other.run_id!)) return false;
  return row.start_time === other.start_time ? row.id < other.run_id! : row.start_time < other.start_time;
}

/** Piece of the head, which is stored. */
const headRow = ({ head, project_id, trace_id }: Trace, { tenantId, now }: Pick<Changes, "tenantId" | "now">) => ({
  tenant_id: tenantId,
  project_id,
  start_time: head!.start_time,
  id: head!.run_id!,
  trace_id,
  updated_at: now,
});

const demotingPiece = ({ run_id, start_time }: roots.ProvisionalRoot): RunPiece => ({
  kind: "patch",
  id: run_id,
  start_time,
  fields: { provisional_root: false },
  attachments: [],
  received_at: start_time,
});
