/**
 * Frames of one stream, in order, for any number of readers.
 *
 * A log, not a queue: appending never waits, and a reader is only a position in the log, so a stalled reader costs
 * nothing and delays no other. Frames are grouped into segments; when a log exceeds its memory, its oldest full
 * segments are spilled to a file and read back from there.
 *
 * Frames are numbered from 0 and kept as the bytes sent over the wire.
 *
 * A log may be held: readers then see frames only after `show`, once they are also persisted elsewhere.
 *
 * A segment that cannot be spilled, because the disk or the server's share of it is full, is dropped if its frames are
 * persisted elsewhere, and read back from there. Otherwise `onFull` is called, and the caller stops appending; no
 * appended frame is lost.
 */
import { deferred, type Deferred } from "../deferred.ts";
import { SpillFile } from "./spill-file.ts";
import type { SpillSpace } from "./spill-space.ts";

const SEGMENT_BYTES = 128 * 1024;
/** Factor by which a log without disk may exceed its memory while its frames are being persisted elsewhere. */
const GROWING_FACTOR = 8;

interface Segment {
  first: number;
  /** null once spilled to the file. */
  frames: Buffer[] | null;
  sizes: number[];
  names: string[];
  bytes: number;
  /** Offset in the file; -1 when not spilled. */
  fileOffset: number;
}

/** Persisted copy of the first frames of a log. */
export interface PersistedFrames {
  /** Number of persisted frames. */
  count(): number;
  /** Whether the other frames are being persisted. */
  isGrowing(): boolean;
  /** Rejects, or returns fewer, when they are no longer stored. */
  read(from: number, count: number): Promise<Buffer[]>;
}

export interface FrameLogOptions {
  /** Bytes kept in memory before segments are spilled. */
  memoryBytes: number;
  file: string;
  /** Quota shared with other logs; unlimited when absent. */
  space?: SpillSpace;
  elsewhere?: PersistedFrames;
  /** Called once, when the log is full. `reason` is a sentence. */
  onFull?: (reason: string) => void;
}

export class FrameLog {
  readonly #options: FrameLogOptions;
  #segments: Segment[] = [];
  #appended = 0;
  /** Number of frames visible to readers; undefined: all. */
  #shown: number | undefined;
  #memory = 0;
  #closed = false;
  #aborted = false;
  #full = false;
  /** Memory use from which another attempt to spill is made. */
  #spillFrom = 0;
  #more: Deferred<void> = deferred();
  #waiting = false;
  readonly #file: SpillFile;
  #spilling: Promise<void> | undefined;
  #readers = 0;
  #abandoned = false;

  constructor(options: FrameLogOptions) {
    this.#options = options;
    this.#file = new SpillFile(options.file, options.space);
  }

  /** Number of frames visible to readers. */
  get count(): number {
    return this.#shown ?? this.#appended;
  }

  /** Number of all frames, which is also the number of the next frame. */
  get appended(): number {
    return this.#appended;
  }

  /** Whether no frame follows the visible ones. */
  get closed(): boolean {
    return this.#closed && this.count === this.#appended;
  }

  /** Whether the log was disposed of before it was closed: its frames may continue elsewhere. */
  get aborted(): boolean {
    return this.#aborted;
  }

  /** Hides further frames until `show`. */
  hold(): void {
    this.#shown ??= this.#appended;
  }

