import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { AppError, coerceError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { DEFAULT_PROJECT } from "../projects/project-directory.ts";
import { findRunKeys } from "../runs/clickhouse.ts";
import { findPlaces } from "./place-children.ts";
import { segmentOf } from "./dotted-order.ts";
import type { RunPiece } from "./run-piece.ts";
import { deleteWaiting, hasWaiting, insertWaiting, readExpired, readWaiting, type WaitingRow } from "./sql.ts";

/** Rows of one workspace. Beyond that updates of unknown runs are refused. */
const MAX_WAITING = 100_000;
const PAGE = 1000;
const FAST_MS = 200;
const SLOW_MS = 5000;
/** How long after something began to wait it is looked for often. */
const YOUNG_MS = 60_000;
/** After so long an update becomes a run of its own: what was accepted is not thrown away. */
export const WAITING_HOURS = 24;

/**
 * Pieces that wait for another run (0010_trace_ingest.sql), and the sweep that takes them up. They are durable in
 * Postgres, and whichever replica finds that what they need is there writes them. Doing so twice is harmless.
 */
export class WaitingPieces {
  readonly #sql: Sql;
  readonly #clickhouse: ClickHouse;
  readonly #log: Log;
  readonly #write: (tenantId: string, pieces: RunPiece[]) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #lastAdded = -Infinity;
  #stopped = false;
  /** Runs of whose updates some may wait, so that later ones queue up behind them. */
  readonly #runs = new Set<string>();

  constructor(
    { sql, clickhouse, log }: { sql: Sql; clickhouse: ClickHouse; log: Log },
    write: (tenantId: string, pieces: RunPiece[]) => Promise<void>,
  ) {
    this.#sql = sql;
    this.#clickhouse = clickhouse;
    this.#log = log;
    this.#write = write;
  }

  start(): void {
    this.#schedule(FAST_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  has(tenantId: string, runId: string): boolean {
    return this.#runs.size > 0 && this.#runs.has(tenantId + runId);
  }

  /** Resolves when they are durable. @throws 429 when too many wait already */
  async add(tenantId: string, pieces: { piece: RunPiece; kind: WaitingRow["kind"]; needs: string }[]): Promise<void> {
    const rows = pieces.map(({ piece, kind, needs }) => ({
      run_id: piece.id,
      needs,
      kind,
      piece: JSON.stringify(piece),
    }));
    for (const { piece, kind } of pieces) if (kind === "update") this.#runs.add(tenantId + piece.id);
    if (!(await insertWaiting(this.#sql, tenantId, rows, MAX_WAITING))) {
      throw new AppError(429, `${MAX_WAITING} updates wait for runs that were never created. Create the runs first.`, {
        headers: { "Retry-After": "60" },
      });
    }
    this.#lastAdded = performance.now();
    this.#schedule(FAST_MS);
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#sweeping = this.#sweep()
        .catch((error: unknown) => this.#log.warn({ err: coerceError(error) }, "waiting updates were not taken up"))
        .finally(() => this.#schedule(performance.now() - this.#lastAdded < YOUNG_MS ? FAST_MS : SLOW_MS));
    }, ms);
  }

  async #sweep(): Promise<void> {
    if (!(await hasWaiting(this.#sql))) {
      this.#runs.clear();
      return;
    }
    let after = "0";
    for (;;) {
      const rows = await readWaiting(this.#sql, after, PAGE);
      await this.#takeUp(rows);
      if (rows.length < PAGE || this.#stopped) break;
      after = rows.at(-1)!.seq;
    }
    await this.#giveUp();
  }

  async #takeUp(rows: WaitingRow[]): Promise<void> {
    for (const [tenantId, own] of groupByTenant(rows)) {
      const known = new Set((await findRunKeys(this.#clickhouse, tenantId, unique(own))).map((key) => key.id));
      const ready = own.filter((row) => known.has(row.needs));
      if (ready.length === 0) continue;
      const places = ready.filter((row) => row.kind === "place");
      const parents = places.length > 0 ? await findPlaces(this.#clickhouse, tenantId, unique(places)) : new Map();
      const pieces = ready.map((row) => {
        const piece = JSON.parse(row.piece) as RunPiece;
        const parent = parents.get(row.needs) as { trace_id: string; dotted_order: string } | undefined;
        if (row.kind === "place" && parent) {
          piece.trace_id = parent.trace_id;
          piece.fields.dotted_order = `${parent.dotted_order}.${segmentOf(piece.start_time!, piece.id)}`;
        }
        return piece;
      });
      await this.#done(tenantId, ready, pieces);
    }
  }

  /** What has waited too long: an update begins its run, a child stays where it was put. */
  async #giveUp(): Promise<void> {
    for (const [tenantId, own] of groupByTenant(await readExpired(this.#sql, WAITING_HOURS, PAGE))) {
      const pieces = own.flatMap((row): RunPiece[] => {
        if (row.kind === "place") return [];
        const piece = JSON.parse(row.piece) as RunPiece;
        const project_name = piece.project_name ?? DEFAULT_PROJECT;
        return [{ ...piece, project_name, start_time: piece.start_time ?? piece.received_at }];
      });
      this.#log.warn(
        { tenantId, pieces: own.length },
        "updates of runs that were never created became runs of their own",
      );
      await this.#done(tenantId, own, pieces);
    }
  }

  async #done(tenantId: string, rows: WaitingRow[], pieces: RunPiece[]): Promise<void> {
    for (const piece of pieces) this.#runs.delete(tenantId + piece.id);
    await this.#write(tenantId, pieces);
    await deleteWaiting(
      this.#sql,
      rows.map((row) => row.seq),
    );
  }
}

function groupByTenant(rows: WaitingRow[]): Map<string, WaitingRow[]> {
  const groups = new Map<string, WaitingRow[]>();
  for (const row of rows) groups.set(row.tenant_id, [...(groups.get(row.tenant_id) ?? []), row]);
  return groups;
}

const unique = (rows: WaitingRow[]): string[] => [...new Set(rows.map((row) => row.needs))];
