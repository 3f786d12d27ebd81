import type { Attributes } from "./otel-span.ts";

/** The first of these attributes that is there and not empty. */
export function firstOf(attributes: Attributes, ...names: string[]): unknown {
  for (const name of names) {
    const value = attributes[name];
    if (value !== undefined && value !== null && value !== "") return value;
  }
  return undefined;
}

export function textOf(attributes: Attributes, ...names: string[]): string | undefined {
  const value = firstOf(attributes, ...names);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A text that is JSON as what it says, everything else as it is. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"\d-]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The object that a value says, or one with it under `key`. */
export function objectOf(value: unknown, key: string): Record<string, unknown> {
  const said = parsed(value);
  return isObject(said) ? said : { [key]: Array.isArray(said) ? said : value };
}

/** How far numbers in names are believed: `gen_ai.prompt.999999999.role` is no list of that length. */
const MAX_INDEX = 10_000;

/**
 * Attributes that spell out a list: `prefix.0.role`, `prefix.0.content`, `prefix.1.role` … as what is under each
 * number, in the numbers' order. What is deeper keeps its dots.
 */
export function listed(attributes: Attributes, prefix: string): Attributes[] {
  const items = new Map<number, Attributes>();
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(`${prefix}.`)) continue;
    const match = /^(\d{1,5})\.(.+)$/.exec(name.slice(prefix.length + 1));
    if (!match || Number(match[1]) > MAX_INDEX) continue;
    const item = items.get(Number(match[1])) ?? {};
    item[match[2]!] = value;
    items.set(Number(match[1]), item);
  }
  return [...items].toSorted(([a], [b]) => a - b).map(([, item]) => item);
}
