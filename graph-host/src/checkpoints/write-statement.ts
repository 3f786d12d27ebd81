import { plainArray, textArray } from "./array-literal.ts";
import { LARGE_BODY, LARGE_BYTES } from "./large-values.ts";
import { sealState } from "../../../host-kit/src/sealed-json.ts";
import type { StateCipher } from "../../../host-kit/src/state-cipher.ts";
import { sealBlob, sealWrite } from "./sealed-rows.ts";
import { StatementBody, type Span } from "./statement-body.ts";
import type { BlobRow, CheckpointRow, Fence, HeadGuard, WriteItem, WriteRow } from "./rows.ts";

/**
 * One statement writes everything of many runs. Small columns are passed as arrays, one element per row; potentially
 * large values are concatenated in one bytea ($3), which rows reference by position and length: the driver then encodes
 * one value instead of escaping thousands, and a value that several rows have is sent once. A large one precedes the
 * statement (large-values.ts), and $3 is null.
 *
 * The fence: a row is written only if its fence number is 0 (no run) or belongs to a run that is running with that very
 * attempt. `for share` locks the run's row until the commit, so that either a take-over waits for this statement or
 * this statement sees the take-over. The statement returns the fences that held. `coalesce` keeps the planner from the
 * partial index of running runs, which it prefers while the table is small and would then read whole, with every entry
 * that vacuum has not yet removed; 20 ms a statement beside 1,000 runs.
 *
 * Conflicts as in the official saver: a checkpoint is replaced (its parent stays), a blob stays, a write stays unless
 * it is one of the special ones.
 */
const FENCE = `
  select f.n
  from unnest($1::text[], $2::int[]) with ordinality as f (run_id, attempt, n)
  join runs r on r.run_id = f.run_id::uuid and r.attempt = f.attempt and coalesce(r.status, '') = 'running'`;

const ROWS = `checkpoint_rows as (
  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
  select c.thread_id, c.ns, c.id, c.parent_id,
         convert_from(substring($3::bytea from c.at for c.checkpoint_length), 'UTF8')::jsonb,
         convert_from(substring($3::bytea from c.at + c.checkpoint_length for c.metadata_length), 'UTF8')::jsonb
  from unnest($4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::int[])
    as c (fence, thread_id, ns, id, parent_id, at, checkpoint_length, metadata_length)
  where c.fence = 0 or c.fence in (select n from fence)
  on conflict (thread_id, checkpoint_ns, checkpoint_id)
  do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata
  returning 1
), blob_rows as (
  insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob, base, chain, depth)
  select b.thread_id, b.ns, b.channel, b.version, b.type, substring($3::bytea from b.at for b.length),
         split_part(b.link, '/', 1), split_part(b.link, '/', 2), split_part(b.link, '/', 3)::int
  from unnest($12::int[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::int[], $19::int[],
              $20::text[])
    as b (fence, thread_id, ns, channel, version, type, at, length, link)
  where b.fence = 0 or b.fence in (select n from fence)
  on conflict (thread_id, checkpoint_ns, channel, version) do nothing
  returning 1
), write_row as (
  select w.*
  from unnest($21::int[], $22::text[], $23::text[], $24::text[], $25::text[], $26::int[], $27::text[], $28::text[],
              $29::int[], $30::int[], $31::bool[])
    as w (fence, thread_id, ns, checkpoint_id, task_id, idx, channel, type, at, length, replaces)
  where w.fence = 0 or w.fence in (select n from fence)
), write_rows as (
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select thread_id, ns, checkpoint_id, task_id, idx, channel, type, substring($3::bytea from at for length)
  from write_row where not replaces
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do nothing
  returning 1
), replacing_rows as (
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select thread_id, ns, checkpoint_id, task_id, idx, channel, type, substring($3::bytea from at for length)
  from write_row where replaces
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
  do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob
  returning 1
)`;

export const WRITE_STATEMENT = `
with fence as materialized (${FENCE}
  for share of r
), ${ROWS}
select n::int, null::int as finished, null::text as outcome, null::boolean as waiting from fence`;

/**
 * `WRITE_STATEMENT` for a state update, which has no run whose attempt could fence it: `holds_head` locks the thread's row
 * against runs and compares its newest checkpoints. The caller may have timed out long ago, and a run may have followed.
 */
const GUARDED_STATEMENT = `
with unused as (select $1::text[], $2::int[]), fence as materialized (
  select 1 as n where holds_head($32::text, $33::text[], $34::text[], $35::text)
), ${ROWS}
select n::int, null::int as finished, null::text as outcome, null::boolean as waiting from fence`;

/**
 * `WRITE_STATEMENT`, followed by the end of the runs named in the last parameters: `finish_run` sees this statement's
 * writes, because its argument depends on their count. It reads the run again, so runs whose rows the fence rejected are not passed to it:
 * they might end without their last checkpoint. Threads are locked before runs and in order of their ids, as
 * everywhere.
 */
