import type { Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { measureCandidates } from "./match-sql.ts";

/** Registers gauges of the runs that wait for the evaluation of rules, over all processes. */
export function measureRules(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  const registers = [registry];
  const waiting = new ScrapedMetrics({ name: "candidates of rules", log, read: () => measureCandidates(sql) });
  waiting.gauge({
    name: "heddle_rule_candidates",
    help: "Runs that wait for the evaluation of rules, counted up to 100,000.",
    registers,
    values: ({ count }) => count,
  });
  waiting.gauge({
    name: "heddle_rule_candidates_oldest_seconds",
    help: "Age of the oldest of them; 0 without one.",
    registers,
    values: ({ oldest }) => oldest,
  });
}
