import { randomUUID } from "node:crypto";

import type { StoredItem } from "../../host-kit/src/list-item.ts";
import { storedItems } from "./checkpoints/stored-items.ts";

/**
 * Serializes objects of user code to JSON text: stream events, states, results of calls. No other code does.
 *
 * LangChain messages are flattened wherever they occur. The text never contains what
 * Postgres' jsonb rejects, a null byte or a lone surrogate: both become U+FFFD. A value is copied only where something
 * in it must change, so that plain states reach the native JSON.stringify untouched.
 */
export function toJson(value: unknown): string {
  return toFieldJson(value) ?? "null";
}

/** Returns the JSON text of an object's field; undefined for a value that JSON omits, such as a function. */
export function toFieldJson(value: unknown): string | undefined {
  const json = JSON.stringify(plain(value, [])) as string | undefined;
  return json === undefined ? undefined : storable(json);
}

/** Length from which a text is a separate part. */
const LARGE_TEXT = 32 * 1024;

/**
 * Serializes values that may contain lists of stored items. Returns the text in parts, the items of such a list being
 * one: they have their text already, and states of one thread have most of them in common. So are large texts: a state
 * contains them up to three times, as value, as result of a task and as write of a step.
 */
export function toSharedParts(value: unknown): (string | readonly Wire[])[] {
  const lists = new SharedParts();
  shared = lists;
  try {
    return lists.split(toJson(value));
  } finally {
    shared = undefined;
  }
}

interface Wire {
  wire: string;
}

/** Lists and large texts that are left out of a text, each replaced by a mark. */
class SharedParts {
  #parts: { items: readonly Wire[]; isList: boolean }[] = [];
  #texts = new Map<string, string>();
  #name = `stored-items-${randomUUID()}-`;

  addList(items: readonly StoredItem[]): string {
    return this.#add(items, true);
  }

  addText(text: string): string {
    let mark = this.#texts.get(text);
    if (mark === undefined) {
      mark = this.#add([{ wire: storable(JSON.stringify(text)) }], false);
      this.#texts.set(text, mark);
    }
    return mark;
  }

  #add(items: readonly Wire[], isList: boolean): string {
    return `${this.#name}${this.#parts.push({ items, isList }) - 1}.`;
  }

  split(text: string): (string | readonly Wire[])[] {
    if (this.#parts.length === 0) return [text];
    const parts: (string | readonly Wire[])[] = [];
    for (const [n, piece] of text.split(`"${this.#name}`).entries()) {
      if (n === 0) parts.push(piece);
      else {
        const end = piece.indexOf('."');
        const { items, isList } = this.#parts[Number(piece.slice(0, end))]!;
        const rest = piece.slice(end + 2);
        if (isList) parts.push("[", items, `]${rest}`);
        else parts.push(items, rest);
      }
    }
    return parts;
  }
}

/** Set while `toSharedParts` serializes, which takes no turn of the event loop. */
let shared: SharedParts | undefined;

/** Returns the values that `toJson` serializes: plain, without class instances. */
export function toPlain(value: unknown): unknown {
  return plain(value, []);
}

interface Message {
  toDict(): { type: string; data: Record<string, unknown> };
}

function plain(value: unknown, ancestors: object[]): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === "string" && shared && value.length >= LARGE_TEXT) return shared.addText(value);
  if (typeof value !== "object" || value === null) return value;
  if (ancestors.includes(value)) throw new TypeError("A value with a circular reference cannot be serialized as JSON.");
  ancestors.push(value);
  const result = Array.isArray(value) ? plainArray(value, ancestors) : plainObject(value, ancestors);
  ancestors.pop();
  return result;
}

function plainArray(array: unknown[], ancestors: object[]): unknown {
  const items = shared && storedItems(array);
  if (items) return shared!.addList(items);
  let copy: unknown[] | undefined;
  for (let i = 0; i < array.length; i++) {
    const item = plain(array[i], ancestors);
    if (item === array[i]) continue;
    copy ??= array.slice();
    copy[i] = item;
  }
  return copy ?? array;
}

function plainObject(object: object, ancestors: object[]): unknown {
  if ("toDict" in object && typeof object.toDict === "function") {
    const { type, data } = (object as Message).toDict();
    return plainFields({ ...data, type }, ancestors);
  }
  if (object instanceof Error) return { name: errorName(object), message: object.message };
  if (object instanceof Map) return plain(fromMap(object), ancestors);
  if (object instanceof Set) return plainArray([...object], ancestors);
  if (object instanceof Uint8Array) return Buffer.from(object).toString("base64");
  if ("toJSON" in object && typeof object.toJSON === "function") {
    const replacement: unknown = object.toJSON();
    if (replacement !== object) return plain(replacement, ancestors);
  }
  return plainFields(object as Record<string, unknown>, ancestors);
}

function plainFields(object: Record<string, unknown>, ancestors: object[]): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const field = plain(object[key], ancestors);
    if (field === object[key]) continue;
    copy ??= { ...object };
    copy[key] = field;
  }
  return copy ?? object;
}

/** Returns an object where the keys allow it, else the list of pairs. */
function fromMap(map: Map<unknown, unknown>): unknown {
  const entries = [...map];
  return entries.every(([key]) => typeof key === "string")
    ? Object.fromEntries(entries as [string, unknown][])
    : entries;
}

// An escaped backslash is matched first, by the last alternative, so that the text \\u0000 (six characters that a user
// wrote) stays unchanged. V8 prints lone surrogates in lower case.
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g;

export function storable(json: string): string {
  if (!json.includes("\\u0000") && !json.includes("\\ud")) return json;
  return json.replace(ESCAPE, (escape) => (escape.length === 6 ? "\uFFFD" : escape));
}

/** Returns the class name unless `name` was set: JavaScript names `class Boo extends Error` just "Error". */
export function errorName(error: Error): string {
  if (error.name !== "Error" && error.name) return error.name;
  return error.constructor?.name || "Error";
}
