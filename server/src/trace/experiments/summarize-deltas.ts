import { type Interval, meanInterval } from "./bootstrap-interval.ts";
import type { Summary } from "./compare-schema.ts";

/** Paired examples from which a difference is called better or worse. Fewer often agree by chance. */
const MIN_PAIRS = 5;
/** Averages over repetitions of the same scores differ in the last digits. */
export const SAME = 1e-9;

/**
 * Summarizes an experiment's values of one measure, and their differences from the baseline's: example by example, over
 * those that have both. NaN: no value.
 */
export function summarizeDeltas(
  values: Float64Array | undefined,
  baseline: Float64Array | undefined,
  lowerIsBetter: boolean,
): Summary {
  const present = values?.filter((value) => !Number.isNaN(value)) ?? new Float64Array();
  return {
    examples: present.length,
    mean: present.length === 0 ? null : average(present),
    interval: meanInterval(present),
    delta: values && baseline ? summarizePairs(values, baseline, lowerIsBetter) : null,
  };
}

function summarizePairs(values: Float64Array, baseline: Float64Array, lowerIsBetter: boolean): Summary["delta"] {
  const deltas = values.map((value, i) => value - baseline[i]!).filter((delta) => !Number.isNaN(delta));
  if (deltas.length === 0) return null;
  const interval = meanInterval(deltas);
  const higher = deltas.filter((delta) => delta > SAME).length;
  const lower = deltas.filter((delta) => delta < -SAME).length;
  return {
    examples: deltas.length,
    mean: average(deltas),
    interval,
    better: lowerIsBetter ? lower : higher,
    worse: lowerIsBetter ? higher : lower,
    same: deltas.length - higher - lower,
    verdict: judge(interval, deltas.length, lowerIsBetter),
  };
}

type Verdict = NonNullable<Summary["delta"]>["verdict"];

function judge(interval: Interval | null, pairs: number, lowerIsBetter: boolean): Verdict {
  if (interval === null || pairs < MIN_PAIRS) return "too_few_examples";
  const [low, high] = interval;
  if (low > SAME) return lowerIsBetter ? "worse" : "better";
  if (high < -SAME) return lowerIsBetter ? "better" : "worse";
  return "no_clear_difference";
}

const average = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
