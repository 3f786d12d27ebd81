import { Counter, Histogram, type Registry } from "prom-client";

const OUTCOMES = ["succeeded", "failed", "interrupted"] as const;
export type BuildOutcome = (typeof OUTCOMES)[number];

/** Registers the metrics of builds. */
export function measureBuilds(registry: Registry): (outcome: BuildOutcome, seconds: number) => void {
  const registers = [registry];
  const durations = new Histogram({
    name: "heddle_build_duration_seconds",
    help: "Duration of builds of this control plane, by outcome.",
    labelNames: ["outcome"],
    buckets: [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800],
    registers,
  });
  const total = new Counter({
    name: "heddle_builds_total",
    help: "Builds of this control plane since its start, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of OUTCOMES) total.inc({ outcome }, 0);
  return (outcome, seconds) => {
    durations.observe({ outcome }, seconds);
    total.inc({ outcome });
  };
}
