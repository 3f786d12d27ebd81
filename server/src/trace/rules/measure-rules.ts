import { Gauge, type Registry } from "prom-client";

import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { measureCandidates } from "./match-sql.ts";

/** Registers gauges of the runs that wait for the evaluation of rules, over all processes. */
export function measureRules(registry: Registry, { sql, log }: { sql: Sql; log: Log }): void {
  const registers = [registry];
  const waiting = new ScrapedMetrics({ name: "candidates of rules", log, read: () => measureCandidates(sql) });
  for (const [name, metric, help] of [
    ["heddle_rule_candidates", "count", "Runs that wait for the evaluation of rules, counted up to 100,000."],
    ["heddle_rule_candidates_oldest_seconds", "oldest", "Age of the oldest of them; 0 without one."],
  ] as const) {
    void new Gauge({
      name,
      help,
      registers,
      async collect() {
        const metrics = await waiting.get();
        this.reset();
        if (metrics) this.set(metrics[metric]);
      },
    });
  }
}
