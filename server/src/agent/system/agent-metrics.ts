import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import { ScrapedMetrics } from "../../base/scraped-metrics.ts";
import { countDeliveries } from "../../base/webhooks/sql.ts";
import type { AgentDeps } from "../deps.ts";
import type { ServerLease } from "../servers/server-lease.ts";
import { RUN_WEBHOOKS } from "../webhooks/sql.ts";
import { countWaits } from "../waits/sql.ts";
import { selectQueueDepth } from "./sql.ts";

const HOST_STATES = ["starting", "ready", "draining", "dead"] as const;

/** Registers the histogram of run durations. Graph ids come from langgraph.json, so labels are few. */
export function runDurations(registry: Registry): (graphId: string, outcome: string, seconds: number) => void {
  const histogram = new Histogram({
    name: "heddle_run_duration_seconds",
    help: "Time from the claim of a run to its final status, by graph and outcome.",
    labelNames: ["graph", "outcome"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 3600],
    registers: [registry],
  });
  return (graph, outcome, seconds) => histogram.observe({ graph, outcome }, seconds);
}

/** Registers gauges that are read at each scrape; they cost nothing in between. */
export function registerAgentMetrics(
  registry: Registry,
  deps: Pick<AgentDeps, "sql" | "hosts" | "queue" | "log" | "webhooks" | "crons" | "settings"> & {
    lease: Pick<ServerLease, "lost">;
  },
): void {
  const registers = [registry];
  const { sql, log } = deps;
  // never older than the scrape: the control plane scales by it
  const depth = new ScrapedMetrics({
    name: "the queue",
    log,
    keepMs: 0,
    staleMs: 0,
    read: () => selectQueueDepth(sql),
  });
  const deliveries = new ScrapedMetrics({
    name: "webhooks",
    log,
    keepMs: 2000,
    read: () => countDeliveries(sql, RUN_WEBHOOKS),
  });

  depth.gauge({
    name: "heddle_queue_oldest_seconds",
    help: "Waiting time of the oldest run that could start, over all servers.",
    registers,
    values: (metrics) => metrics.oldest_due,
  });
  depth.gauge({
    name: "heddle_queue_runs",
    help: "Runs in the queue of all servers: due, beyond a limit of flow control (concurrency_limit, throttled), later (not due yet), running.",
    registers,
    label: "state",
    values: ({ due, concurrency_limit, throttled, later, running }) => ({
      due,
      concurrency_limit,
      throttled,
      later,
      running,
    }),
  });
  const waits = new ScrapedMetrics({ name: "waits", log, keepMs: 2000, read: () => countWaits(sql) });
  waits.gauge({
    name: "heddle_waits_late_seconds",
    help: "Time since the oldest timer or signal that should have resumed its thread, over all servers.",
    registers,
    values: ({ late }) => late,
  });
  waits.gauge({
    name: "heddle_waits",
    help: "Waits of interrupted threads of all servers, by what ends them: timer, signal, or either.",
    registers,
    label: "for",
    values: ({ timer, signal, either }) => ({ timer, signal, either }),
  });
  void new Gauge({
    name: "heddle_server_runs",
    help: "Runs that this server is executing.",
    registers,
    collect() {
      this.set(deps.queue.activeCount);
    },
  });
  new Gauge({
    name: "heddle_server_slots",
    help: "Maximum number of concurrent runs of this server.",
    registers,
  }).set(deps.settings.jobs);
  void new Counter({
    name: "heddle_server_runs_total",
    help: "Runs of this server since its start, by outcome.",
    labelNames: ["event"],
    registers,
    collect() {
      this.reset();
      for (const [event, count] of Object.entries(deps.queue.counts)) this.inc({ event }, count);
    },
  });
  deliveries.gauge({
    name: "heddle_webhook_receivers_paused",
    help: "Webhook receivers that are paused because they failed, over all servers.",
    registers,
    values: (counts) => counts.paused_receivers,
  });
  deliveries.gauge({
    name: "heddle_webhooks_pending",
    help: "Webhooks waiting for delivery, over all servers.",
    registers,
    values: ({ pending }) => pending,
  });
  void new Counter({
    name: "heddle_webhook_attempts_total",
    help: "Webhook delivery attempts of this server, by outcome.",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(deps.webhooks.counts)) this.inc({ outcome }, count);
    },
  });
  void new Counter({
    name: "heddle_cron_occurrences_total",
    help: "Cron occurrences that this server handled: created a run, or skipped.",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(deps.crons.counts)) this.inc({ outcome }, count);
    },
  });
  void new Gauge({
    name: "heddle_graph_hosts",
    help: "Graph host processes by state.",
    labelNames: ["state"],
    registers,
    collect() {
      for (const state of HOST_STATES) {
        this.set({ state }, deps.hosts.all.filter((host) => host.state === state).length);
      }
    },
  });
  void new Gauge({
    name: "heddle_graph_hosts_busy",
    help: "Graph host processes that execute at least one run.",
    registers,
    collect() {
      this.set(deps.hosts.all.filter((host) => host.state !== "dead" && host.runs.size > 0).length);
    },
  });
  void new Counter({
    name: "heddle_graph_host_starts_total",
    help: "Graph host processes that this server has started.",
    registers,
    collect() {
      this.reset();
      this.inc(deps.hosts.counts.started);
    },
  });
  void new Counter({
    name: "heddle_graph_host_restarts_total",
    help: "Graph host processes that ended although they were needed, and were replaced.",
    registers,
    collect() {
      this.reset();
      this.inc(deps.hosts.counts.lost);
    },
  });
  void new Counter({
    name: "heddle_lease_losses_total",
    help: "Leases of servers that expired: this server's own, and those of others that this one took over.",
    labelNames: ["server"],
    registers,
    collect() {
      this.reset();
      for (const server of ["this", "other"] as const) this.inc({ server }, deps.lease.lost[server]);
    },
  });
  void new Gauge({
    name: "heddle_graph_hosts_resident_memory_bytes",
    help: "Resident memory of all graph hosts.",
    registers,
    collect() {
      this.set(deps.hosts.all.reduce((sum, host) => sum + host.rss, 0));
    },
  });
  void new Gauge({
    name: "heddle_graphs",
    help: "Declared graphs, by whether they loaded.",
    labelNames: ["loaded"],
    registers,
    collect() {
      const all = Object.values(deps.hosts.graphs ?? {});
      const loaded = all.filter((status) => status.ok).length;
      this.set({ loaded: "true" }, loaded);
      this.set({ loaded: "false" }, all.length - loaded);
    },
  });
}
