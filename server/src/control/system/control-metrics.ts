import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import { ScrapedFigures } from "../../base/scraped-figures.ts";
import { STATUSES } from "../revisions/status.ts";
import type { ControlDeps } from "../deps.ts";
import { countInstances, countRevisions } from "./sql.ts";

export type BuildOutcome = "succeeded" | "failed" | "interrupted";
export const BUILD_OUTCOMES: BuildOutcome[] = ["succeeded", "failed", "interrupted"];
const INSTANCE_STATES = ["starting", "ready", "draining"];

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
  for (const outcome of BUILD_OUTCOMES) total.inc({ outcome }, 0);
  return (outcome, seconds) => {
    durations.observe({ outcome }, seconds);
    total.inc({ outcome });
  };
}

/** Registers gauges of revisions and instances, over all control planes. */
export function registerControlMetrics(registry: Registry, { sql, log }: Pick<ControlDeps, "sql" | "log">): void {
  const registers = [registry];
  const revisions = new ScrapedFigures({ name: "revisions", log, read: () => countRevisions(sql) });
  const instances = new ScrapedFigures({ name: "instances", log, read: () => countInstances(sql) });
  void new Gauge({
    name: "heddle_revisions",
    help: "Revisions of all deployments, by status.",
    labelNames: ["status"],
    registers,
    async collect() {
      const counts = await revisions.get();
      this.reset();
      if (counts) for (const status of STATUSES) this.set({ status }, counts[status] ?? 0);
    },
  });
  void new Gauge({
    name: "heddle_instances",
    help: "Instances of all deployments that have not ended, by state.",
    labelNames: ["state"],
    registers,
    async collect() {
      const counts = await instances.get();
      this.reset();
      if (counts) for (const state of INSTANCE_STATES) this.set({ state }, counts.states[state] ?? 0);
    },
  });
  void new Gauge({
    name: "heddle_instances_crashed",
    help: "Recorded instances that exited by themselves; the records of old instances are deleted.",
    registers,
    async collect() {
      const counts = await instances.get();
      this.reset();
      if (counts) this.set(counts.crashed);
    },
  });
}