  /** Makes the frames before number `end` visible. */
  show(end: number): void {
    if (this.#shown === undefined || end <= this.#shown) return;
    this.#shown = end;
    this.#wake();
  }

  /** Makes all frames visible and ends the hold. */
  showAll(): void {
    this.#shown = undefined;
    this.#wake();
  }

  /** Drops the frames that were never visible. */
  dropHidden(): void {
    const end = this.count;
    for (let segment = this.#segments.at(-1); segment && segment.first + segment.sizes.length > end;) {
      const left = Math.max(end - segment.first, 0);
      const freed = segment.sizes.slice(left).reduce((sum, size) => sum + size, 0);
      if (segment.frames) {
        segment.frames.length = left;
        this.#memory -= freed;
      }
      segment.sizes.length = left;
      segment.names.length = left;
      segment.bytes -= freed;
      if (left === 0) this.#segments.pop();
      segment = left === 0 ? this.#segments.at(-1) : undefined;
    }
    this.#appended = end;
  }

  /** Bytes held in memory. */
  get memory(): number {
    return this.#memory;
  }

  append(name: string, frame: Buffer): void {
    if (this.#closed) return;
    let segment = this.#segments.at(-1);
    if (!segment || segment.frames === null || segment.bytes >= SEGMENT_BYTES) {
      segment = { first: this.#appended, frames: [], sizes: [], names: [], bytes: 0, fileOffset: -1 };
      this.#segments.push(segment);
    }
    segment.frames!.push(frame);
    segment.sizes.push(frame.length);
    segment.names.push(name);
    segment.bytes += frame.length;
    this.#memory += frame.length;
    this.#appended += 1;
    if (this.#memory > Math.max(this.#options.memoryBytes, this.#spillFrom)) this.#spill();
    if (this.#shown === undefined) this.#wake();
  }

  /** Closes the log: readers end after the last frame. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Resolves when a frame numbered `from` or higher is visible, or the log is closed. */
  async waitFor(from: number): Promise<void> {
    while (this.count <= from && !this.closed) {
      this.#waiting = true;
      await this.#more.promise;
    }
  }

  /**
   * Reads up to about a segment of frames from number `from` on, as one buffer, and the next position. `keep` filters
   * by name; a null buffer means that no frame matched.
   */
  async read(from: number, keep?: (name: string) => boolean): Promise<{ bytes: Buffer | null; next: number }> {
    return this.#slice(from, this.count, keep);
  }

  /** Reads frames regardless of visibility. */
  async readHidden(from: number): Promise<{ bytes: Buffer | null; next: number }> {
    return this.#slice(from, this.#appended);
  }

  async #slice(
    from: number,
    before: number,
    keep?: (name: string) => boolean,
  ): Promise<{ bytes: Buffer | null; next: number }> {
    const segment = from < before ? this.#find(from) : undefined;
    if (!segment) return { bytes: null, next: Math.max(from, 0) };
    const start = from - segment.first;
    const end = Math.min(segment.sizes.length, before - segment.first);
    const frames = segment.frames ? segment.frames.slice(start, end) : await this.#readBack(segment, start, end);
    const chosen = keep ? frames.filter((_, i) => keep(segment.names[start + i]!)) : frames;
    const bytes = chosen.length === 0 ? null : chosen.length === 1 ? chosen[0]! : Buffer.concat(chosen);
    return { bytes, next: segment.first + end };
  }

  /** Registers a reader; `release` when it leaves. Both only matter to `abandon`. */
  acquire(): void {
    this.#readers += 1;
  }

  release(): void {
    this.#readers -= 1;
    if (this.#abandoned && this.#readers === 0) void this.dispose();
  }

  /** Disposes of the log once the last reader has left. */
  abandon(): void {
    this.#abandoned = true;
    if (this.#readers === 0) void this.dispose();
  }

  /** Disposes of the log now; remaining readers are disconnected. */
  async dispose(): Promise<void> {
    this.#aborted ||= !this.#closed;
    this.close();
    await this.#spilling;
    this.#segments = [];
    this.#memory = 0;
    await this.#file.remove();
  }

  #find(from: number): Segment | undefined {
    if (from >= this.#appended) return undefined;
    // readers are mostly at the end
    for (let i = this.#segments.length - 1; i >= 0; i--) {
      if (this.#segments[i]!.first <= from) return this.#segments[i];
    }
    return undefined;
  }

  /** Wakes readers once for all frames of this turn of the event loop, so that they are sent in one piece. */
  #wake(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    const more = this.#more;
    this.#more = deferred();
    setImmediate(() => more.resolve());
  }

  #spill(): void {
    if (this.#full) return;
    this.#spilling ??= this.#spillSegments().finally(() => {
      this.#spilling = undefined;
    });
  }

  async #spillSegments(): Promise<void> {
    while (this.#memory > this.#options.memoryBytes / 2 && !this.#full) {
      const segment = this.#segments.find((segment, i) => segment.frames !== null && i < this.#segments.length - 1);
      if (!segment?.frames) return;
      const bytes = Buffer.concat(segment.frames);
      const written = await this.#file.append(bytes).catch((error: unknown) => error as Error);
      // hidden frames may have been dropped in the meantime
      if (segment.frames === null || segment.bytes !== bytes.length) continue;
      const { elsewhere, memoryBytes, onFull } = this.#options;
      if (typeof written === "number") segment.fileOffset = written;
      else if (segment.first + segment.sizes.length > (elsewhere?.count() ?? 0)) {
        this.#spillFrom = this.#memory + SEGMENT_BYTES;
        if (elsewhere?.isGrowing() && this.#memory < GROWING_FACTOR * memoryBytes) return;
        this.#full = true;
        onFull?.(written.message);
        return;
      }
      this.#spillFrom = 0;
      segment.frames = null;
      this.#memory -= bytes.length;
    }
  }

  async #readBack(segment: Segment, start: number, end: number): Promise<Buffer[]> {
    if (segment.fileOffset < 0) {
      const found = (await this.#options.elsewhere?.read(segment.first + start, end - start)) ?? [];
      if (found.length !== end - start) throw new Error("the stream's frames are no longer available");
      return found;
    }
    const bytes = await this.#file.read(segment.fileOffset, segment.bytes);
    const frames: Buffer[] = [];
    let offset = 0;
    for (let i = 0; i < end; i++) {
      const size = segment.sizes[i]!;
      if (i >= start) frames.push(bytes.subarray(offset, offset + size));
      offset += size;
    }
    return frames;
  }
}
