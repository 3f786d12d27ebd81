/** Hosts killed from outside before they are ready are not evidence against the project. Real hosts, real signals. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";

test("runs wait for a host, however many hosts are killed during their start", { timeout: 90_000 }, async () => {
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

/** Graph hosts that this process has started. */
function ownHosts(): number[] {
  const tasks = readdirSync("/proc/self/task").map((task) => `/proc/self/task/${task}/children`);
  const children = tasks.flatMap((file) => readFileSync(file, "utf8").trim().split(" ").filter(Boolean));
  const isHost = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("graph-host/preload.mjs");
  return children.filter(isHost).map(Number);
}

test("killing a host while the server waits for its lease does not end the server", async () => {
  const db = await testDatabase();
  const before = ownHosts();
  let starting: ReturnType<typeof testAgentServer> | undefined;
  await db.sql.begin(async (tx) => {
    await tx`lock table servers in exclusive mode`;
    starting = testAgentServer({ HEDDLE_HOSTS: "1", HEDDLE_LOG_LEVEL: "fatal" }, undefined, { db });
    const started = () => ownHosts().filter((pid) => !before.includes(pid));
    await vi.waitUntil(() => started().length > 0, { timeout: 30_000 });
    const [pid] = started();
    process.kill(pid!, "SIGKILL");
    await vi.waitUntil(() => !started().includes(pid!));
    // what the server does about it
    await sleep(500);
  });
  const { agent, call } = await starting!;
  await vi.waitUntil(() => agent.deps.hosts.runnable.length > 0, { timeout: 30_000 });
  const [assistant] = agent.deps.hosts.runnable;
  expect((await call("POST", "/runs/wait", { assistant_id: assistant, input: {} })).status).toBe(200);
}, 90_000);
