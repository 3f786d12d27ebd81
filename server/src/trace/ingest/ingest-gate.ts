import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import { AppError } from "../../base/errors.ts";
import { BodyGate, type BodyGateOptions } from "../../base/http/body-gate.ts";
import type { TenantBody } from "../../base/http/held-body.ts";
import { type BodyLimit, checkLength } from "../../base/http/read-body.ts";

/** Assumed size of a request of unknown length until it has been read. */
const ASSUMED_BYTES = 1024 * 1024;
/** Assumed expansion of a compressed body. */
const ASSUMED_RATIO = 6;
/**
 * Weight of a byte, for elements when they are decoded: up to three in traces of LangGraph. The budget counts bytes, and
 * is chosen for what they usually take in memory.
 */
const USUAL_WEIGHT = 4;
const MAX_WAIT_MS = 10_000;

export type IngestGateOptions = BodyGateOptions & { registry: Registry };

/**
 * Gate of the bodies of traces, from the first byte to the durable row. A request reserves its expected need before its
 * body is read, and gets 429 when there is no room for it. No data of a rejected request was acknowledged.
 */
export class IngestGate {
  readonly #bodies: BodyGate;
  readonly #durations: Histogram;
  /** Arrival times of the requests in progress, oldest first. */
  readonly #arrivals = new Set<{ at: number }>();

  constructor({ registry, ...options }: IngestGateOptions) {
    const registers = [registry];
    const rejected = new Counter({
      name: "heddle_ingest_refused_total",
      help: "Ingest requests that got 429 because too many bytes were in flight.",
      registers,
    });
    const reject = () => {
      rejected.inc();
      return new AppError(429, "Too many traces are being received. Try again later.", {
        headers: { "Retry-After": "2" },
      });
    };
    const rules = { usualWeight: USUAL_WEIGHT, reserves: true, waitMs: MAX_WAIT_MS, reject };
    this.#bodies = new BodyGate({ ...options, ...rules });
    const bytes: Gauge = new Gauge({
      name: "heddle_ingest_bytes",
      help: "Bytes of traces that were received but are not stored yet.",
      registers,
      collect: () => bytes.set(this.#bodies.used),
    });
    this.#durations = new Histogram({
      name: "heddle_ingest_request_duration_seconds",
      help: "Time from the arrival of traces until they were durable and visible to queries.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    const oldest: Gauge = new Gauge({
      name: "heddle_ingest_oldest_seconds",
      help: "Age of the oldest request whose traces are not stored yet; 0 without one.",
      registers,
      collect: () => {
        const [first] = this.#arrivals;
        oldest.set(first ? (performance.now() - first.at) / 1000 : 0);
      },
    });
  }

  /** Runs `work` with the body of a request, which it reads and stores. @throws 413 for one declared too large */
  async admit<T>(
    headers: Headers,
    limit: BodyLimit,
    work: (body: TenantBody) => Promise<T>,
    tenantId = "",
  ): Promise<T> {
    checkLength(headers, limit);
    const arrival = { at: performance.now() };
    this.#arrivals.add(arrival);
    try {
      const result = await this.#bodies.admit(expectedBytes(headers), work, tenantId);
      this.#durations.observe((performance.now() - arrival.at) / 1000);
      return result;
    } finally {
      this.#arrivals.delete(arrival);
    }
  }
}

function expectedBytes(headers: Headers): number {
  const length = Number(headers.get("content-length") ?? ASSUMED_BYTES);
  return length * (headers.has("content-encoding") ? ASSUMED_RATIO : 1);
}
