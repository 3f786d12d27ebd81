import { expect, test, vi } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";

const { call, agent } = await testAgentServer({ HEDDLE_HOSTS: "2" });
const { hosts } = agent.deps;

const newThread = async (): Promise<string> => (await call("POST", "/threads", {})).json.thread_id;
/** Runs a graph that notes its process. */
async function look(thread: string): Promise<string[]> {
  const run = { assistant_id: "where", input: { topic: thread } };
  return (await call("POST", `/threads/${thread}/runs/wait`, run)).json.log;
}
const work = (thread: string) => call("POST", `/threads/${thread}/runs`, { assistant_id: "slow", input: {} });

test("a thread's run goes to the host that ran it last, unless that host has four runs more than another", async () => {
  await vi.waitUntil(() => hosts.all.filter((host) => host.usable).length === 3, { timeout: 30_000 });
  const [thread, ...others] = await Promise.all(Array.from({ length: 5 }, newThread));
  const [first] = await look(thread!);
  // one after another, so that all of them ran on the same, otherwise idle host
  for (const other of others) expect(await look(other)).toEqual([first]);
  const occupy = async (other: string, busy: number) => {
    await work(other);
    await vi.waitUntil(() => Math.max(...hosts.all.map((host) => host.runs.size)) === busy);
    return (await look(thread!)).at(-1);
  };
  for (const [i, other] of others.slice(0, 3).entries()) expect(await occupy(other, i + 1)).toBe(first);
  expect(await occupy(others[3]!, 4)).not.toBe(first);
  await call("POST", "/runs/cancel", { status: "all" });
});
