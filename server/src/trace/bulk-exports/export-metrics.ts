import { Counter, Histogram, type Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { countExports } from "./sql.ts";
import { STATUSES, type Status } from "./status.ts";

export interface ExportMetrics {
  /** Counts an uploaded file. */
  uploaded(file: { rows: number; bytes: number }): void;
  /** Counts an export that another process took over. */
  leaseLost(): void;
  /** Counts an attempt that ended; CREATED and RUNNING mean that another one follows. */
  attempted(status: Status, seconds: number): void;
}

/** Registers the metrics of exports. Statuses are those of the database; the rest is what this process has done. */
export function measureExports(registry: Registry, { sql, log }: { sql: Sql; log: Log }): ExportMetrics {
  const registers = [registry];
  const counts = new ScrapedMetrics({ name: "exports", log, keepMs: 10_000, read: () => countExports(sql) });
  for (const [name, kind, help] of [
    ["heddle_exports", "exports", "Exports of all processes, by status; schedules are not counted."],
    ["heddle_export_runs", "runs", "Days of exports of all processes, by status."],
  ] as const) {
    counts.gauge({
      name,
      help,
      registers,
      label: "status",
      values: (found) => Object.fromEntries(STATUSES.map((status) => [status, found[kind][status] ?? 0])),
    });
  }
  const rows = new Counter({ name: "heddle_export_rows_total", help: "Rows in files that were uploaded.", registers });
  const bytes = new Counter({
    name: "heddle_export_bytes_total",
    help: "Bytes of files that were uploaded to destinations of exports.",
    registers,
  });
  const durations = new Histogram({
    name: "heddle_export_attempt_duration_seconds",
    help: "Duration of attempts at exports, by outcome; released: another attempt follows.",
    labelNames: ["outcome"],
    buckets: [0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400],
    registers,
  });
  const leases = new Counter({
    name: "heddle_export_lease_losses_total",
    help: "Exports that this process lost to another one, or could not keep its lease on.",
    registers,
  });
  return {
    leaseLost: () => leases.inc(),
    uploaded(file) {
      rows.inc(file.rows);
      bytes.inc(file.bytes);
    },
    attempted(status, seconds) {
      const outcome = status === "RUNNING" || status === "CREATED" ? "released" : status.toLowerCase();
      durations.observe({ outcome }, seconds);
    },
  };
}
