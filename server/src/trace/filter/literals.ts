import { isUuid } from "../../base/ids.ts";

const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses `2.5`, `"2.5"`, `"2.5s"`, `"250ms"`, `"3m"`, `"1h"` or `"1d"` to seconds; undefined if invalid. */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === "number") return value;
  const match = /^(-?\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/i.exec(value.trim());
  return match ? Number(match[1]) * SECONDS[(match[2] ?? "s").toLowerCase()]! : undefined;
}

/** Normalizes to lower case with dashes, which the input may lack (contract §1.2). */
export function parseUuid(value: string): string | undefined {
  const dashed = value.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, "$1-$2-$3-$4-$5");
  return isUuid(dashed) ? dashed.toLowerCase() : undefined;
}

/** Parses a number or numeric text. */
export function parseNumber(value: string | number): number | undefined {
  if (typeof value === "number") return value;
  const number = value.trim() === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : undefined;
}
