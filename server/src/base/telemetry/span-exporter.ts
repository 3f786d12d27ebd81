import type { Log } from "../log.ts";
import { RepeatedFailure } from "../repeated-failure.ts";

const FLUSH_MS = 2000;
const MAX_BATCH = 512;
/** Spans waiting for an endpoint that is unavailable; more are dropped. */
const MAX_WAITING = 8192;
/** Longest delay of the server's stop by its last spans. */
const LAST_MS = 2000;

export type AttributeValue = string | number | boolean;

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: "internal" | "server";
  /** Milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  attributes: Record<string, AttributeValue | undefined>;
  hasFailed: boolean;
}

export interface SpanExporterOptions {
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  /** Attributes of the resource that all spans are of. */
  resource: Record<string, AttributeValue>;
  version: string;
  log: Log;
  /** Interval between deliveries in milliseconds. */
  flushMs?: number;
}

/**
 * Sends spans as OTLP/HTTP in JSON (opentelemetry-proto, trace service), in batches and in the background. Spans are
 * lost rather than anything else delayed: beyond a bound they are dropped, and one batch at a time is sent.
 */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #failure: RepeatedFailure;
  readonly #timer: NodeJS.Timeout;
  #waiting: Span[] = [];
  #sending: Promise<boolean> | undefined;
  dropped = 0;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
    this.#failure = new RepeatedFailure({ log: options.log, message: "could not export spans" });
    this.#timer = setInterval(() => void this.#flush(), options.flushMs ?? FLUSH_MS).unref();
  }

  add(span: Span): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length === MAX_BATCH) void this.#flush();
  }

  /** Sends what is waiting, for a limited time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + LAST_MS;
    await this.#sending;
    while (this.#waiting.length > 0 && performance.now() < deadline) {
      if (!(await this.#flush(deadline - performance.now()))) return;
    }
  }

  /** @returns whether a batch was delivered; never rejects */
  #flush(timeoutMs = this.#options.timeoutMs): Promise<boolean> {
    if (this.#waiting.length === 0) return Promise.resolve(true);
    return (this.#sending ??= this.#send(timeoutMs).finally(() => (this.#sending = undefined)));
  }

  async #send(timeoutMs: number): Promise<boolean> {
    const batch = this.#waiting.splice(0, MAX_BATCH);
    const { url, headers } = this.#options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(this.#serialize(batch)),
        signal: AbortSignal.timeout(Math.max(1, Math.min(timeoutMs, this.#options.timeoutMs))),
        redirect: "error",
      });
      await response.body?.cancel();
      // a batch that is rejected once is rejected again (OTLP specification, failures)
      if (RETRYABLE.has(response.status)) throw new Error(`the endpoint answered ${response.status}`);
      if (!response.ok) {
        this.dropped += batch.length;
        this.#failure.failed(new Error(`the endpoint rejected them with ${response.status}`));
        return false;
      }
      this.#failure.succeeded();
      return true;
    } catch (error) {
      this.#failure.failed(error);
      const room = Math.max(0, MAX_WAITING - this.#waiting.length);
      this.dropped += Math.max(0, batch.length - room);
      this.#waiting.unshift(...batch.slice(0, room));
      return false;
    }
  }

  #serialize(spans: Span[]): object {
    const { resource, version } = this.#options;
    const scopeSpans = [{ scope: { name: "heddle", version }, spans: spans.map(serializeSpan) }];
    return { resourceSpans: [{ resource: { attributes: serializeAttributes(resource) }, scopeSpans }] };
  }
}

const RETRYABLE = new Set([429, 502, 503, 504]);
const KINDS = { internal: 1, server: 2 };
const ERROR = 2;

const serializeSpan = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId && { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: toNanos(span.startedAt),
  endTimeUnixNano: toNanos(span.endedAt),
  attributes: serializeAttributes(span.attributes),
  status: span.hasFailed ? { code: ERROR } : {},
});

const toNanos = (ms: number): string => `${Math.round(ms * 1000)}000`;

const serializeAttributes = (attributes: Record<string, AttributeValue | undefined>): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: serializeValue(value) }],
  );

function serializeValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
