/**
 * Sends the metrics of this agent server to the trace platform that receives its traces, which keeps their history for
 * charts (trace/agent-metrics). What a killed server has not sent yet, at most half a minute, is lost.
 */
import type { TraceDestination } from "../../../../host-kit/src/host-protocol.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { selectQueueDepth } from "../system/sql.ts";
import { MinuteReadings, type Reading } from "./minute-readings.ts";

const EVERY_MS = 30_000;
/** After an answer of a platform that does not take metrics. */
const REFUSED_MS = 3_600_000;
const LIMIT_MS = 10_000;
const LAST_LIMIT_MS = 2_000;
const MAX_READINGS = 2_000;

export interface MetricHistoryOptions {
  sql: Sql;
  log: Log;
  serverId: string;
  /** Name of the tracing project. */
  project(): string;
  traces(): TraceDestination;
  /** Counts of this process since its start, by outcome. */
  counts(): Record<"cron" | "webhook", Readonly<Record<string, number>>>;
}

export class MetricHistory {
  readonly #o: MetricHistoryOptions;
  readonly #readings = new MinuteReadings();
  readonly #poller: Poller;
  /** Counts of this process that are in the readings. */
  readonly #counted = new Map<string, number>();
  #refusedUntil = 0;

  constructor(options: MetricHistoryOptions) {
    this.#o = options;
    const failing = "could not send metrics to the trace platform; will retry";
    this.#poller = new Poller({ pass: () => this.flush(), everyMs: EVERY_MS, log: options.log, failing });
  }

  start(): void {
    this.#poller.start(EVERY_MS);
  }

  /** Sends the rest. */
  async stop(): Promise<void> {
    const { isStarted } = this.#poller;
    await this.#poller.stop();
    if (!isStarted) return;
    this.#count();
    await this.#send(LAST_LIMIT_MS).catch(() => {});
  }

  runStarted({ graphId, assistantId }: RunLabels, waitedSeconds: number): void {
    this.#readings.event({ kind: "wait", graph: graphId ?? "", assistant: assistantId }, waitedSeconds);
  }

  runEnded({ graphId, assistantId }: RunLabels, status: string, seconds: number): void {
    this.#readings.event({ kind: "run", graph: graphId ?? "", assistant: assistantId, status }, seconds);
  }

  /** Sends what has changed now. */
  async flush(): Promise<void> {
    if (this.#o.traces().state === "off") return;
    const { due, oldest_due } = await selectQueueDepth(this.#o.sql);
    this.#readings.peak({ kind: "queue" }, due, oldest_due);
    this.#count();
    await this.#send(LIMIT_MS);
  }

  #count(): void {
    const all = this.#o.counts();
    for (const kind of ["cron", "webhook"] as const) {
      for (const [status, count] of Object.entries(all[kind])) {
        const key = `${kind} ${status}`;
        this.#readings.add({ kind, status }, count - (this.#counted.get(key) ?? 0));
        this.#counted.set(key, count);
      }
    }
  }

  async #send(limitMs: number): Promise<void> {
    const to = this.#o.traces();
    if (to.state !== "on" || performance.now() < this.#refusedUntil) return;
    const { readings, confirm } = this.#readings.unsent();
    for (let i = 0; i < readings.length; i += MAX_READINGS) {
      await this.#post(to, readings.slice(i, i + MAX_READINGS), limitMs);
    }
    confirm();
  }

  async #post(to: TraceDestination & { state: "on" }, readings: Reading[], limitMs: number): Promise<void> {
    const response = await fetch(`${to.url}/agent-metrics`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(to.key !== null && { "x-api-key": to.key }) },
      body: JSON.stringify({ project: this.#o.project(), server_id: this.#o.serverId, readings }),
      signal: AbortSignal.timeout(limitMs),
    });
    await response.body?.cancel();
    if (response.ok) return;
    const { status } = response;
    if (status === 429 || status >= 500) throw new Error(`the trace platform responded with status ${status}`);
    // another product, an older version, or a key that may not send
    this.#refusedUntil = performance.now() + REFUSED_MS;
    this.#o.log.info({ status }, "the trace platform does not take the metrics of agent servers");
  }
}

interface RunLabels {
  graphId: string | null;
  assistantId: string;
}
