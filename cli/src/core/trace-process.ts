/**
 * `heddle dev` runs the trace platform as a child, `heddle serve --role trace --supervised`: it is as heavy as the
 * rest, so it must not share the agent server's event loop and memory, nor start before it.
 *
 *     parent -> child   {"type":"start","database":{...}}     the Postgres that the parent has started, and a key
 *     child -> parent   {"type":"ready","url":...}  or  {"type":"failed","message":...,"code":...}
 *
 * both over Node's own channel, whose end shows each side that the other is gone, however it died. A child that dies
 * is restarted, after a pause that grows while it keeps dying.
 */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

import { isKill, restartPause } from "./restart-pause.ts";

export type FromParent = {
  type: "start";
  database: { uri: string; socket: string | null };
  /** Key of the agent server that sends the traces of its runs. */
  tracingKey: string;
};
export type FromChild = { type: "ready"; url: string } | { type: "failed"; message: string; code: string };

/** Address of the platform, or the reason why it does not answer. */
export type TraceOutcome = { url: string } | { problem: string };

/** Number of failures after which a platform that has never answered is given up; one that was killed never is. */
const MAX_FAILURES = 5;
const STOP_MS = 15_000;

export interface TraceProcessOptions {
  /** Path of bin/heddle.js. */
  launcher: string;
  host: string;
  port: number;
  dataDir: string;
  database: { uri: string; socket: string | null };
  tracingKey: string;
  /** Called with the URL at each start; null when there will be no further one. */
  onUrl(url: string | null): void;
  /** Reports events after the first start. */
  print(message: string): void;
}

export class TraceProcess {
  readonly #options: TraceProcessOptions;
  #port: number;
  #child: ChildProcess | undefined;
  #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: TraceProcessOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  /**
   * Resolves with the outcome of the first start. When that takes longer than `patienceMs`, the outcome is reported
   * later.
   */
  start(patienceMs?: number): Promise<TraceOutcome> {
    return new Promise((resolve) => {
      let isAwaited = true;
      const answer = (outcome: TraceOutcome) => {
        const wasAwaited = isAwaited;
        isAwaited = false;
        resolve(outcome);
        return wasAwaited;
      };
      if (patienceMs !== undefined) setTimeout(answer, patienceMs, { problem: "It is still starting." }).unref();
      this.#loop = this.#supervise(answer);
    });
  }

  /** Stops it, by force when it ignores the signal. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child) {
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await this.#loop;
      clearTimeout(force);
    }
    await this.#loop;
  }

  /** `onOutcome` returns whether a caller was waiting for the outcome, which then is not reported otherwise. */
  async #supervise(onOutcome: (outcome: TraceOutcome) => boolean): Promise<void> {
    const { print, onUrl } = this.#options;
    let pause = 0;
    let hasAnswered = false;
    /** Last reported reason why it does not answer. */
    let lastProblem = "";
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now();
      const { exited, outcome } = this.#spawn();
      const result = await Promise.race([outcome, exited.then(({ how }) => ({ problem: how, code: "" }))]);
      if ("url" in result) {
        // keep a port that was chosen as any free one
        this.#port = Number(new URL(result.url).port);
        onUrl(result.url);
        if (!onOutcome(result)) print(`The trace platform is up${hasAnswered ? " again" : ""} at ${result.url}.`);
        hasAnswered = true;
        lastProblem = "";
      } else {
        const { problem } = result;
        const isKnown = onOutcome({ problem }) || lastProblem === problem || this.#stopping.signal.aborted;
        if (!isKnown) print(`The trace platform failed to start: ${problem}`);
        lastProblem = problem;
      }
      const { how, signal } = await exited;
      if (this.#stopping.signal.aborted) return;
      // a port in use and the operator's settings will not change by the next try
      if (!hasAnswered && "code" in result && /^(EADDRINUSE|EACCES|CONFIG)$/.test(result.code)) return onUrl(null);
      if (!hasAnswered && !isKill(signal) && ++failures === MAX_FAILURES) return onUrl(null);
      if ("url" in result) print(`The trace platform exited (${how}); restarting it.`);
      pause = restartPause(pause, { uptimeMs: performance.now() - startedAt, hasAnswered: "url" in result, signal });
      await sleep(pause, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
  }

  #spawn(): {
    exited: Promise<{ how: string; signal: string | null }>;
    outcome: Promise<{ url: string } | { problem: string; code: string }>;
  } {
    const { launcher, host, dataDir, database, tracingKey } = this.#options;
    const args = ["serve", "--role", "trace", "--supervised"];
    args.push("--host", host, "--trace-port", String(this.#port), "--data-dir", dataDir);
    // each chDB statement occupies a thread of the pool while it runs, and the default is four threads
    const env = { UV_THREADPOOL_SIZE: "8", ...process.env };
    // Node 24 lets the young generation grow to 134 MB; with half of that, the platform needs no more processor time
    const execArgv = ["--max-semi-space-size=32"];
    const child = fork(launcher, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv, env });
    this.#child = child;
    const exited = new Promise<{ how: string; signal: string | null }>((resolve) => {
      child.once("error", (error) => resolve({ how: error.message, signal: null }));
      child.once("exit", (code, signal) => resolve({ how: signal ?? `exit code ${code}`, signal }));
    });
    const outcome = new Promise<{ url: string } | { problem: string; code: string }>((resolve) => {
      child.on("message", (message: FromChild) => {
        if (message.type === "ready") resolve({ url: message.url });
        else resolve({ problem: message.message, code: message.code });
      });
    });
    const start: FromParent = { type: "start", database, tracingKey };
    // a child that is already gone is reported by its exit
    child.send(start, () => {});
    return { exited, outcome };
  }
}
