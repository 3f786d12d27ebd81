import { groupBy } from "../../base/group-by.ts";
import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { AppError, coerceError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { DEFAULT_PROJECT } from "../projects/project-directory.ts";
import { findRunKeys } from "../run-rows/clickhouse.ts";
import { findPositions } from "./place-children.ts";
import { dottedSegment } from "./dotted-order.ts";
import type { RunPiece } from "./run-piece.ts";
import {
  deleteWaiting,
  insertWaiting,
  readExpired,
  readWaiting,
  readWaitingFor,
  type WaitingKind,
  type WaitingRow,
} from "./sql.ts";

/** Rows per workspace. Beyond that updates of unknown runs are rejected. */
const MAX_WAITING = 100_000;
const PAGE = 1000;
/** Intervals between sweeps of all waiting pieces. Pieces whose run this process stores are handled at once. */
const SWEEP_MS = 1000;
const SWEEP_MANY_MS = 15_000;
const SWEEP_NONE_MS = 5000;
const MANY = 2000;
/** Hours after which an update creates its run itself: accepted data is not discarded. */
const WAITING_HOURS = 24;

/**
 * Pieces that wait for another run (0010_trace_ingest.sql), durable in Postgres. Those that wait for a run stored by
 * this process are written right after it; a sweep finds runs stored by another replica or by one that has stopped.
 * Writing a piece twice is harmless.
 */
export class WaitingPieces {
  readonly #sql: Sql;
  readonly #clickhouse: ClickHouse;
  readonly #log: Log;
  readonly #failure: RepeatedFailure;
  readonly #write: (tenantId: string, pieces: RunPiece[]) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  /** Serial queue of work: pieces are processed in order of arrival. */
  #work: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Runs that updates and children are known to wait for. Beyond MAX_WAITING only the sweep finds them. */
  readonly #awaited = { update: new Set<string>(), place: new Set<string>() };

  constructor(
    { sql, clickhouse, log }: { sql: Sql; clickhouse: ClickHouse; log: Log },
    write: (tenantId: string, pieces: RunPiece[]) => Promise<void>,
  ) {
    this.#sql = sql;
    this.#clickhouse = clickhouse;
    this.#log = log;
    this.#failure = new RepeatedFailure({ log, message: "could not process waiting updates" });
    this.#write = write;
  }

  start(): void {
    this.#schedule(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  /** Returns true if updates of the run may be waiting, so that a later one must queue behind them. */
  has(tenantId: string, runId: string): boolean {
    return this.#awaited.update.has(tenantId + runId);
  }

  /** Resolves when the pieces are durable. @throws 429 when too many updates are waiting */
  async add(tenantId: string, pieces: { piece: RunPiece; kind: WaitingKind; needs: string }[]): Promise<void> {
    const rows = pieces.map(({ piece, kind, needs }) => ({
      run_id: piece.id,
      needs,
      kind,
      piece: JSON.stringify(piece),
    }));
    for (const { needs, kind } of pieces) {
      if (this.#awaited[kind].size < MAX_WAITING) this.#awaited[kind].add(tenantId + needs);
    }
    if (await insertWaiting(this.#sql, tenantId, rows, MAX_WAITING)) return;
    // without this record a child keeps its assumed place, which loses no data
    if (pieces.every(({ kind }) => kind === "place")) return;
    throw new AppError(429, `${MAX_WAITING} updates wait for runs that were never created. Create the runs first.`, {
      headers: { "Retry-After": "60" },
    });
  }

  /** Handles pieces that wait for runs whose row or place was just stored. */
  arrived(tenantId: string, runIds: Iterable<string>): void {
    const { update, place } = this.#awaited;
    if (update.size + place.size === 0) return;
    const awaited = [...runIds].filter((id) => update.has(tenantId + id) || place.has(tenantId + id));
    if (awaited.length === 0) return;
    this.#enqueue(async () => {
      for (;;) {
        const rows = await readWaitingFor(this.#sql, tenantId, awaited, PAGE);
        const written = await this.#writeReady(rows);
        // a parent that is waiting for its own place is still awaited
        for (const row of rows) if (row.kind === "place") place.delete(tenantId + row.needs);
        if (rows.length < PAGE || written === 0) break;
      }
      for (const id of awaited) update.delete(tenantId + id);
    });
  }

  /** Appends to the serial queue. A failure is logged, and the next sweep retries. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#stopped ? undefined : work()))
      .then(
        () => this.#failure.succeeded(),
        (error: unknown) => this.#failure.failed(coerceError(error)),
      );
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      let next = SWEEP_NONE_MS;
      this.#enqueue(async () => {
        const count = await this.#sweep();
        if (count > 0) next = count > MANY ? SWEEP_MANY_MS : SWEEP_MS;
      });
      void this.#work.then(() => this.#schedule(next));
    }, ms);
  }

  /** @returns the number of waiting pieces */
  async #sweep(): Promise<number> {
    let after = "0";
    let count = 0;
    for (;;) {
      const rows = await readWaiting(this.#sql, after, PAGE);
      count += rows.length;
      await this.#writeReady(rows);
      if (rows.length < PAGE || this.#stopped) break;
      after = rows.at(-1)!.seq;
    }
    if (count === 0) for (const awaited of Object.values(this.#awaited)) awaited.clear();
    await this.#expire();
    return count;
  }

  /** Writes the pieces whose run or place has arrived. @returns the count */
  async #writeReady(rows: WaitingRow[]): Promise<number> {
    let count = 0;
    for (const [tenantId, own] of groupBy(rows, (row) => row.tenant_id)) {
      const known = new Set((await findRunKeys(this.#clickhouse, tenantId, unique(own))).map((key) => key.id));
      const ready = own.filter((row) => known.has(row.needs));
      if (ready.length === 0) continue;
      const places = ready.filter((row) => row.kind === "place");
      const parents = places.length > 0 ? await findPositions(this.#clickhouse, tenantId, unique(places)) : new Map();
      const pieces = ready.map((row) => {
        const piece = JSON.parse(row.piece) as RunPiece;
        const parent = parents.get(row.needs) as { trace_id: string; dotted_order: string } | undefined;
        if (row.kind === "place" && parent) {
          piece.trace_id = parent.trace_id;
          piece.fields.dotted_order = `${parent.dotted_order}.${dottedSegment(piece.start_time!, piece.id)}`;
        }
        return piece;
      });
      await this.#writeAndDelete(tenantId, ready, pieces);
      count += ready.length;
    }
    return count;
  }

  /** Handles expired pieces: an update creates its run, a child keeps its assumed place. */
  async #expire(): Promise<void> {
    for (const [tenantId, own] of groupBy(await readExpired(this.#sql, WAITING_HOURS, PAGE), (row) => row.tenant_id)) {
      const pieces = own.flatMap((row): RunPiece[] => {
        if (row.kind === "place") return [];
        const piece = JSON.parse(row.piece) as RunPiece;
        const project_name = piece.project_name ?? DEFAULT_PROJECT;
        return [{ ...piece, project_name, start_time: piece.start_time ?? piece.received_at }];
      });
      this.#log.warn({ tenantId, pieces: own.length }, "updates of runs that were never created became separate runs");
      await this.#writeAndDelete(tenantId, own, pieces);
    }
  }

  /** Writes pieces, then deletes their waiting rows. */
  async #writeAndDelete(tenantId: string, rows: WaitingRow[], pieces: RunPiece[]): Promise<void> {
    await this.#write(tenantId, pieces);
    await deleteWaiting(
      this.#sql,
      rows.map((row) => row.seq),
    );
  }
}

const unique = (rows: WaitingRow[]): string[] => [...new Set(rows.map((row) => row.needs))];
