import { Counter, Gauge, type Registry } from "prom-client";

import { RedisWindows } from "../../base/rate-limits/redis-windows.ts";
import type { RateLimits } from "./rate-limits.ts";

/**
 * Registers the metrics. They are collected on scrape, because counting through the library costs more than the limits.
 */
export function measureRateLimits(limits: RateLimits, registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: "heddle_rate_limit_requests_total",
    help: "Requests by the rate limit that counted them; outcome is allowed, refused or, in a dry run, would-refuse.",
    labelNames: ["row", "outcome"],
    registers,
    collect() {
      this.reset();
      const rejected = limits.mode === "dry-run" ? "would-refuse" : "refused";
      for (const [row, count] of limits.allowed) this.inc({ row, outcome: "allowed" }, count);
      for (const [row, count] of limits.rejected) this.inc({ row, outcome: rejected }, count);
    },
  });
  const simple: [name: string, help: string, value: () => number][] = [
    ["buckets", "Counters in this server's memory.", () => limits.local.size],
    [
      "evicted_total",
      "Counters evicted before the end of their window, for lack of space.",
      () => limits.local.evicted,
    ],
    ["wrong_settings", "Invalid settings of rate limits, for which the default applies.", () => limits.problems.length],
  ];
  const { windows } = limits;
  if (windows instanceof RedisWindows) {
    simple.push(
      [
        "redis_up",
        "Whether servers share counters: 1, or 0 while each counts on its own.",
        () => +!windows.isUnavailable,
      ],
      [
        "local_total",
        "Requests that this server counted on its own because Redis was unavailable.",
        () => windows.fellBack,
      ],
    );
  }
  for (const [name, help, value] of simple) {
    new Gauge({
      name: `heddle_rate_limit_${name}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  }
}
