import { monitorEventLoopDelay } from "node:perf_hooks";

import { expect, test } from "vitest";

import { modelServer } from "../../../test/model-server.ts";
import { randIndex, planted } from "../../../test/planted-topics.ts";
import { nameByTopic, sendTopicRuns, topicRuns } from "../../../test/topic-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { until } from "../../../test/until.ts";
import { uuid7 } from "../../base/ids.ts";
import { clusterInThread } from "./cluster-in-thread.ts";

test("clusters 10,000 vectors of 1,536 dimensions within 20 s and 400 MB, while the event loop is free", async () => {
  const { points, labels } = planted({ topics: 12, count: 10_000, noise: 1, columns: 1536 });
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const started = performance.now();
  const tree = await clusterInThread(points, {}, new AbortController().signal);
  const seconds = (performance.now() - started) / 1000;
  delay.disable();
  clearInterval(timer);
  const megabytes = (most - before + 4 * 1536 * 10_000) / 1024 / 1024;
  const pause = delay.max / 1e6;
  console.log(
    `10,000 x 1,536: ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB, longest pause ${pause.toFixed(0)} ms`,
  );
  expect(randIndex(labels, tree.leaves)).toBeGreaterThanOrEqual(0.9);
  expect(seconds).toBeLessThan(20);
  expect(megabytes).toBeLessThan(400);
});

test("a job over 10,000 runs", { timeout: 300_000 }, async () => {
  const provider = await modelServer();
  const { call } = await testTracePlatform({ HEDDLE_OUTBOUND_ALLOW: `127.0.0.1:${provider.port}` });
  provider.script = (asked) => nameByTopic(asked);
  const headers = { "x-test-workspace": uuid7() };
  const send = (method: string, path: string, body?: object) => call(method as "GET", path, body, headers);
  const { json: project } = await send("POST", "/sessions", { name: "shop" });
  await send("POST", "/workspaces/current/secrets", [{ key: "OPENAI_API_KEY", value: "sk-test-0123456789" }]);
  const settings = { base_url: `${provider.url}/v1` };
  await send("POST", "/models/connections", { name: "fake", provider: "openai", settings });
  await sendTopicRuns(call, topicRuns("shop", 10_000, { fails: (i) => i % 50 === 0 }), headers);
  const path = `/sessions/${project.id}/insights`;
  const body = { start_time: "2026-11-01T00:00:00Z", end_time: "2026-11-02T00:00:00Z", sample: 10_000 };
  const started = performance.now();
  const { json: job } = await send("POST", path, body);
  const read = async () => (await send("GET", `${path}/${job.id}`)).json;
  await until(async () => !["queued", "running"].includes((await read()).status), "the job has ended", 240);
  const ended = await read();
  console.log(`10,000 runs: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  expect(ended).toMatchObject({ state: "success", population: 10_000, sampled: 10_000, progress: { clusters: 5 } });
  expect(provider.embedded).toHaveLength(10_000);
});
