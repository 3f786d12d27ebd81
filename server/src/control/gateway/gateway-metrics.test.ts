import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { GatewayMetrics } from "./gateway-metrics.ts";

test("deployments beyond the bound share a label", async () => {
  const registry = new Registry();
  const metrics = new GatewayMetrics(registry, () => true);
  for (let n = 0; n < 150; n++) {
    const observed = metrics.begin(`deployment-${n}`);
    observed.answered(200, false);
    observed.ended();
  }
  const text = await registry.metrics();
  expect(text.match(/^heddle_gateway_in_flight_requests\{/gm)).toHaveLength(101);
  expect(text).toContain('heddle_gateway_requests_total{deployment="other",status="2xx"} 50\n');
  expect(text).toContain('heddle_gateway_request_duration_seconds_count{deployment="other"} 50\n');
});

test("a caller that leaves before the response is counted once, as aborted", async () => {
  const registry = new Registry();
  const observed = new GatewayMetrics(registry, () => true).begin("a");
  observed.ended();
  observed.answered(200, true);
  observed.ended();
  const text = await registry.metrics();
  expect(text).toContain('heddle_gateway_requests_total{deployment="a",status="aborted"} 1\n');
  expect(text).toContain('heddle_gateway_in_flight_requests{deployment="a"} 0\n');
  expect(text).toContain('heddle_gateway_open_streams{deployment="a"} 0\n');
});
