import type { Type } from "protobufjs";

import { AppError, unprocessable } from "../../base/errors.ts";
import { mostWeight, type Structure, type StructureLimit, TooManyElementsError } from "../../base/json-structure.ts";

/** A type of messages, with what the counting needs. */
export interface Shape {
  name: string;
  /** Memory of a decoded message, in bytes, besides its texts. */
  weight: number;
  /** `unit`: is decoded at once, so the messages in it are limited. `part`: only holds units. */
  role: "unit" | "part" | "inner";
  /** Types of the fields that are messages, by number. */
  fields: Map<number, Shape>;
}

/** Most inner messages are garbage soon: units are decoded one by one. */
const WEIGHTS = { unit: 256, part: 256, inner: 32 };
/** Messages in a unit. */
const MOST_WITHIN = 200_000;
/** The decoder rejects half as many levels. */
const MAX_LEVELS = 200;

/** Reads the types of the messages below a type from its schema. @param roles of the types that are not `inner` */
export function readShape(
  type: Type,
  roles: Readonly<Record<string, "unit" | "part">>,
  known = new Map<string, Shape>(),
): Shape {
  const found = known.get(type.name);
  if (found) return found;
  const role = roles[type.name] ?? "inner";
  const shape: Shape = { name: type.name, weight: WEIGHTS[role], role, fields: new Map() };
  known.set(type.name, shape);
  for (const field of type.fieldsArray) {
    const inner = field.resolve().resolvedType;
    if (inner && "fieldsArray" in inner) shape.fields.set(field.id, readShape(inner, roles, known));
  }
  return shape;
}

const TAG = 0;
const LENGTH = 1;
const NUMBER = 2;

/**
 * Walks protobuf's wire format as it arrives, and counts the messages that a decoder would create: two bytes are enough
 * for one. Skips what the schema does not have, and stops at what is malformed: the decoder says what is wrong.
 */
export class ProtobufStructure implements Structure {
  readonly #limit: StructureLimit;
  readonly #most: number;
  readonly #open: { shape: Shape; end: number }[];
  #weight = 0;
  /** Bytes walked, and where the innermost message ends. */
  #position = 0;
  #end = Infinity;
  /** What is read next, and the number that has been read in part. */
  #state = TAG;
  #value = 0;
  #scale = 1;
  #tag = 0;
  #skip = 0;
  #unit = "";
  #within = 0;
  #isBroken = false;

  constructor(shape: Shape, limit: StructureLimit) {
    this.#limit = limit;
    this.#most = mostWeight(limit);
    this.#open = [{ shape, end: Infinity }];
  }

  get weight(): number {
    return this.#weight;
  }

  add(bytes: Uint8Array): void {
    const end = bytes.length;
    const before = this.#position;
    let at = 0;
    while (at < end && !this.#isBroken) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, end - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      const byte = bytes[at++]!;
      this.#value += (byte & 0x7f) * this.#scale;
      if (byte >= 0x80) {
        this.#scale *= 128;
        // no number has more than ten bytes
        if (this.#scale > 2 ** 70) this.#isBroken = true;
        continue;
      }
      const value = this.#value;
      this.#value = 0;
      this.#scale = 1;
      this.#position = before + at;
      this.#read(value);
    }
    this.#position = before + end;
  }

  /** Reads a whole tag, length or number, which ends at the position. */
  #read(value: number): void {
    const state = this.#state;
    this.#state = TAG;
    if (state === LENGTH) return this.#enter(value);
    if (state === NUMBER) return;
    // the tag's first byte may belong to a message around the one that ended
    while (this.#position > this.#end) {
      this.#open.pop();
      this.#end = this.#open.at(-1)!.end;
    }
    this.#tag = value;
    const wireType = value % 8;
    if (wireType === 0) this.#state = NUMBER;
    else if (wireType === 1) this.#skip = 8;
    else if (wireType === 2) this.#state = LENGTH;
    else if (wireType === 5) this.#skip = 4;
    // the fields of a group, which the schema does not have, count as those of the message around it
    else if (wireType > 5) this.#isBroken = true;
  }

  #enter(length: number): void {
    const inner = this.#open.at(-1)!.shape.fields.get(Math.floor(this.#tag / 8));
    if (!inner) {
      this.#skip = length;
      return;
    }
    this.#weight += inner.weight;
    if (inner.role === "unit") {
      this.#unit = inner.name;
      this.#within = 0;
    } else if (inner.role === "inner" && ++this.#within > MOST_WITHIN) {
      const what = "attributes, events, links and values";
      throw new AppError(413, `A ${this.#unit} of the request has more than ${MOST_WITHIN} ${what}.`);
    }
    const { maxBytes, setting } = this.#limit;
    if (this.#weight > this.#most) throw new TooManyElementsError(this.#most, maxBytes, setting);
    if (this.#open.length > MAX_LEVELS) {
      throw unprocessable(`Messages of the request are nested more than ${MAX_LEVELS} levels deep.`);
    }
    this.#end = Math.min(this.#position + length, this.#end);
    this.#open.push({ shape: inner, end: this.#end });
  }
}
