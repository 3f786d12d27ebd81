/** Reads search parameters leniently, because people write and shorten URLs by hand. */

/** Returns text; the router parses numbers and booleans, which are converted back. */
export function optionalText(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export const pickAllowed = <T extends string>(allowed: readonly T[], value: unknown): T | undefined =>
  allowed.find((candidate) => candidate === value);

/** Returns a month such as `2026-11`. */
export const optionalMonth = (value: unknown): string | undefined =>
  typeof value === "string" && /^20\d\d-(0[1-9]|1[0-2])$/.test(value) ? value : undefined;

/** Returns a non-empty list, else undefined. */
export function texts(value: unknown): string[] | undefined {
  const list = (Array.isArray(value) ? value : [value]).flatMap((entry) => optionalText(entry) ?? []);
  return list.length > 0 ? list : undefined;
}

export function wholeNumber(value: unknown): number | undefined {
  const number = Number(value);
  return value !== "" && value !== null && Number.isSafeInteger(number) ? number : undefined;
}
