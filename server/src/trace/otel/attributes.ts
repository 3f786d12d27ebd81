import type { Attributes } from "./otel-span.ts";
import { parseJson } from "../../base/json-structure.ts";

/** Returns the first of these attributes that is present and not empty. */
export function firstAttribute(attributes: Attributes, ...names: string[]): unknown {
  for (const name of names) {
    const value = attributes[name];
    if (value !== undefined && value !== null && value !== "") return value;
  }
  return undefined;
}

export function textAttribute(attributes: Attributes, ...names: string[]): string | undefined {
  const value = firstAttribute(attributes, ...names);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Records which attributes are read, so that the remaining ones can be kept. Empty values, which readers skip, count as
 * unread.
 */
export function recordReads(attributes: Attributes): { read: Attributes; unread(): [string, unknown][] } {
  const names = new Set<string>();
  const read = new Proxy(attributes, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof name === "string" && value !== undefined && value !== null && value !== "") names.add(name);
      return value;
    },
  });
  return { read, unread: () => Object.entries(attributes).filter(([name]) => !names.has(name)) };
}

export const mayBeJson = (text: string): boolean => /^\s*[[{"\d-]/.test(text);

/** Parses text that is JSON, and returns all other values unchanged. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !mayBeJson(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Returns the object that the value contains, or an object with the value under `key`: a list, or text without quotes. */
export function toObject(value: unknown, key: string): Record<string, unknown> {
  const decoded = parsed(value);
  if (isObject(decoded)) return decoded;
  return { [key]: Array.isArray(decoded) || typeof decoded === "string" ? decoded : value };
}

/** Highest accepted index: `gen_ai.prompt.999999999.role` does not mean a list of that length. */
const MAX_INDEX = 10_000;

/**
 * Collects attributes that spell out a list (`prefix.0.role`, `prefix.0.content`, `prefix.1.role` …), one item per
 * index, in index order. Deeper names keep their dots.
 */
export function listed(attributes: Attributes, prefix: string): Attributes[] {
  const items = new Map<number, Attributes>();
  for (const name of Object.keys(attributes)) {
    if (!name.startsWith(`${prefix}.`)) continue;
    const match = /^(\d{1,5})\.(.+)$/.exec(name.slice(prefix.length + 1));
    if (!match || Number(match[1]) > MAX_INDEX) continue;
    const item = items.get(Number(match[1])) ?? {};
    item[match[2]!] = attributes[name];
    items.set(Number(match[1]), item);
  }
  return [...items].toSorted(([a], [b]) => a - b).map(([, item]) => item);
}
