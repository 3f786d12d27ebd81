/**
 * Returns the memory of garbage to the system while a process is idle. V8 collects when a heap grows and not when it
 * stops being used: after a start, or after a burst of work, half of a process's memory is garbage and empty pages of
 * the young generation, which stay for as long as the process is idle.
 */
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const SAMPLE_MS = 3000;
/** Number of consecutive idle samples before a collection. */
const IDLE_SAMPLES = 2;
/**
 * Distance of a second collection. V8 shrinks the young generation in a collection that sees little allocation in the
 * last 5 s, and allocation is measured by collections.
 */
const REPEAT_SAMPLES = 2;
/** Processor time per elapsed time that an idle process uses: heartbeats, polls, pings. */
const IDLE_LOAD = 0.05;
/** Utilization of the event loop above which a process waits for a processor, on a machine that is busy otherwise. */
const STARVED_UTILIZATION = 0.5;
/** Growth of the committed heap that is worth a collection. */
const WORTHWHILE_BYTES = 8 * 1024 * 1024;
/**
 * Live heap above which a collection would block the event loop for too long: 30 ms per 30 MB, measured. How much is
 * live, only a collection can tell: garbage costs nothing, however much there is.
 */
const LARGEST_LIVE_BYTES = 96 * 1024 * 1024;

export interface IdleMemoryOptions {
  /** Whether work is in progress although the event loop is idle, such as a run that waits for a model. */
  isBusy?: () => boolean;
  sampleMs?: number;
}

/** Starts to collect garbage whenever this process has become idle. Returns a function that stops it. */
export function releaseMemoryWhenIdle({ isBusy, sampleMs = SAMPLE_MS }: IdleMemoryOptions = {}): () => void {
  let last = sample();
  let idleSamples = 0;
  /** Committed and live heap after the last collection. */
  let floor = 0;
  let live = 0;
  let repeatAt: number | undefined;
  const timer = setInterval(() => {
    const now = sample();
    const load = (now.processor - last.processor) / (now.at - last.at);
    const { utilization } = performance.eventLoopUtilization(now.loop, last.loop);
    last = now;
    const isIdle = load < IDLE_LOAD && utilization < STARVED_UTILIZATION && !isBusy?.();
    idleSamples = isIdle ? idleSamples + 1 : 0;
    if (idleSamples < IDLE_SAMPLES) return;
    const { total_physical_size: committed } = getHeapStatistics();
    const isRepetition = idleSamples === repeatAt;
    const isTooLarge = live > LARGEST_LIVE_BYTES && committed < 2 * floor;
    if (isTooLarge || !(isRepetition || committed > floor + WORTHWHILE_BYTES)) return;
    repeatAt = isRepetition ? undefined : idleSamples + REPEAT_SAMPLES;
    collectGarbage();
    ({ total_physical_size: floor, used_heap_size: live } = getHeapStatistics());
    last = sample();
  }, sampleMs);
  timer.unref();
  return () => clearInterval(timer);
}

function sample() {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), processor: (user + system) / 1000, loop: performance.eventLoopUtilization() };
}

/** Collects all garbage. Contexts created before and afterwards have no `gc`. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  gc();
}
