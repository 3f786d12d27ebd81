import { Worker } from "node:worker_threads";

/**
 * Kills the process when its server is gone, even while user code blocks the main thread: a worker thread reads
 * descriptor 4, on which the server sends a byte every 250 ms. The end of the stream, or silence for `silenceMs`, means
 * that results have no receiver, and that the run may already be running elsewhere.
 *
 * The worker is started from source text and without the process's own `--import`s: it starts in a few milliseconds,
 * and no module hook or user code runs in it.
 */
export function startWatchdog(silenceMs: number, fd = 4): void {
  // tsx preserves function names through a helper that the bare worker lacks
  const source = `const __name = (f) => f; (${watch.toString()})(require)`;
  const worker = new Worker(source, { eval: true, execArgv: [], workerData: { fd, silenceMs } });
  worker.unref();
}

function watch(load: NodeJS.Require): void {
  const { workerData } = load("node:worker_threads") as typeof import("node:worker_threads");
  const { Socket } = load("node:net") as typeof import("node:net");
  const { fd, silenceMs } = workerData as { fd: number; silenceMs: number };
  let lastByte = performance.now();
  const stream = new Socket({ fd, readable: true, writable: false });
  stream.on("data", () => (lastByte = performance.now()));
  stream.on("error", () => process.kill(process.pid, "SIGKILL"));
  stream.on("close", () => process.kill(process.pid, "SIGKILL"));
  setInterval(
    () => {
      if (performance.now() - lastByte > silenceMs) process.kill(process.pid, "SIGKILL");
    },
    Math.min(500, silenceMs / 4),
  );
}
