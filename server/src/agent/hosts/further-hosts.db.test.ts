import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

test("further hosts start after the first runs, at the latest two seconds after the first host", async () => {
  const { call, agent } = await testAgentServer({ HEDDLE_HOSTS: "2" });
  const { hosts } = agent.deps;
  const { thread_id: thread } = (await call("POST", "/threads", {})).json;
  await call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: {} });
  await vi.waitUntil(() => hosts.all.some((host) => host.usable), { timeout: 30_000, interval: 5 });
  const began = performance.now();
  await vi.waitUntil(() => hosts.counts.started > 1, { timeout: 10_000, interval: 5 });
  // without a run, a quarter of a second
  expect(performance.now() - began).toBeGreaterThan(800);
  expect(hosts.all.some((host) => host.runs.size > 0)).toBe(true);
  await call("POST", "/runs/cancel", { status: "all" });
  await vi.waitUntil(() => hosts.all.filter((host) => host.usable).length === 3, { timeout: 30_000 });
});
