import type { Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { measureHours } from "../run-facts/sql.ts";

/** Registers a gauge of the hours of runs with and without a current copy, over all processes. */
export function measureCopies(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  const hours = new ScrapedMetrics({ name: "copies of hours of runs", log, read: () => measureHours(sql) });
  hours.gauge({
    name: "heddle_run_hours",
    help: "Hours of projects in which runs started, by whether dashboards read a copy of them (current) or the runs (open).",
    label: "state",
    registers: [registry],
    values: ({ open, current }) => ({ open, current }),
  });
}
