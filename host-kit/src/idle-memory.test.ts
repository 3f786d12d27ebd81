import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MODULE = fileURLToPath(new URL("idle-memory.ts", import.meta.url));

/**
 * Runs a process that makes garbage and then waits; returns the share of its committed heap that is left, and how often
 * it was collected by a call. Newer versions of V8 also collect by themselves.
 */
async function waitWithGarbage(
  body: string,
  { untilReturned = false, objects = 400_000 } = {},
): Promise<{ left: number; calls: number }> {
  const script = `
    import { constants, PerformanceObserver } from "node:perf_hooks";
    import { getHeapStatistics } from "node:v8";
    import { releaseMemoryWhenIdle } from ${JSON.stringify(MODULE)};
    const size = () => getHeapStatistics().total_physical_size / 1024 / 1024;
    let kept = Array.from({ length: ${objects} }, (_, n) => ({ n, text: "x" + n }));
    const before = size();
    kept = undefined;
    let calls = 0;
    const isCalled = ({ detail }) => (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
    new PerformanceObserver((list) => (calls += list.getEntries().filter(isCalled).length)).observe({ type: "gc" });
    ${body}
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    // a busy machine delays it, and V8 keeps its young generation for 5 s
    for (let waited = 0; ${untilReturned} && size() > before * 0.75 && waited < 20_000; waited += 200) await wait(200);
    await wait(${untilReturned} ? 200 : 1500);
    console.log(JSON.stringify({ before, after: size(), calls, gc: typeof globalThis.gc }));
  `;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  type Result = { before: number; after: number; calls: number; gc: string };
  const { before, after, calls, gc } = JSON.parse(stdout) as Result;
  expect(before).toBeGreaterThan(30);
  expect(gc).toBe("undefined");
  return { left: after / before, calls };
}

test.each([400_000, 3_000_000])("an idle process returns the memory of its garbage: %d objects", async (objects) => {
  const options = { untilReturned: true, objects };
  const { left } = await waitWithGarbage("releaseMemoryWhenIdle({ sampleMs: 1500 });", options);
  expect(left).toBeLessThan(0.75);
});

test("a process with work in progress is not collected", async () => {
  const { calls } = await waitWithGarbage("releaseMemoryWhenIdle({ sampleMs: 200, isBusy: () => true });");
  expect(calls).toBe(0);
});

test("a process that works is not collected", async () => {
  const work = "setInterval(() => { const end = Date.now() + 5; while (Date.now() < end); }, 20).unref();";
  expect((await waitWithGarbage(`${work} releaseMemoryWhenIdle({ sampleMs: 200 });`)).calls).toBe(0);
});
