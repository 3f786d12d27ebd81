/** Hosts killed from outside before they are ready are not evidence against the project. Real hosts, real signals. */
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

test("runs wait for a host, however many are killed while they start", { timeout: 90_000 }, async () => {
  const { agent, call } = await testAgentServer({ HEDDLE_HOSTS: "1", HEDDLE_LOG_LEVEL: "fatal" });
  const { hosts } = agent.deps;
  const killed = new Set<number>();
  // the first hosts, and their replacements
  const kill = () => {
    for (const { pid, state } of hosts.all) {
      if (pid === undefined || killed.has(pid) || state === "dead") continue;
      killed.add(pid);
      process.kill(pid, "SIGKILL");
    }
  };
  while (killed.size < 5) {
    kill();
    await sleep(5);
  }
  expect(hosts.runnable.length).toBeGreaterThan(0);
  const { status } = await call("POST", "/runs/wait", { assistant_id: hosts.runnable[0], input: {} });
  expect(status).toBe(200);
});
