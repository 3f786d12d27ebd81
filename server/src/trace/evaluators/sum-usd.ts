import { formatDecimal, parseDecimal } from "../run-rows/decimal.ts";

/** Sums exact amounts; null when none is known. */
export function sumUsd(amounts: readonly (string | null)[]): string | null {
  const known = amounts.flatMap((amount) => (amount === null ? [] : [parseDecimal(amount) ?? 0n]));
  return known.length === 0 ? null : formatDecimal(known.reduce((sum, amount) => sum + amount, 0n));
}
