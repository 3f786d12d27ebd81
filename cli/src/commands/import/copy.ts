/**
 * A copy reads batches of records from a source and writes them to a target. Sources and targets are servers or
 * directories, so that import and export are one copy. The position of a batch says where reading continues when
 * everything up to it is written; it is saved after each batch, and a copy that was interrupted continues there.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface CopiedFile {
  name: string;
  mime_type: string;
  read: () => Promise<Buffer>;
}

/** An object of the API. */
export interface CopyRecord {
  /** JSON text, on one line, as the source sent it: parsing would change its numbers. */
  text: string;
  /** Attachments. */
  files?: CopiedFile[];
}

/** Records of a kind that are written together. */
export interface Batch {
  kind: string;
  records: CopyRecord[];
  /** Where reading continues after the batch, by the name of a part of the source. */
  position?: [part: string, at: string];
}

/** Positions by part of the source. */
export type Positions = Record<string, string>;

export interface Source {
  batches(positions: Positions, left: (what: string) => void): AsyncIterable<Batch>;
}

export interface Written {
  /** Records that were written, or would be. */
  written: number;
  /** Records that the target has already. */
  same: number;
}

export interface Target {
  write(batch: Batch, left: (what: string) => void): Promise<Written>;
  /** Called after each batch, in their order, before its position is saved. */
  settle?(): object;
  finish?(left: (what: string) => void): Promise<void>;
}

export interface CopyReport {
  kinds: Record<string, Written>;
  /** What was not taken, with the reason. */
  left: string[];
}

/** Batches that are written at the same time. */
const IN_FLIGHT = 4;

/** Copies everything. Batches of one kind are written several at once, kinds one after another. */
export async function copy(
  source: Source,
  target: Target,
  state: CopyState,
  onProgress: (report: CopyReport) => void,
): Promise<CopyReport> {
  const report: CopyReport = { kinds: {}, left: [] };
  const seen = new Set<string>();
  const left = (what: string) => {
    if (!seen.has(what)) report.left.push(what);
    seen.add(what);
  };
  const pending: { batch: Batch; result: Promise<Written> }[] = [];
  const settle = async () => {
    const { batch, result } = pending.shift()!;
    const { written, same } = await result;
    const sum = (report.kinds[batch.kind] ??= { written: 0, same: 0 });
    sum.written += written;
    sum.same += same;
    state.save(batch.position, target.settle?.());
    onProgress(report);
  };
  try {
    for await (const batch of source.batches(state.positions, left)) {
      while (pending.length >= IN_FLIGHT || (pending.length > 0 && pending.at(-1)!.batch.kind !== batch.kind))
        await settle();
      const result = target.write(batch, left);
      // reported by settle
      result.catch(() => undefined);
      pending.push({ batch, result });
    }
    while (pending.length > 0) await settle();
  } finally {
    await Promise.allSettled(pending.map(({ result }) => result));
  }
  await target.finish?.(left);
  state.remove();
  return report;
}

/** The positions of a copy, in a file that is removed at its end. */
export class CopyState {
  readonly path: string | undefined;
  positions: Positions = {};
  /** What the target saved. */
  saved: unknown;

  /** @param path undefined: nothing is saved */
  constructor(path: string | undefined) {
    this.path = path;
    if (path === undefined) return;
    try {
      const { positions, saved } = JSON.parse(readFileSync(path, "utf8")) as CopyState;
      Object.assign(this, { positions, saved });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw new Error(`${path} is not the state of a copy.`);
    }
  }

  save(position: Batch["position"], saved: object | undefined): void {
    if (position) this.positions[position[0]] = position[1];
    if (this.path === undefined || (!position && !saved)) return;
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(`${this.path}.new`, JSON.stringify({ positions: this.positions, saved }));
    renameSync(`${this.path}.new`, this.path);
  }

  remove(): void {
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }
}

/** A name for the state of a copy that another source, target or selection does not continue. */
export const copyName = (...parts: unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);

export const record = (value: unknown, files?: CopiedFile[]): CopyRecord => ({
  text: JSON.stringify(value),
  ...(files && files.length > 0 && { files }),
});

/** Compares two values as JSON, whatever the order of their keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length && keys.every((key) => key in right && isSame(left[key], right[key]))
  );
}

/** Calls `work` for each item, a few at once. */
export async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items.values();
  const worker = async () => {
    for (const item of iterator) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
