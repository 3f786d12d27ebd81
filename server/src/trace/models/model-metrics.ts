import { Counter, Histogram, type Registry } from "prom-client";

import type { ErrorKind } from "./model-error.ts";
import type { ProviderId } from "./providers.ts";

export interface ModelMetrics {
  /** Counts a call that ended; `outcome`: success, or the kind of the error. */
  called(call: { provider: ProviderId; outcome: ErrorKind | "success"; seconds: number }): void;
  used(provider: ProviderId, tokens: { input: number; output: number }): void;
}

/** Registers the metrics of calls to models. */
export function measureModels(registry: Registry): ModelMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: "heddle_model_calls_total",
    help: "Calls to models that ended, by provider and outcome: success, or the kind of the error.",
    labelNames: ["provider", "outcome"],
    registers,
  });
  const tokens = new Counter({
    name: "heddle_model_tokens_total",
    help: "Tokens of calls to models as reported by the providers, by provider and direction: input, output.",
    labelNames: ["provider", "direction"],
    registers,
  });
  const durations = new Histogram({
    name: "heddle_model_call_duration_seconds",
    help: "Duration of calls to models, by provider.",
    labelNames: ["provider"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers,
  });
  return {
    called({ provider, outcome, seconds }) {
      calls.inc({ provider, outcome });
      durations.observe({ provider }, seconds);
    },
    used(provider, { input, output }) {
      tokens.inc({ provider, direction: "input" }, input);
      tokens.inc({ provider, direction: "output" }, output);
    },
  };
}
