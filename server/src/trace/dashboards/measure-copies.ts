import { Gauge, type Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { measureHours } from "../run-facts/sql.ts";

/** Registers a gauge of the hours of runs with and without a current copy, over all processes. */
export function measureCopies(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  const hours = new ScrapedMetrics({ name: "copies of hours of runs", log, read: () => measureHours(sql) });
  void new Gauge({
    name: "heddle_run_hours",
    help: "Hours of projects in which runs started, by whether dashboards read a copy of them (current) or the runs (open).",
    labelNames: ["state"],
    registers: [registry],
    async collect() {
      const metrics = await hours.get();
      this.reset();
      if (metrics) for (const state of ["open", "current"] as const) this.set({ state }, metrics[state]);
    },
  });
}
