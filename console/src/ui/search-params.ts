/** What an address may say of a page: read leniently, because people write and shorten addresses by hand. */

/** Numbers and booleans come parsed from the address and are texts all the same. */
export function optionalText(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export const oneOf = <T extends string>(allowed: readonly T[], value: unknown): T | undefined =>
  allowed.find((one) => one === value);

/** A list that is not empty. */
export function texts(value: unknown): string[] | undefined {
  const list = (Array.isArray(value) ? value : [value]).flatMap((one) => optionalText(one) ?? []);
  return list.length > 0 ? list : undefined;
}

export function wholeNumber(value: unknown): number | undefined {
  const number = Number(value);
  return value !== "" && value !== null && Number.isSafeInteger(number) ? number : undefined;
}
