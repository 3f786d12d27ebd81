import { Counter, Gauge, type Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { STATUSES } from "../revisions/status.ts";
import { countInstances, countRevisions } from "./sql.ts";

const INSTANCE_STATES = ["starting", "ready", "draining"];

/** Registers the counter of leases on revisions. */
export function measureLostLeases(registry: Registry): (holder: "this" | "other") => void {
  const losses = new Counter({
    name: "heddle_revision_lease_losses_total",
    help: "Leases on revisions that this process lost, and those of others that it took over.",
    labelNames: ["holder"],
    registers: [registry],
  });
  for (const holder of ["this", "other"]) losses.inc({ holder }, 0);
  return (holder) => losses.inc({ holder });
}

export interface ControlMetricsOptions {
  sql: Sql;
  log: Log;
  /** Whether this control plane leads. */
  leads: () => boolean;
}

/** Registers gauges of revisions and instances, over all control planes, and of the leadership of this one. */
export function registerControlMetrics(registry: Registry, { sql, log, leads }: ControlMetricsOptions): void {
  const registers = [registry];
  void new Gauge({
    name: "heddle_control_leader",
    help: "1 at the control plane that leads, 0 at the others.",
    registers,
    collect() {
      this.set(leads() ? 1 : 0);
    },
  });
  const revisions = new ScrapedMetrics({ name: "revisions", log, read: () => countRevisions(sql) });
  const instances = new ScrapedMetrics({ name: "instances", log, read: () => countInstances(sql) });
  revisions.gauge({
    name: "heddle_revisions",
    help: "Revisions of all deployments, by status.",
    registers,
    label: "status",
    values: (counts) => Object.fromEntries(STATUSES.map((status) => [status, counts[status] ?? 0])),
  });
  instances.gauge({
    name: "heddle_instances",
    help: "Instances of all deployments that have not ended, by state.",
    registers,
    label: "state",
    values: ({ states }) => Object.fromEntries(INSTANCE_STATES.map((state) => [state, states[state] ?? 0])),
  });
  instances.gauge({
    name: "heddle_instances_crashed",
    help: "Recorded instances that exited by themselves; the records of old instances are deleted.",
    registers,
    values: ({ crashed }) => crashed,
  });
}
