import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** Metrics served at `/metrics`. Labels have low cardinality: routes as declared, never paths as requested. */
export interface Metrics {
  registry: Registry;
  requestSeconds: Histogram<"method" | "route" | "status">;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  // the default of 10 ms wakes an idle process a hundred times a second
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const requestSeconds = new Histogram({
    name: "heddle_http_request_duration_seconds",
    help: "Time until the response headers were ready, by route.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return { registry, requestSeconds };
}

export function measureRequests({ requestSeconds }: Metrics): MiddlewareHandler {
  return async (c, next) => {
    const started = performance.now();
    await next();
    // the last matching route is the endpoint; a middleware's own pattern means that none matched
    const route = routePath(c, -1);
    const labels = { method: c.req.method, route: route.includes("*") ? "none" : route, status: String(c.res.status) };
    requestSeconds.observe(labels, (performance.now() - started) / 1000);
  };
}
