/**
 * Metrics of the platform itself that alerts can watch. All but one are read from the databases that its processes
 * share, so they are exact over replicas; counters of single processes are for Prometheus. They have no past.
 */
import { countDeliveries } from "../../base/webhooks/sql.ts";
import { countFailedExports } from "../bulk-exports/sql.ts";
import type { TraceDeps } from "../deps.ts";
import { countWaiting } from "../ingest/sql.ts";
import { PROMPT_WEBHOOKS } from "../prompt-webhooks/sql.ts";
import { RULE_MESSAGES } from "../rule-actions/message-sql.ts";
import { measureCandidates } from "../rules/match-sql.ts";
import type { PlatformMetric } from "./definition.ts";
import { ALERT_MESSAGES } from "./message-sql.ts";

type Deps = Pick<TraceDeps, "sql" | "health" | "agentFigures">;

export interface Window {
  since: Date;
  until: Date;
}

async function sumDeliveries({ sql, agentFigures }: Deps, name: "pending" | "paused_receivers"): Promise<number> {
  const tables = [RULE_MESSAGES, PROMPT_WEBHOOKS, ALERT_MESSAGES, ...(agentFigures ? [agentFigures.webhooks] : [])];
  const counts = await Promise.all(tables.map((of) => countDeliveries(sql, of)));
  return counts.reduce((sum, count) => sum + count[name], 0);
}

const queue = async ({ sql, agentFigures }: Deps) => (await agentFigures?.queue(sql)) ?? { due: 0, oldest_due: 0 };

const READERS: Record<PlatformMetric, (deps: Deps, window: Window) => Promise<number>> = {
  "platform.queue_runs": async (deps) => (await queue(deps)).due,
  "platform.queue_oldest_seconds": async (deps) => (await queue(deps)).oldest_due,
  "platform.servers": async ({ sql, agentFigures }) => (await agentFigures?.servers(sql)) ?? 0,
  "platform.webhooks_pending": (deps) => sumDeliveries(deps, "pending"),
  "platform.webhook_receivers_paused": (deps) => sumDeliveries(deps, "paused_receivers"),
  "platform.ingest_waiting_updates": async ({ sql }) => (await countWaiting(sql)).count,
  "platform.ingest_waiting_seconds": async ({ sql }) => (await countWaiting(sql)).oldest,
  "platform.rules_waiting_seconds": async ({ sql }) => (await measureCandidates(sql)).oldest,
  "platform.exports_failed": ({ sql }, { since, until }) => countFailedExports(sql, since, until),
  "platform.failing_checks": async ({ health }) =>
    Object.values((await health.ready()).checks).filter((check) => !check.ok).length,
};

export const readPlatformMetric = (deps: Deps, name: PlatformMetric, window: Window): Promise<number> =>
  READERS[name](deps, window);
