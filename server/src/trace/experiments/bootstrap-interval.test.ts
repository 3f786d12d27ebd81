import { expect, test } from "vitest";

import {
  computeMoments,
  intervalFromMoments,
  meanInterval,
  normalProbability,
  normalQuantile,
} from "./bootstrap-interval.ts";

/** All n^n resamples of few values, each once: the bootstrap distribution without noise. */
function everyMean(values: number[]): number[] {
  let sums = [0];
  for (let i = 0; i < values.length; i++) sums = sums.flatMap((sum) => values.map((value) => sum + value));
  return sums.map((sum) => sum / values.length).toSorted((a, b) => a - b);
}

/** BCa interval by its textbook definition (Efron & Tibshirani 1993, 14.3), with the jackknife written out. */
function exactBca(values: number[]): [number, number] {
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const means = everyMean(values);
  const estimate = mean(values);
  const below = means.filter((value) => value < estimate - 1e-12).length;
  const atMost = means.filter((value) => value < estimate + 1e-12).length;
  const z0 = normalQuantile((below + atMost) / 2 / means.length);
  const left = values.map((_, i) => mean(values.filter((__, j) => j !== i)));
  const center = mean(left);
  const cubes = left.reduce((sum, value) => sum + (center - value) ** 3, 0);
  const squares = left.reduce((sum, value) => sum + (center - value) ** 2, 0);
  const a = cubes / (6 * squares ** 1.5);
  const end = (z: number) => {
    const level = normalProbability(z0 + (z0 + z) / (1 - a * (z0 + z)));
    return means[Math.min(means.length - 1, Math.floor(level * means.length))]!;
  };
  return [end(-1.959964), end(1.959964)];
}

test("the normal distribution and its inverse have six correct digits", () => {
  expect(normalProbability(0)).toBeCloseTo(0.5, 6);
  expect(normalProbability(1.959963985)).toBeCloseTo(0.975, 6);
  expect(normalProbability(-3)).toBeCloseTo(0.0013498980316, 8);
  expect(normalQuantile(0.975)).toBeCloseTo(1.959964, 5);
  expect(normalQuantile(0.001)).toBeCloseTo(-3.090232, 5);
});

test("intervals of small samples equal those over all possible resamples", () => {
  const samples = [
    [0.3, -0.1, 0.7, 0.2, 0.05],
    [1, 0, 0, -1, 1, 1],
    [0.11, 0.52, 0.31, 0.94, 0.27, 0.68],
    [3, 1, 4, 1, 5, 9],
  ];
  for (const sample of samples) {
    const [low, high] = meanInterval(Float64Array.from(sample))!;
    const [exactLow, exactHigh] = exactBca(sample);
    const spread = Math.max(...sample) - Math.min(...sample);
    expect(Math.abs(low - exactLow)).toBeLessThan(0.02 * spread);
    expect(Math.abs(high - exactHigh)).toBeLessThan(0.02 * spread);
  }
});

test("intervals agree with those of scipy.stats.bootstrap with 200,000 resamples", () => {
  const rare = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  const deltas = [0.2, -0.1, 0.4, 0.0, 0.3, -0.2, 0.1, 0.6, 0.05, -0.05, 0.15, 0.25];
  const skewed = Array.from({ length: 400 }, (_, i) => (((i * 7919) % 1000) / 1000) ** 3);
  const changes = Array.from({ length: 1000 }, (_, i) => (i % 40 === 0 ? 1 : i % 100 === 1 ? -1 : 0));
  const expected: [number[], [number, number], number][] = [
    [rare, [0, 0.5], 1e-9],
    [deltas, [0.02917, 0.27083], 0.005],
    [skewed, [0.22429, 0.27987], 0.0006],
    [changes, [0.004, 0.027], 0.0006],
  ];
  for (const [values, [low, high], tolerance] of expected) {
    const [foundLow, foundHigh] = meanInterval(Float64Array.from(values))!;
    expect(Math.abs(foundLow - low)).toBeLessThanOrEqual(tolerance);
    expect(Math.abs(foundHigh - high)).toBeLessThanOrEqual(tolerance);
  }
});

test("resampled and analytic intervals agree where one passes into the other", () => {
  const values = Float64Array.from({ length: 200 }, (_, i) => Math.sin(i * 12.9898) ** 2 - 0.3);
  const resampled = meanInterval(values)!;
  const analytic = intervalFromMoments(computeMoments(values))!;
  const width = resampled[1] - resampled[0];
  expect(Math.abs(resampled[0] - analytic[0])).toBeLessThan(0.03 * width);
  expect(Math.abs(resampled[1] - analytic[1])).toBeLessThan(0.03 * width);
});

test("an interval is the same each time, and within the range of the values", () => {
  const values = Float64Array.from([0, 0, 0, 0, 0, 1]);
  expect(meanInterval(values)).toEqual(meanInterval(values));
  const one = new Float64Array(5000);
  one[17] = 1;
  const [low, high] = meanInterval(one)!;
  expect(low).toBeGreaterThanOrEqual(0);
  expect(high).toBeLessThanOrEqual(1);
  expect(meanInterval(Float64Array.from([0.5, 0.5, 0.5]))).toEqual([0.5, 0.5]);
  expect(meanInterval(Float64Array.from([1]))).toBeNull();
});