const FINISH_STATEMENT = `
with held as materialized (
  select t.thread_id
  from runs r join threads t on t.thread_id = r.thread_id
  where r.run_id = any($1::text[]::uuid[])
  order by t.thread_id for update of t
), fence as materialized (${FENCE}
  cross join (select count(*) from held) h
  for share of r
), ${ROWS},
written as materialized (
  select (select count(*) from checkpoint_rows) + (select count(*) from blob_rows)
       + (select count(*) from write_rows) + (select count(*) from replacing_rows) as n
)
select n::int, null::int as finished, null::text as outcome, null::boolean as waiting from fence
union all
select null, f.fence, e.outcome, e.waiting
from written w
cross join unnest($32::int[], $33::text[], $34::text[], $35::int[], $36::int[], $37::int[], $38::boolean[])
  as f (fence, run_id, thread_id, attempt, at, length, notify)
cross join lateral finish_run(f.run_id::uuid, f.thread_id::uuid, f.attempt + 0 * w.n::int, 'success', null,
  convert_from(substring($3::bytea from f.at for f.length), 'UTF8')::jsonb, f.notify) e
where f.fence in (select n from fence)`;

/** The bytea in the statements' texts, and its place among their parameters. */
const BODY = "$3::bytea";
const BODY_AT = 2;

export interface Statement {
  text: string;
  parameters: (string | Buffer | null)[];
  largeBody?: readonly Buffer[];
}

/**
 * Gathers items for one statement. A statement may not touch a row twice, so rows with one key are merged here, in
 * order, as the database would. `add` returns false, and adds nothing, when the item's rows collide with those of
 * another fence: only the database knows which of the two holds.
 */
export class StatementBuilder {
  readonly items: WriteItem[] = [];
  readonly #cipher: StateCipher | undefined;
  #guard: HeadGuard | undefined;
  #fences = new Map<string, Fence>();
  #fenceNumbers = new Map<string, number>();
  #rows = new Map<string, { fence: number; checkpoint?: CheckpointRow; blob?: BlobRow; write?: WriteRow }>();

  constructor(cipher?: StateCipher) {
    this.#cipher = cipher?.encrypts ? cipher : undefined;
  }

