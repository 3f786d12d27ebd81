import { Worker } from "node:worker_threads";
import { currentWork } from "./runs/active-run.ts";

/** Name of the global function that {@link startWatchdog} calls in the code that blocks the event loop. */
const DESCRIBE = "heddle.describe-blocking-code";
const STACK_FRAMES = 60;

/**
 * Kills the process when its server is gone, even while user code blocks the main thread: a worker thread reads
 * descriptor 4, on which the server sends a line every 250 ms. The end of the stream, or silence for `silenceMs`, means
 * that results have no receiver, and that the run may already be running elsewhere.
 *
 * A line `?` asks which code blocks the main thread (see host-protocol.ts). The worker then pauses that thread with the
 * inspector, for the time in which it describes itself. Native code is not paused, so it is described when it returns.
 *
 * The worker is started from source text and without the process's own `--import`s: it starts in a few milliseconds,
 * and no module hook or user code runs in it.
 */
export function startWatchdog(silenceMs: number, fd = 4): void {
  Object.defineProperty(globalThis, Symbol.for(DESCRIBE), { value: describeCurrentCode });
  // tsx preserves function names through a helper that the bare worker lacks
  const source = `const __name = (f) => f; (${watch.toString()})(require)`;
  const worker = new Worker(source, { eval: true, execArgv: [], workerData: { fd, silenceMs, describe: DESCRIBE } });
  worker.unref();
}

/** Returns the run whose code is executing, and the lines of its stack. */
function describeCurrentCode(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_FRAMES;
  const lines = new Error().stack!.split("\n").slice(1);
  Error.stackTraceLimit = limit;
  // the first ones are this function's and the inspector's
  const stack = lines.slice(lines.findIndex((line) => line.includes("<anonymous>:1")) + 1);
  const own = stack.find((line) => !/node:|\/node_modules\/|\/graph-host\/|<anonymous>/.test(line)) ?? stack[0] ?? "";
  const where = own.trim().replace(/^at /, "").replaceAll(`file://`, "").replaceAll(`${process.cwd()}/`, "");
  return JSON.stringify({ run_id: currentWork.getStore()?.runId ?? null, where, stack: stack.join("\n") });
}

function watch(load: NodeJS.Require): void {
  const { workerData } = load("node:worker_threads") as typeof import("node:worker_threads");
  const { Socket } = load("node:net") as typeof import("node:net");
  const { Session } = load("node:inspector") as typeof import("node:inspector");
  const { fd, silenceMs, describe } = workerData as { fd: number; silenceMs: number; describe: string };
  let lastByte = performance.now();
  let isAsking = false;
  const stream = new Socket({ fd, readable: true, writable: true });
  stream.on("data", (chunk: Buffer) => {
    lastByte = performance.now();
    if (chunk.includes("?")) ask();
  });
  stream.on("error", () => process.kill(process.pid, "SIGKILL"));
  stream.on("close", () => process.kill(process.pid, "SIGKILL"));
  setInterval(
    () => {
      if (performance.now() - lastByte > silenceMs) process.kill(process.pid, "SIGKILL");
    },
    Math.min(500, silenceMs / 4),
  );

  function ask(): void {
    if (isAsking) return;
    isAsking = true;
    const session = new Session();
    session.connectToMainThread();
    session.on("Debugger.paused", ({ params }) => {
      const { callFrameId } = params.callFrames[0]!;
      const expression = `globalThis[Symbol.for(${JSON.stringify(describe)})]()`;
      session.post("Debugger.evaluateOnCallFrame", { callFrameId, expression, silent: true }, (error, answer) => {
        // which resumes the thread
        session.disconnect();
        isAsking = false;
        const text: unknown = error ? undefined : answer.result.value;
        if (typeof text === "string") stream.write(`${text}\n`);
      });
    });
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  }
}
