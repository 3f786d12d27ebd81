import { isUuid } from "../../base/ids.ts";

/** UTC `YYYY-MM-DD hh:mm:ss.ffffff`, which sorts chronologically. */
export type MicroTime = string;

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** Range of DateTime64. */
const FIRST_MS = Date.UTC(1900, 0, 1);
const LAST_MS = Date.UTC(2299, 0, 1);

/**
 * Parses ISO 8601 text, with or without an offset (then UTC), or milliseconds since 1970 (contract §0.5). Truncates to
 * microseconds. Returns undefined for an invalid time.
 */
export function parseTime(value: string | number): MicroTime | undefined {
  if (typeof value === "number") return print(Math.floor(value), Math.floor((value - Math.floor(value)) * 1000));
  const match = DATE.exec(value.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", offset = "Z"] = match;
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = Date.UTC(parts[0], parts[1] - 1, parts[2], parts[3], parts[4], parts[5]);
  const date = new Date(ms);
  // Date.UTC turns 31 February into a day in March
  if (date.getUTCMonth() !== parts[1] - 1 || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return undefined;
  const micros = Number(fraction.padEnd(6, "0").slice(0, 6));
  return print(ms - offsetMs(offset) + Math.floor(micros / 1000), micros % 1000);
}

function offsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const digits = offset.slice(1).replace(":", "").padEnd(4, "0");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (offset[0] === "-" ? -1 : 1) * minutes * 60_000;
}

function print(ms: number, microsBelow: number): MicroTime | undefined {
  if (!(ms >= FIRST_MS && ms < LAST_MS)) return undefined;
  return new Date(ms).toISOString().slice(0, 23).replace("T", " ") + String(microsBelow).padStart(3, "0");
}

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
