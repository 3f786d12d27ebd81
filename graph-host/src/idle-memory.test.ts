import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MODULE = fileURLToPath(new URL("idle-memory.ts", import.meta.url));

/** Runs a process that makes garbage and then waits; returns the share of its committed heap that is left. */
async function heapLeft(body: string): Promise<number> {
  const script = `
    import { getHeapStatistics } from "node:v8";
    import { releaseMemoryWhenIdle } from ${JSON.stringify(MODULE)};
    const size = () => getHeapStatistics().total_physical_size / 1024 / 1024;
    let kept = Array.from({ length: 400_000 }, (_, n) => ({ n, text: "x" + n }));
    const before = size();
    kept = undefined;
    ${body}
    await new Promise((resolve) => setTimeout(resolve, 1500));
    console.log(JSON.stringify({ before, after: size(), gc: typeof globalThis.gc }));
  `;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { before, after, gc } = JSON.parse(stdout) as { before: number; after: number; gc: string };
  expect(before).toBeGreaterThan(30);
  expect(gc).toBe("undefined");
  return after / before;
}

test("an idle process returns the memory of its garbage", async () => {
  expect(await heapLeft("releaseMemoryWhenIdle({ sampleMs: 200 });")).toBeLessThan(0.75);
});

test("a process with work in progress is not collected", async () => {
  expect(await heapLeft("releaseMemoryWhenIdle({ sampleMs: 200, isBusy: () => true });")).toBeGreaterThan(0.9);
});

test("a process that works is not collected", async () => {
  const work = "setInterval(() => { const end = Date.now() + 5; while (Date.now() < end); }, 20).unref();";
  expect(await heapLeft(`${work} releaseMemoryWhenIdle({ sampleMs: 200 });`)).toBeGreaterThan(0.9);
});
