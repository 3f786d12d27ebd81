/**
 * Memory and depth of JSON, computed from its bytes before they are decoded. A few kilobytes can be the compressed form
 * of millions of empty objects, which take fifty times their bytes and seconds to decode.
 *
 * Nothing is judged by its compression: traces repeat themselves, and honest ones shrink to a hundredth. A body is
 * rejected as it arrives, by what it would take in memory. That depends only on its objects, lists and strings, its
 * distinct names, and the orders in which objects have them. Long texts, embeddings and images cost no more than their
 * bytes.
 */
import { randomInt } from "node:crypto";

import { AppError, unprocessable } from "./errors.ts";

/** Bytes that a decoded element takes besides its text, as measured on V8, with a margin. */
const CONTAINER = 64;
const STRING = 24;
const VALUE = 16;
/** A name that has not occurred before: an object with many of them is a hash table, and a separate shape. */
const NAME = 112;
/**
 * A known name after names that it has not followed before: V8 describes each order of names once more. That takes a
 * hundred bytes, but also microseconds.
 */
const ORDER = 256;

/** A body may take twice the largest body's size in memory, besides its bytes; small limits allow this much. */
const LEAST = 4 * 1024 * 1024;

/** Serialization and most walks recurse, which fails beyond some thousand levels. */
export const MAX_DEPTH = 1000;

/** Nesting levels whose orders of names are counted separately; deeper ones share the last. */
const MAX_ORDERS = MAX_DEPTH + 1;

/** Structural characters between two comparisons with the limit. */
const CHECK_EVERY = 4096;
/** Bytes of a string that are read one by one, before its end is searched for. */
const SEARCH_AFTER = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 1;
const CLOSE = 2;
const COMMA = 3;
const COLON = 4;
/** Kinds of bytes outside of strings. */
const KINDS = new Uint8Array(256);
for (const [text, kind] of [
  ["{[", OPEN],
  ["}]", CLOSE],
  [",", COMMA],
  [":", COLON],
] as const) {
  for (const char of text) KINDS[char.charCodeAt(0)] = kind;
}

export interface StructureLimit {
  /** Largest body, of which the limit follows. */
  maxBytes: number;
  /** Environment variable that sets `maxBytes`, which the error names. */
  setting?: string | undefined;
  /** Most nested levels; default: any. */
  maxDepth?: number;
  /** Most elements of the lists in the outermost object, and what they are. */
  maxItems?: { count: number; error: () => AppError };
}

/** Most memory of decoded elements, in bytes. */
export const mostWeight = ({ maxBytes }: StructureLimit): number => Math.max(2 * maxBytes, LEAST);

/** Counts the structure of a body whose chunks are added as they arrive. @throws 413 or 422 beyond its limits */
export interface Structure {
  add(chunk: Uint8Array): void;
  /** Estimated memory so far, in bytes, besides the body itself. */
  readonly weight: number;
}

/** Counts several texts together; a text that ends within a string or list does not affect the next after `next`. */
export class JsonStructure implements Structure {
  readonly #limit: StructureLimit;
  readonly #most: number;
  #weight = 0;
  #depth = 0;
  #deepest = 0;
  #items = 0;
  #inString = false;
  #isEscaped = false;
  #names = 0;
  #orders = 0;
  readonly #known = new HashSet();
  /** Hash of the names so far of the innermost objects, by their level. */
  #order = new Int32Array(16);

  constructor(limit: StructureLimit) {
    this.#limit = limit;
    this.#most = mostWeight(limit);
  }

  get weight(): number {
    return this.#weight + NAME * this.#names + ORDER * this.#orders;
  }

  /** Most nested levels so far. */
  get depth(): number {
    return this.#deepest;
  }

  /** Counts texts that come from another format. */
  addTexts(count: number): void {
    this.#weight += count * (STRING + VALUE);
    this.#check();
  }

  /** Begins another text. */
  next(): this {
    this.#depth = 0;
    this.#inString = false;
    this.#isEscaped = false;
    return this;
  }

