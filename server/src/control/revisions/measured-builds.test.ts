import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { BuildError } from "../builds/build-error.ts";
import { measureBuilds } from "../builds/build-metrics.ts";
import { measured } from "./advance.ts";

test("builds are counted by their outcome, with their durations", async () => {
  const registry = new Registry();
  const deps = { measureBuild: measureBuilds(registry) };
  const interrupted = new AbortController();
  const signal = new AbortController().signal;
  await measured(deps, signal, () => Promise.resolve());
  await expect(measured(deps, signal, () => Promise.reject(new BuildError("no")))).rejects.toThrow("no");
  const ending = measured(deps, interrupted.signal, () => {
    interrupted.abort();
    return Promise.reject(new Error("stopped"));
  });
  await expect(ending).rejects.toThrow("stopped");
  const text = await registry.metrics();
  for (const outcome of ["succeeded", "failed", "interrupted"]) {
    expect(text).toContain(`heddle_builds_total{outcome="${outcome}"} 1\n`);
    expect(text).toContain(`heddle_build_duration_seconds_count{outcome="${outcome}"} 1\n`);
  }
});
