import type { Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { countWaiting } from "./sql.ts";

/** Registers gauges of the pieces that were acknowledged but are not visible to queries, over all processes. */
export function measureWaitingPieces(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  const registers = [registry];
  const waiting = new ScrapedMetrics({ name: "waiting updates of runs", log, read: () => countWaiting(sql) });
  waiting.gauge({
    name: "heddle_ingest_waiting_pieces",
    help: "Acknowledged updates that wait for the run or parent they belong to.",
    registers,
    values: ({ count }) => count,
  });
  waiting.gauge({
    name: "heddle_ingest_waiting_oldest_seconds",
    help: "Age of the oldest of them; 0 without one.",
    registers,
    values: ({ oldest }) => oldest,
  });
}