  add(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const end = bytes.length;
    let depth = this.#depth;
    let weight = this.#weight;
    let left = CHECK_EVERY;
    // where the last string of this chunk begins and ends
    let begin = 0;
    let stop = 0;
    let at = 0;
    if (this.#inString) at = stop = this.#skipString(bytes, 0);
    while (at < end) {
      const byte = bytes[at++]!;
      if (byte === QUOTE) {
        this.#inString = true;
        begin = at;
        at = stop = this.#skipString(bytes, at);
        weight += STRING;
      } else {
        const kind = KINDS[byte];
        if (kind === 0) continue;
        if (kind === OPEN) {
          weight += CONTAINER;
          if (++depth > this.#deepest) this.#deepest = depth;
          if (depth < MAX_ORDERS) this.#begin(depth);
        } else if (kind === CLOSE) depth--;
        else if (kind === COMMA) {
          weight += VALUE;
          if (depth === 2) this.#items++;
        } else {
          // the string before was a name; names that occur again are shared
          weight -= STRING;
          this.#addName(bytes, begin, stop, Math.min(depth, MAX_ORDERS - 1));
        }
      }
      if (--left > 0) continue;
      left = CHECK_EVERY;
      this.#weight = weight;
      this.#check();
    }
    this.#weight = weight;
    this.#depth = depth;
    this.#check();
  }

  #begin(depth: number): void {
    if (depth >= this.#order.length) {
      const before = this.#order;
      this.#order = new Int32Array(4 * before.length);
      this.#order.set(before);
    }
    this.#order[depth] = 0;
  }

  #addName(bytes: Buffer, from: number, to: number, depth: number): void {
    const hash = hashOf(bytes, from, to);
    const order = mix(this.#order[depth]!, hash);
    this.#order[depth] = order;
    const isNewOrder = this.#known.add(order);
    // a long name counts as new each time
    if (to - from > SEARCH_AFTER || this.#known.add(hash)) this.#names++;
    else if (isNewOrder) this.#orders++;
  }

  /** Returns where the reading continues: after the string, or at the end of the chunk. */
  #skipString(bytes: Buffer, from: number): number {
    const end = bytes.length;
    let isEscaped = this.#isEscaped;
    let at = from;
    let search = at + SEARCH_AFTER;
    while (at < end) {
      if (at >= search && !isEscaped) {
        const quote = bytes.indexOf(QUOTE, at);
        const stop = quote < 0 ? end : quote;
        let last = stop;
        while (last > at && bytes[last - 1] === BACKSLASH) last--;
        isEscaped = (stop - last) % 2 === 1;
        at = stop;
        // escaped quotes may follow one another
        search = stop + SEARCH_AFTER;
        continue;
      }
      const byte = bytes[at++]!;
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        break;
      }
    }
    this.#isEscaped = isEscaped;
    return at;
  }

  #check(): void {
    const { maxBytes, setting, maxDepth = Infinity, maxItems } = this.#limit;
    if (maxItems && this.#items >= maxItems.count) throw maxItems.error();
    if (this.#deepest > maxDepth) throw tooDeep(maxDepth);
    if (this.weight > this.#most) throw new TooManyElementsError(this.#most, maxBytes, setting);
  }
}

const tooDeep = (max: number): AppError => unprocessable(`The request body is nested more than ${max} levels deep.`);

/** A body would take far more memory than its bytes. */
export class TooManyElementsError extends AppError {
  constructor(most: number, maxBytes: number, setting?: string) {
    const source = setting === undefined ? "" : `: twice the largest body of ${maxBytes} bytes (${setting})`;
    super(
      413,
      "The request has too many objects, lists, values, distinct names or orders of names: decoded, they would take more than " +
        `${most} bytes of memory${source}. Send fewer in a request.`,
    );
  }
}

// drawn by each process: for known ones, millions of names with the same hash can be computed
const SEED = randomInt(2 ** 32) | 0;
const FACTOR = randomInt(2 ** 31) * 2 + 1;

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, FACTOR);
  return mixed ^ (mixed >>> 15);
}

function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = SEED ^ (to - from);
  for (let at = from; at < to; at++) hash = mix(hash, bytes[at]!);
  return hash;
}

class HashSet {
  #slots = new Int32Array(0);
  #used = 0;

  /** Returns whether the hash was not in the set. */
  add(hash: number): boolean {
    if (2 * this.#used >= this.#slots.length) this.#grow();
    // 0 marks a free slot
    const isNew = this.#insert(hash === 0 ? 1 : hash);
    if (isNew) this.#used++;
    return isNew;
  }

  #insert(hash: number): boolean {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      if (slots[slot] === hash) return false;
      if (slots[slot] !== 0) continue;
      slots[slot] = hash;
      return true;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(Math.max(256, 4 * before.length));
    for (const hash of before) if (hash !== 0) this.#insert(hash);
  }
}

/** A text of fewer characters cannot matter: neither its elements nor its depth. */
export const SMALL_JSON = 2 * MAX_DEPTH;

const FIELD: StructureLimit = { maxBytes: 16 * 1024 * 1024 };

/**
 * Parses JSON text that a caller sent inside a field, a parameter or a file. @throws SyntaxError for malformed text, 413
 * for one that would take too much memory, 422 for one that is nested too deep
 */
export function parseJson(text: string, limit: StructureLimit = FIELD): unknown {
  if (text.length > SMALL_JSON) new JsonStructure({ maxDepth: MAX_DEPTH, ...limit }).add(Buffer.from(text));
  return JSON.parse(text);
}

/** Whether lists and objects are nested more than `max` levels. */
export function isNestedDeeper(text: string, max: number): boolean {
  if (text.length <= 2 * max) return false;
  const structure = new JsonStructure({ maxBytes: Infinity });
  structure.add(Buffer.from(text));
  return structure.depth > max;
}
