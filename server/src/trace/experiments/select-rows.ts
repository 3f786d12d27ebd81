/** Filters and order of a comparison's examples, from numbers alone. */
import { unprocessable } from "../../base/errors.ts";
import type { CompareRequest, DeltaFilter } from "./compare-schema.ts";
import { type ExperimentValues, type Measure, METRICS } from "./experiment-values.ts";
import { SAME } from "./summarize-deltas.ts";

export interface Compared {
  size: number;
  baseline: ExperimentValues;
  /** Without the baseline. */
  others: ExperimentValues[];
  lowerIsBetter: ReadonlySet<Measure>;
  measures: Measure[];
}

const readMeasure = ({ key, metric }: { key?: string | undefined; metric?: string | undefined }): Measure =>
  key === undefined ? (`metric:${metric}` as Measure) : `score:${key}`;

/** Returns the places of the examples that pass all filters, in order. */
export function selectRows(compared: Compared, { filters, sort }: Pick<CompareRequest, "filters" | "sort">): number[] {
  const tests = filters.map((filter) => compileFilter(compared, filter));
  const places: number[] = [];
  for (let place = 0; place < compared.size; place++) {
    if (tests.every((passes) => passes(place))) places.push(place);
  }
  if (sort.by === "example") return sort.descending ? places : places.toReversed();
  const weights = weighRows(compared, sort);
  // examples without the value come last in either direction
  return places.toSorted((a, b) => {
    const [left, right] = [weights[a]!, weights[b]!];
    if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return sort.descending ? right - left : left - right;
  });
}

function compileFilter(compared: Compared, filter: DeltaFilter): (place: number) => boolean {
  const measure = readMeasure(filter);
  const before = compared.baseline.values.get(measure);
  const experiments = chosenExperiments(compared, filter.experiment_id);
  const sign = compared.lowerIsBetter.has(measure) ? -1 : 1;
  const limit = Math.max(filter.more_than, SAME);
  return (place) =>
    experiments.some(({ values }) => {
      const delta = (values.get(measure)?.[place] ?? NaN) - (before?.[place] ?? NaN);
      if (Number.isNaN(delta)) return false;
      if (filter.change === "same") return Math.abs(delta) <= limit;
      if (filter.change === "different") return Math.abs(delta) > limit;
      return (filter.change === "better" ? sign : -sign) * delta > limit;
    });
}

function chosenExperiments({ others, baseline }: Compared, id: string | undefined): ExperimentValues[] {
  if (id === undefined) return others;
  const found = [baseline, ...others].find(({ experiment }) => experiment.id === id);
  if (!found) throw unprocessable(`Experiment ${id} is not compared.`);
  return [found];
}

function weighRows(compared: Compared, sort: CompareRequest["sort"]): Float64Array {
  const { size, baseline } = compared;
  if (sort.by === "value" || sort.by === "delta") {
    const measure = readMeasure(sort);
    const [chosen] = sort.experiment_id === undefined ? [] : chosenExperiments(compared, sort.experiment_id);
    const values = (chosen ?? compared.others[0] ?? baseline).values.get(measure);
    if (!values) return new Float64Array(size).fill(NaN);
    if (sort.by === "value") return values;
    const before = baseline.values.get(measure);
    return values.map((value, place) => value - (before?.[place] ?? NaN));
  }
  return sumChanges(compared, sort.by === "regressions" ? -1 : 1);
}

/**
 * Sums for each example what it lost (`sign` -1) or gained (1) in all experiments: its scores, in units of their range
 * but at least 1, and runs that fail where the baseline's did not.
 */
function sumChanges(compared: Compared, sign: 1 | -1): Float64Array {
  const { size, baseline, others, measures } = compared;
  const sums = new Float64Array(size);
  for (const measure of measures) {
    if (measure.startsWith("metric:") && measure !== "metric:error_rate") continue;
    const before = baseline.values.get(measure);
    if (!before) continue;
    const range = Math.max(1, rangeOf([before, ...others.flatMap(({ values }) => values.get(measure) ?? [])]));
    const direction = (compared.lowerIsBetter.has(measure) ? -sign : sign) / range;
    for (const { values } of others) {
      const after = values.get(measure);
      if (!after) continue;
      for (let place = 0; place < size; place++) {
        const change = (after[place]! - before[place]!) * direction;
        if (change > 0) sums[place]! += change;
      }
    }
  }
  return sums;
}

function rangeOf(lists: Float64Array[]): number {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return high >= low ? high - low : 0;
}

export const METRIC_MEASURES = METRICS.map((name): Measure => `metric:${name}`);
