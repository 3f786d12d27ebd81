import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Deployments with their own series; requests of further ones count as "other". */
const MAX_DEPLOYMENTS = 100;
/** Label of requests to no deployment. */
const NONE = "none";
const OTHER = "other";

interface Series {
  /** Requests by class of their status. */
  requests: Map<string, number>;
  inFlight: number;
  openStreams: number;
}

/** One request on its way through the gateway. */
export interface ObservedRequest {
  /** Call when the headers of the response are known, at most once. */
  answered(status: number, isStream: boolean): void;
  /** Call when the request is over, at most once. */
  ended(): void;
}

/**
 * Metrics of requests to deployments. The label is a deployment's id, not its name: `/metrics` needs no key. Series of
 * deleted deployments are dropped at a scrape.
 */
export class GatewayMetrics {
  readonly #series = new Map<string, Series>();
  readonly #duration: Histogram<"deployment">;
  readonly #exists: (deploymentId: string) => boolean;

  constructor(registry: Registry, exists: (deploymentId: string) => boolean) {
    this.#exists = exists;
    const registers = [registry];
    const series = this.#series;
    this.#duration = new Histogram({
      name: "heddle_gateway_request_duration_seconds",
      help: "Time until a deployment's response headers were known, by deployment id.",
      labelNames: ["deployment"],
      buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30],
      registers,
      // the first metric that is collected
      collect: () => this.#forgetDeleted(),
    });
    void new Counter({
      name: "heddle_gateway_requests_total",
      help: "Requests to deployments, by deployment id and class of the status; aborted: the caller left before.",
      labelNames: ["deployment", "status"],
      registers,
      collect() {
        this.reset();
        for (const [deployment, { requests }] of series)
          for (const [status, count] of requests) this.inc({ deployment, status }, count);
      },
    });
    void new Gauge({
      name: "heddle_gateway_in_flight_requests",
      help: "Requests to deployments that are in progress, including open streams.",
      labelNames: ["deployment"],
      registers,
      collect() {
        this.reset();
        for (const [deployment, { inFlight }] of series) this.set({ deployment }, inFlight);
      },
    });
    void new Gauge({
      name: "heddle_gateway_open_streams",
      help: "Open event streams and WebSockets of deployments.",
      labelNames: ["deployment"],
      registers,
      collect() {
        this.reset();
        for (const [deployment, { openStreams }] of series) this.set({ deployment }, openStreams);
      },
    });
  }

  /** @param deploymentId undefined for a request to no deployment */
  begin(deploymentId: string | undefined): ObservedRequest {
    const label = this.#label(deploymentId);
    const series = this.#of(label);
    const startedAt = performance.now();
    let status = "aborted";
    let isOpenStream = false;
    let isOver = false;
    series.inFlight += 1;
    return {
      answered: (code, isStream) => {
        if (isOver) return;
        status = `${Math.floor(code / 100)}xx`;
        this.#duration.observe({ deployment: label }, (performance.now() - startedAt) / 1000);
        if (isStream) series.openStreams += 1;
        isOpenStream = isStream;
      },
      ended: () => {
        if (isOver) return;
        isOver = true;
        series.inFlight -= 1;
        if (isOpenStream) series.openStreams -= 1;
        series.requests.set(status, (series.requests.get(status) ?? 0) + 1);
      },
    };
  }

  #label(deploymentId: string | undefined): string {
    if (deploymentId === undefined) return NONE;
    return this.#series.has(deploymentId) || this.#series.size < MAX_DEPLOYMENTS ? deploymentId : OTHER;
  }

  #of(label: string): Series {
    const known = this.#series.get(label);
    if (known) return known;
    const series = { requests: new Map<string, number>(), inFlight: 0, openStreams: 0 };
    this.#series.set(label, series);
    return series;
  }

  #forgetDeleted(): void {
    for (const [deployment, { inFlight }] of this.#series) {
      if (inFlight > 0 || deployment === NONE || deployment === OTHER || this.#exists(deployment)) continue;
      this.#series.delete(deployment);
      this.#duration.remove({ deployment });
    }
  }
}