  add(item: WriteItem): boolean {
    if (this.items.length > 0 && (item.guard ?? this.#guard)) return false;
    this.#guard = item.guard;
    const key = fenceKey(item.fence);
    const fence = item.guard ? 1 : item.fence ? (this.#fenceNumbers.get(key) ?? this.#fenceNumbers.size + 1) : 0;
    const rows = keyedRows(item, fence);
    for (const [rowKey] of rows) {
      const other = this.#rows.get(rowKey);
      if (other && other.fence !== fence) return false;
    }
    if (item.fence && fence > this.#fenceNumbers.size) {
      this.#fenceNumbers.set(key, fence);
      this.#fences.set(key, item.fence);
    }
    for (const [rowKey, row] of rows) {
      const earlier = this.#rows.get(rowKey);
      if (!earlier) this.#rows.set(rowKey, row);
      else if (row.checkpoint) earlier.checkpoint = { ...row.checkpoint, parentId: earlier.checkpoint!.parentId };
      else if (row.write?.replaces) earlier.write = row.write;
    }
    this.items.push(item);
    return true;
  }

  /** Whether any item ends its run; the statement is then `FINISH_STATEMENT`. */
  get finishes(): boolean {
    return this.items.some((item) => item.finish);
  }

  /**
   * Returns the statement with its parameters. `largeBody`: parts that must be sent before, in the same session.
   */
  build(): Statement {
    const text = this.#guard ? GUARDED_STATEMENT : this.finishes ? FINISH_STATEMENT : WRITE_STATEMENT;
    const body = new StatementBody();
    const parameters = this.#parameters(body);
    if (body.length < LARGE_BYTES) return { text, parameters: parameters.with(BODY_AT, body.bytes()) };
    return { text: text.replaceAll(BODY, `coalesce(${BODY}, ${LARGE_BODY})`), parameters, largeBody: body.parts };
  }

  #parameters(body: StatementBody): (string | Buffer | null)[] {
    const fences = [...this.#fences.values()];
    const checkpoints: { fence: number; row: CheckpointRow; at: number; lengths: [number, number] }[] = [];
    const blobs: { fence: number; row: BlobRow; at: number }[] = [];
    const writes: { fence: number; row: WriteRow; at: number }[] = [];
    // the states first: they may contain the values of the other rows
    const ends: ({ fence: number; item: WriteItem } & Span)[] = [];
    for (const item of this.items) {
      if (!item.finish || !item.fence) continue;
      const fence = this.#fenceNumbers.get(fenceKey(item.fence))!;
      ends.push({ fence, item, ...body.add(this.#sealed(item.finish.state)) });
    }
    for (const { fence, checkpoint, blob, write } of this.#rows.values()) {
      if (checkpoint) {
        const [own, metadata] = body.addPair(checkpoint.checkpoint, checkpoint.metadata);
        checkpoints.push({ fence, row: checkpoint, at: own.at, lengths: [own.length, metadata.length] });
      } else if (blob) {
        const row = this.#cipher ? sealBlob(this.#cipher, blob) : blob;
        blobs.push({ fence, row, at: row.blob ? body.add(row.blob).at : 1 });
      } else if (write) {
        const row = this.#cipher ? sealWrite(this.#cipher, write) : write;
        writes.push({ fence, row, at: body.add(row.blob).at });
      }
    }
    const written = [
      textArray(fences, (f) => f.runId),
      plainArray(fences, (f) => f.attempt),
      null,
      plainArray(checkpoints, (c) => c.fence),
      textArray(checkpoints, (c) => c.row.threadId),
      textArray(checkpoints, (c) => c.row.ns),
      textArray(checkpoints, (c) => c.row.id),
      textArray(checkpoints, (c) => c.row.parentId),
      plainArray(checkpoints, (c) => c.at),
      plainArray(checkpoints, (c) => c.lengths[0]),
      plainArray(checkpoints, (c) => c.lengths[1]),
      plainArray(blobs, (b) => b.fence),
      textArray(blobs, (b) => b.row.threadId),
      textArray(blobs, (b) => b.row.ns),
      textArray(blobs, (b) => b.row.channel),
      textArray(blobs, (b) => b.row.version),
      textArray(blobs, (b) => b.row.type),
      plainArray(blobs, (b) => b.at),
      plainArray(blobs, (b) => b.row.blob?.length ?? "NULL"),
      textArray(blobs, (b) => b.row.link ?? null),
      plainArray(writes, (w) => w.fence),
      textArray(writes, (w) => w.row.threadId),
      textArray(writes, (w) => w.row.ns),
      textArray(writes, (w) => w.row.checkpointId),
      textArray(writes, (w) => w.row.taskId),
      plainArray(writes, (w) => w.row.idx),
      textArray(writes, (w) => w.row.channel),
      textArray(writes, (w) => w.row.type),
      plainArray(writes, (w) => w.at),
      plainArray(writes, (w) => w.row.blob.length),
      plainArray(writes, (w) => String(w.row.replaces)),
    ];
    if (this.#guard) {
      const { threadId, newest } = this.#guard;
      const heads = [textArray(newest, ([ns]) => ns), textArray(newest, ([, id]) => id)];
      return [...written, threadId, ...heads, checkpoints[0]?.row.id ?? ""];
    }
    if (ends.length === 0) return written;
    return [
      ...written,
      plainArray(ends, (e) => e.fence),
      textArray(ends, (e) => e.item.fence!.runId),
      textArray(ends, (e) => e.item.finish!.threadId),
      plainArray(ends, (e) => e.item.fence!.attempt),
      plainArray(ends, (e) => e.at),
      plainArray(ends, (e) => e.length),
      plainArray(ends, (e) => String(e.item.finish!.notify)),
    ];
  }

  #sealed(state: string | Uint8Array): string | Uint8Array {
    return this.#cipher
      ? sealState(this.#cipher, typeof state === "string" ? state : Buffer.from(state).toString())
      : state;
  }

  /** Returns the number of an item's fence in the statement's result; 0 without one. */
  fenceNumber(item: WriteItem): number {
    if (item.guard) return 1;
    return item.fence ? this.#fenceNumbers.get(fenceKey(item.fence))! : 0;
  }

  /** Whether the run of this item ends with this statement. */
  endsRun(item: WriteItem): boolean {
    const key = fenceKey(item.fence);
    return this.items.some((other) => other.finish && fenceKey(other.fence) === key);
  }

  /** `held`: the fence numbers that the statement returned. */
  wasFenced(item: WriteItem, held: ReadonlySet<number>): boolean {
    return (item.guard ?? item.fence) !== undefined && !held.has(this.fenceNumber(item));
  }
}

const fenceKey = (fence: Fence | undefined): string => (fence ? `${fence.runId} ${fence.attempt}` : "");

function keyedRows(item: WriteItem, fence: number) {
  const rows: [string, { fence: number; checkpoint?: CheckpointRow; blob?: BlobRow; write?: WriteRow }][] = [];
  const { checkpoint: c } = item;
  if (c) rows.push([`c\0${c.threadId}\0${c.ns}\0${c.id}`, { fence, checkpoint: c }]);
  for (const b of item.blobs) rows.push([`b\0${b.threadId}\0${b.ns}\0${b.channel}\0${b.version}`, { fence, blob: b }]);
  for (const w of item.writes) {
    rows.push([`w\0${w.threadId}\0${w.ns}\0${w.checkpointId}\0${w.taskId}\0${w.idx}`, { fence, write: w }]);
  }
  return rows;
}
