import { createHash } from "node:crypto";

/** Decides by a hash of the rule and the trace or thread whether the sampling rate includes it. */
export const isSampled = (ruleId: string, unit: string, rate: number): boolean =>
  rate >= 1 || hashShare(ruleId, unit) < rate;

/** Returns a number in [0, 1) that depends on both texts only. */
export function hashShare(ruleId: string, unit: string): number {
  return createHash("sha256").update(`${ruleId} ${unit}`).digest().readUIntBE(0, 6) / 2 ** 48;
}
