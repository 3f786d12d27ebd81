import { randomBytes } from "node:crypto";

import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";

import { ConfigError, type Options } from "../config/options.ts";
import type { Log } from "../log.ts";
import { readVersion } from "../version.ts";
import type { telemetryOptions } from "./settings.ts";
import { type Span, SpanExporter } from "./span-exporter.ts";
import { formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";

type TelemetrySettings = Options<typeof telemetryOptions>;

/**
 * Heddle's own spans. They continue the trace that a request names (W3C Trace Context), or begin one. Requests that
 * would only observe the observation have none: probes, metrics, and traces that are sent to the trace platform, which
 * may be the one that gets these spans.
 */
export class Telemetry {
  readonly #exporter: SpanExporter;
  readonly #samples: (parent: TraceContext | undefined, traceId: string) => boolean;

  constructor(exporter: SpanExporter, samples: (parent: TraceContext | undefined, traceId: string) => boolean) {
    this.#exporter = exporter;
    this.#samples = samples;
  }

  /** Continues the trace of `parent`, or begins one. */
  begin(parent: TraceContext | undefined): TraceContext {
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    return { traceId, spanId: newSpanId(), isSampled: this.#samples(parent, traceId) };
  }

  /** Records a span that has ended, unless its trace is not sampled. */
  record(
    context: TraceContext,
    parent: TraceContext | undefined,
    span: Omit<Span, "traceId" | "spanId" | "parentSpanId">,
  ): void {
    if (!context.isSampled) return;
    const { traceId, spanId } = context;
    this.#exporter.add({ ...span, traceId, spanId, parentSpanId: parent?.spanId });
  }

  stop(): Promise<void> {
    return this.#exporter.stop();
  }
}

const newSpanId = (): string => randomBytes(8).toString("hex");

/** Returns undefined unless an endpoint is configured. @throws ConfigError for a protocol that is not supported */
export function startTelemetry(settings: TelemetrySettings, log: Log, role: string): Telemetry | undefined {
  const { otlpEndpoint: base, otlpTracesEndpoint: exact } = settings;
  const url = exact ?? (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  if (url === undefined) return undefined;
  if (settings.otlpProtocol === "grpc") {
    throw new ConfigError(
      "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and Heddle sends its spans over HTTP. Set http/json and an HTTP endpoint.",
    );
  }
  const version = readVersion();
  const exporter = new SpanExporter({
    url,
    headers: settings.otlpHeaders,
    timeoutMs: settings.otlpTimeoutMs,
    resource: {
      ...settings.otelResourceAttributes,
      "service.name": settings.otelServiceName ?? settings.otelResourceAttributes["service.name"] ?? `heddle-${role}`,
      "service.version": version,
    },
    version,
    log,
  });
  return new Telemetry(exporter, createSampler(settings));
}

function createSampler({
  otelSampler: sampler,
  otelSamplerArg: ratio,
}: TelemetrySettings): (parent: TraceContext | undefined, traceId: string) => boolean {
  const byRoot = (traceId: string): boolean => {
    if (sampler.endsWith("always_on")) return true;
    if (sampler.endsWith("always_off")) return false;
    // the same decision in every process of a trace
    return Number.parseInt(traceId.slice(-12), 16) < ratio * 2 ** 48;
  };
  return (parent, traceId) => (parent && sampler.startsWith("parentbased") ? parent.isSampled : byRoot(traceId));
}

const UNTRACED = /^(\/api(\/v1|-host)?|\/v1)?\/(livez|readyz|ready|ok|metrics|otel)\b|\/v1\/traces$/;

/**
 * Records a span for each request, until its response's headers are ready. Handlers see the span as the request's
 * `traceparent`, as behind a proxy.
 */
export function traceRequests(telemetry: Telemetry): MiddlewareHandler {
  return async (c, next) => {
    if (UNTRACED.test(c.req.path)) return next();
    const { headers } = c.req.raw;
    const parent = parseTraceparent(headers.get("traceparent"));
    const context = telemetry.begin(parent);
    headers.set("traceparent", formatTraceparent(context));
    const startedAt = Date.now();
    const clock = performance.now();
    await next();
    const route = routePath(c, -1);
    const isKnown = !route.includes("*");
    telemetry.record(context, parent, {
      name: isKnown ? `${c.req.method} ${route}` : c.req.method,
      kind: "server",
      startedAt,
      endedAt: startedAt + performance.now() - clock,
      hasFailed: c.res.status >= 500,
      attributes: {
        "http.request.method": c.req.method,
        "http.route": isKnown ? route : undefined,
        "http.response.status_code": c.res.status,
        "heddle.request_id": c.res.headers.get("x-request-id") ?? undefined,
      },
    });
  };
}
