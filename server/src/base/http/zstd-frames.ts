import { AppError } from "../errors.ts";

const MAGIC = 0xfd2fb528;
/** Frames with any of 16 magic numbers are skipped. */
const SKIPPABLE = 0x184d2a50;
const CHECKSUM_BYTES = 4;
/** Least cost of a block or frame, for its tables. */
const LEAST_COST = 16 * 1024;
/** More than the hardest compression of the largest body takes: level 19 has a window of 8 MiB. */
const MOST_COST = 8 * 1024 ** 3;
/** Cost after which others get the event loop: about 50 ms. */
const STEP_COST = 256 * 1024 ** 2;

const HEADER = 0;
const BLOCK = 1;

/**
 * Walks the frames of zstd (RFC 8878 §3.1) and computes what it costs to decompress them, before that is done. fzstd
 * moves its whole window for each block, and allocates one for each frame: three bytes can name a window of gigabytes.
 */
export class ZstdFrames {
  readonly #maxWindow: number;
  #cost = 0;
  #state = HEADER;
  /** The header that is being read, and its length as far as it is known. */
  readonly #header: number[] = [];
  #wanted = 5;
  /** Content to skip, and whether the frame ends after it. */
  #skip = 0;
  #isLast = false;
  #hasChecksum = false;
  #window = 0;
  #largestWindow = 0;

  /** @param maxWindow a frame's window is no larger than the largest body */
  constructor(maxWindow: number) {
    this.#maxWindow = maxWindow;
  }

  /** Memory that one frame so far takes while it is decompressed. */
  get largestWindow(): number {
    return this.#largestWindow;
  }

  /**
   * Returns how many bytes of the chunk may be decompressed now: all, or those that take a while.
   * @throws 400 for malformed frames, 413 for those that would take too long
   */
  next(chunk: Uint8Array): number {
    const until = this.#cost + STEP_COST;
    let at = 0;
    while (at < chunk.length && this.#cost < until) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      this.#header.push(chunk[at++]!);
      if (this.#header.length < this.#wanted) continue;
      if (this.#state === HEADER) this.#readFrame();
      else this.#readBlock();
    }
    return at;
  }

  #readFrame(): void {
    const [a, b, c, d, descriptor] = this.#header as [number, number, number, number, number];
    const magic = (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
      if (this.#header.length < 8) return void (this.#wanted = 8);
      this.#skip = this.#number(4, 4);
      this.#charge(LEAST_COST);
      return this.#expect(HEADER, 5);
    }
    if (magic !== MAGIC || (descriptor & 8) !== 0) throw malformed("it has no frame header");
    const isSingle = (descriptor & 0x20) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
    const sizeFlag = descriptor >> 6;
    const sizeBytes = sizeFlag === 0 ? (isSingle ? 1 : 0) : 1 << sizeFlag;
    const windowBytes = isSingle ? 0 : 1;
    const length = 5 + windowBytes + dictionaryBytes + sizeBytes;
    if (this.#header.length < length) return void (this.#wanted = length);
    const size = this.#number(length - sizeBytes, sizeBytes) + (sizeFlag === 1 ? 256 : 0);
    const [exponent, mantissa] = [this.#header[5]! >> 3, this.#header[5]! & 7];
    const base = 2 ** (10 + exponent);
    this.#window = isSingle ? size : base + (base / 8) * mantissa;
    if (this.#window > this.#maxWindow) {
      throw new AppError(413, `A zstd frame has a window of ${this.#window} bytes; at most ${this.#maxWindow}.`);
    }
    this.#largestWindow = Math.max(this.#largestWindow, this.#window);
    this.#hasChecksum = (descriptor & 4) !== 0;
    this.#charge(this.#window);
    this.#expect(BLOCK, 3);
  }

  #readBlock(): void {
    const header = this.#number(0, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === 3) throw malformed("it has a block of a reserved type");
    this.#isLast = (header & 1) === 1;
    // a run of one byte has one
    this.#skip = type === 1 ? 1 : size;
    this.#charge(this.#window);
    if (this.#isLast) {
      this.#skip += this.#hasChecksum ? CHECKSUM_BYTES : 0;
      this.#expect(HEADER, 5);
    } else this.#expect(BLOCK, 3);
  }

  #expect(state: number, bytes: number): void {
    this.#state = state;
    this.#wanted = bytes;
    this.#header.length = 0;
  }

  #charge(cost: number): void {
    this.#cost += Math.max(cost, LEAST_COST);
    if (this.#cost <= MOST_COST) return;
    throw new AppError(413, "The zstd body has too many blocks for its window. Compress larger blocks, or with gzip.");
  }

  /** Returns a number of the header, which is little-endian. */
  #number(from: number, bytes: number): number {
    let value = 0;
    for (let at = from + bytes - 1; at >= from; at--) value = value * 256 + this.#header[at]!;
    return value;
  }
}

const malformed = (why: string): AppError => new AppError(400, `The request body is not valid zstd: ${why}`);
