/** Position in the body, from 1 as `substring` counts, and length, both in bytes. */
export interface Span {
  at: number;
  length: number;
}

/** Parts from this size on are searched for in the parts before them. */
const LARGE_BYTES = 32 * 1024;
/** Beginning of a part by which its possible position in another one is found. */
const PREFIX_BYTES = 64;

/**
 * The bytes of a statement's large values. A large value that an earlier part contains is not added again: the last
 * value of a channel is also the write of its task, and part of the run's state.
 */
export class StatementBody {
  #length = 0;
  #parts: Buffer[] = [];
  #large: { bytes: Buffer; at: number }[] = [];

  add(part: string | Uint8Array): Span {
    const bytes = toBuffer(part);
    if (bytes.length < LARGE_BYTES) return this.#append(bytes);
    for (const { bytes: earlier, at } of this.#large) {
      const found = find(earlier, bytes);
      if (found >= 0) return { at: at + found, length: bytes.length };
    }
    const span = this.#append(bytes);
    this.#large.push({ bytes, at: span.at });
    return span;
  }

  /** Adds two parts, the second directly after the first. */
  addPair(first: string, second: string): [Span, Span] {
    return [this.#append(toBuffer(first)), this.#append(toBuffer(second))];
  }

  get length(): number {
    return this.#length;
  }

  get parts(): readonly Buffer[] {
    return this.#parts;
  }

  bytes(): Buffer {
    return this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
  }

  #append(bytes: Buffer): Span {
    const at = this.#length + 1;
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return { at, length: bytes.length };
  }
}

function toBuffer(part: string | Uint8Array): Buffer {
  return typeof part === "string" ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.length);
}

/** Returns the position of a part, if it is where its first bytes first occur; otherwise -1. */
function find(whole: Buffer, part: Buffer): number {
  if (part.length > whole.length) return -1;
  // not the whole part: that search could take the product of the lengths
  const at = whole.indexOf(part.subarray(0, PREFIX_BYTES));
  return at >= 0 && whole.subarray(at, at + part.length).equals(part) ? at : -1;
}
