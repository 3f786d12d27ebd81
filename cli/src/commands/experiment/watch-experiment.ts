import { setTimeout as sleep } from "node:timers/promises";

import type { TraceApi } from "../../core/trace-api.ts";
import { RejectedError } from "../../core/reach.ts";
import { type Job, readJob } from "./experiment-api.ts";
import { formatNumber } from "./gate.ts";

const WIDTH = 24;
/** Longest outage to wait out: an experiment is resumed when the platform is restarted. */
const MAX_AWAY_MS = 5 * 60_000;
/** Interval of lines where the output is no terminal. */
const LINE_MS = 15_000;

/** The user pressed Ctrl-C; the experiment continues. */
export class Detached extends Error {
  override name = "Detached";
}

/**
 * Shows the progress until the experiment has ended: a bar on a terminal, a line now and then elsewhere.
 * @throws Detached after Ctrl-C
 */
export async function watchExperiment(api: TraceApi, id: string): Promise<Job> {
  const controller = new AbortController();
  const onSignal = () => controller.abort();
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  const { isTTY } = process.stderr;
  let [answeredAt, shownAt] = [performance.now(), Number.NEGATIVE_INFINITY];
  try {
    for (;;) {
      const job = await readJob(api, id).catch((error: unknown) => {
        if (error instanceof RejectedError || performance.now() - answeredAt > MAX_AWAY_MS) throw error;
        return undefined;
      });
      if (job) {
        answeredAt = performance.now();
        const isOver = job.status !== "pending" && job.status !== "running";
        if (isTTY) process.stderr.write(`\r\x1b[K${progressLine(job).slice(0, (process.stderr.columns ?? 120) - 1)}`);
        else if (isOver || performance.now() - shownAt > LINE_MS) {
          shownAt = performance.now();
          process.stderr.write(`${progressLine(job)}\n`);
        }
        if (isOver) return job;
      }
      const pauseMs = Math.min(5000, 500 + (job?.progress.total ?? 0) / 10);
      await sleep(pauseMs, undefined, { signal: controller.signal }).catch(() => {
        throw new Detached();
      });
    }
  } finally {
    if (isTTY) process.stderr.write("\n");
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

export function progressLine({ status, progress, scores, latency_ms, cost_usd, judge_cost_usd }: Job): string {
  const { total, done, failed, judge_failures: unjudged, seconds_left: left } = progress;
  const filled = Math.round((done / total) * WIDTH);
  const parts = [`[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${done}/${total} ${status}`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (unjudged > 0) parts.push(`${unjudged} without a judgement`);
  for (const [key, { mean }] of Object.entries(scores).slice(0, 3)) {
    if (mean !== null) parts.push(`${key} ${formatNumber(mean)}`);
  }
  if (latency_ms.p95 !== null) parts.push(`p95 ${(latency_ms.p95 / 1000).toFixed(1)} s`);
  const cost = Number(cost_usd ?? 0) + Number(judge_cost_usd ?? 0);
  if (cost > 0) parts.push(`${formatNumber(cost)} USD`);
  if (left !== null) parts.push(left > 90 ? `~${Math.round(left / 60)} min left` : `~${left} s left`);
  return parts.join(", ");
}
