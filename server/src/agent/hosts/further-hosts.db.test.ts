import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

test("further hosts start after the first runs, at the latest two seconds after the first host", async () => {
  const { call, agent } = await testAgentServer({ HEDDLE_HOSTS: "2" });
  const { hosts } = agent.deps;
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: {} });
  const isRunning = () => hosts.all.some((host) => host.runs.size > 0);
  await vi.waitUntil(isRunning, { timeout: 30_000 });
  const began = performance.now();
  expect(hosts.counts.started).toBe(1);
  await vi.waitUntil(() => hosts.counts.started > 1, { timeout: 10_000 });
  expect(performance.now() - began).toBeGreaterThan(1000);
  expect(isRunning()).toBe(true);
  await call("POST", "/runs/cancel", { status: "all" });
  await vi.waitUntil(() => hosts.all.filter((host) => host.usable).length === 3, { timeout: 30_000 });
});
