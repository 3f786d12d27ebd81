/**
 * Autoscaler of deployments whose `max_scale` exceeds their `min_scale`. A target must be stable: scaling up uses the
 * minimum of the targets of the last seconds, scaling down the maximum of the last minutes (as the stabilization
 * windows of the Kubernetes HorizontalPodAutoscaler). Only the resulting number is stored: after a restart the windows
 * begin empty.
 */
import { availableParallelism } from "node:os";

import { FairQueue } from "../../base/fair-queue.ts";
import type { Sql } from "../../base/db/connect.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { Log } from "../../base/log.ts";
import { setScale } from "../deployments/sql.ts";
import { insertLogs } from "../logs/sql.ts";
import { askInstance } from "./ask-instance.ts";
import { type ScalableRow, scalableDeployments } from "./sql.ts";
import type { Lead } from "../leadership/leadership.ts";
import type { Supervisor } from "./supervisor.ts";
import { type Load, maxScale, minScale, replicaTarget, wantedReplicas } from "./wanted-replicas.ts";

const AT_ONCE = 8;
const ASK_MS = 2_000;

export interface ScalerOptions {
  sql: Sql;
  log: Log;
  supervisor: Supervisor;
  lead: Lead;
  settings: { scaleSeconds: number; scaleUpSeconds: number; scaleDownSeconds: number };
}

interface ScaleTarget {
  at: number;
  replicas: number;
}

export class Scaler {
  readonly #options: ScalerOptions;
  /** Recent targets by revision. */
  readonly #wishes = new Map<string, ScaleTarget[]>();
  readonly #poller: Poller;

  constructor(options: ScalerOptions) {
    this.#options = options;
    const { log, settings } = options;
    const failing = "could not scale deployments; will retry";
    this.#poller = new Poller({ pass: () => this.#scaleAll(), everyMs: settings.scaleSeconds * 1000, log, failing });
  }

  /** Starts with the leader's term. */
  start(): void {
    if (this.#options.settings.scaleSeconds === 0) return;
    this.#wishes.clear();
    this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #scaleAll(): Promise<void> {
    if (!(await this.#options.lead.confirm())) return;
    const rows = await scalableDeployments(this.#options.sql);
    const known = new Set(rows.map((row) => row.revision_id));
    for (const id of this.#wishes.keys()) if (!known.has(id)) this.#wishes.delete(id);
    const limit = new FairQueue({ capacity: AT_ONCE });
    await Promise.all(rows.map((row) => limit.run(() => this.#scale(row))));
  }

  async #scale(row: ScalableRow): Promise<void> {
    const { sql } = this.#options;
    const now = replicaTarget(row);
    const load = await this.#load(row, now);
    if (!load) return;
    // no further scale-up while some replicas are still starting, or fail to start
    const max = load.replicas < now ? now : maxScale(row);
    const wish = Math.min(max, Math.max(minScale(row), wantedReplicas(load)));
    const next = this.#next(row.revision_id, now, wish);
    if (next === now || !(await this.#options.lead.confirm())) return;
    if (!(await setScale(sql, row.deployment_id, row.revision_id, next))) return;
    const target = { deploymentId: row.deployment_id, revisionId: row.revision_id, kind: "deploy" } as const;
    const message = `Scaled from ${now} to ${next} replicas: ${describe(load)}.`;
    await insertLogs(sql, target, [{ at: new Date(), level: "INFO", message }]);
  }

  /** Returns the target that was stable for long enough. */
  #next(revisionId: string, now: number, wish: number): number {
    const { scaleUpSeconds, scaleDownSeconds } = this.#options.settings;
    const at = performance.now();
    const wishes = [...(this.#wishes.get(revisionId) ?? []), { at, replicas: wish }];
    const longest = Math.max(scaleUpSeconds, scaleDownSeconds) * 1000;
    // an entry older than the window shows that the window is complete
    const from = wishes.findLastIndex((wish) => at - wish.at >= longest);
    this.#wishes.set(revisionId, wishes.slice(Math.max(0, from)));
    const within = (seconds: number): number[] | null => {
      const begin = wishes.findLastIndex((wish) => at - wish.at >= seconds * 1000);
      return begin === -1 ? null : wishes.slice(begin).map((wish) => wish.replicas);
    };
    const more = Math.min(...(within(scaleUpSeconds) ?? [now]));
    const fewer = Math.max(...(within(scaleDownSeconds) ?? [now]));
    return more > now ? more : fewer < now ? fewer : now;
  }

  async #load(row: ScalableRow, replicas: number): Promise<Load | null> {
    const { supervisor } = this.#options;
    const ready = supervisor.instancesOf(row.revision_id).filter((instance) => instance.row.state === "ready");
    // none is ready, or some are about to stop: the load is not representative
    if (ready.length === 0 || ready.length > replicas) return null;
    const usages = await Promise.all(ready.map((instance) => supervisor.usage(instance.row.id)));
    const percents = usages.map((usage) => usage?.cpu_percent ?? null);
    return {
      replicas: ready.length,
      queue: await fetchQueue(ready[0]!.row.port),
      cpuPercent: percents.includes(null) ? null : percents.reduce<number>((sum, value) => sum + value!, 0),
      cpu: row.source_config.resource_spec?.cpu ?? 1,
      cores: availableParallelism(),
    };
  }
}

function describe({ queue, cpuPercent }: Load): string {
  const runs = queue === null ? [] : [`${queue.running} runs running, ${queue.due} waiting`];
  const cpu = cpuPercent === null ? [] : [`CPU usage is ${Math.round(cpuPercent)} % of one core`];
  return [...runs, ...cpu].join(", ");
}

interface Metric {
  name: string;
  values: { value: number; labels: Record<string, string> }[];
}

/** Reads the queue of all replicas, which each of them reports; null when the server does not. Never throws. */
async function fetchQueue(port: number): Promise<Load["queue"]> {
  const answer = await askInstance({ host: "127.0.0.1", port, path: "/metrics?format=json" }, ASK_MS);
  try {
    const metrics = JSON.parse(answer?.text ?? "") as Metric[];
    const read = (name: string, state?: string) =>
      metrics
        .find((metric) => metric.name === name)
        ?.values.find((value) => state === undefined || value.labels["state"] === state)?.value;
    const [due, running] = [read("heddle_queue_runs", "due"), read("heddle_queue_runs", "running")];
    const slots = read("heddle_server_slots");
    return due === undefined || running === undefined || slots === undefined ? null : { due, running, slots };
  } catch {
    return null;
  }
}
