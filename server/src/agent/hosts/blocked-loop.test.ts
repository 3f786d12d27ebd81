import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { createLog } from "../../base/log.ts";
import { BlockedLoop } from "./blocked-loop.ts";
import type { HostLaunch } from "./host-language.ts";

const BLOCK_MS = 2000;
const CODE = { run_id: "a", where: "busy (graph.ts:1:1)", stack: "" };

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }).advanceTimersByTime(1000));
afterEach(() => void vi.useRealTimers());

/** Returns a host with two runs that is silent from now on. */
function silentHost() {
  const loop = new BlockedLoop({
    launch: { canInterrupt: false, blockHint: "" } as HostLaunch,
    blockMs: BLOCK_MS,
    log: createLog("silent"),
    pid: () => 1,
    runIds: () => ["a", "b"],
    send: () => {},
  });
  const since = performance.now();
  const after = (ms: number) => {
    vi.advanceTimersByTime(ms);
    return loop.check(performance.now() - since);
  };
  return { loop, after };
}

test("a run that blocks its host's event loop beyond the limit is named", () => {
  const { loop, after } = silentHost();
  expect(after(1100)).toBeUndefined();
  loop.receive(CODE);
  expect(after(800)).toBeUndefined();
  expect(after(200)).toContain("run a blocked its event loop at busy");
});

test("a run is not blamed for the time in which its whole process did not execute", () => {
  const { loop, after } = silentHost();
  expect(after(1100)).toBeUndefined();
  expect(after(4000)).toBeUndefined();
  loop.receive(CODE);
  expect(after(200)).toBeUndefined();
  expect(after(1900)).toContain("run a blocked its event loop at busy");
});

test("a host that does not even answer which code blocks is killed, and no run of several is blamed", () => {
  const { loop, after } = silentHost();
  expect(after(1100)).toBeUndefined();
  expect(after(10_000)).toBeUndefined();
  expect(after(1000)).toContain("something blocked its event loop");
  expect(loop.runId).toBeUndefined();
});
