/**
 * `heddle dev` runs the trace platform as a child, `heddle serve --role trace --supervised`: it weighs as much as
 * the rest, so it must not share the agent server's event loop and memory, nor start before it.
 *
 *     parent -> child   {"type":"start","database":{...}}     the Postgres that the parent has started, and a key
 *     child -> parent   {"type":"ready","url":...}  or  {"type":"failed","message":...,"code":...}
 *
 * both over Node's own channel, whose end tells each side that the other is gone, however it died. A child that
 * dies is started again, after a pause that grows while it keeps dying.
 */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

export type FromParent = {
  type: "start";
  database: { uri: string; socket: string | null };
  /** Of the agent server that sends the traces of its runs. */
  tracingKey: string;
};
export type FromChild = { type: "ready"; url: string } | { type: "failed"; message: string; code: string };

/** Where it answers, or why it does not. */
export type TraceOutcome = { url: string } | { problem: string };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A trace platform that has never answered is given up then; one that has, is not. */
const MAX_FAILURES = 5;
/** A child that lived for so long has not failed to start. */
const STEADY_MS = 60_000;
const STOP_MS = 15_000;

export interface TraceProcessOptions {
  /** Path of bin/heddle.js. */
  launcher: string;
  host: string;
  port: number;
  dataDir: string;
  database: { uri: string; socket: string | null };
  tracingKey: string;
  /** Told of each start where it answers; null when there will be no further one. */
  onUrl(url: string | null): void;
  /** Told what happens after the first start. */
  say(message: string): void;
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

  /** Resolves with how the first start went. When that takes longer than `patienceMs`, how it went is said later. */
  start(patienceMs?: number): Promise<TraceOutcome> {
    return new Promise((resolve) => {
      let isAwaited = true;
      const answer = (outcome: TraceOutcome) => {
        const isTold = isAwaited;
        isAwaited = false;
        resolve(outcome);
        return isTold;
      };
      if (patienceMs !== undefined) setTimeout(answer, patienceMs, { problem: "It takes long to start." }).unref();
      this.#loop = this.#supervise(answer);
    });
  }

  /** Ends it, by force when it does not listen. */
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

  /** `onOutcome`: whether somebody waited for it, who needs not be told otherwise. */
  async #supervise(onOutcome: (outcome: TraceOutcome) => boolean): Promise<void> {
    const { say, onUrl } = this.#options;
    let pause = 0;
    let hasAnswered = false;
    /** Why it does not answer, as far as that is known. */
    let told = "";
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const began = performance.now();
      const { exited, outcome } = this.#spawn();
      const result = await Promise.race([outcome, exited.then((how) => ({ problem: how, code: "" }))]);
      if ("url" in result) {
        // one that took any port that was free keeps it
        this.#port = Number(new URL(result.url).port);
        onUrl(result.url);
        if (!onOutcome(result)) say(`The trace platform answers${hasAnswered ? " again" : ""} at ${result.url}.`);
        hasAnswered = true;
        told = "";
      } else {
        const { problem } = result;
        const isKnown = onOutcome({ problem }) || told === problem || this.#stopping.signal.aborted;
        if (!isKnown) say(`The trace platform does not start: ${problem}`);
        told = problem;
      }
      const how = await exited;
      if (this.#stopping.signal.aborted) return;
      // what another program holds, and what the operator has set, is there at the next try too
      if (!hasAnswered && "code" in result && /^(EADDRINUSE|EACCES|CONFIG)$/.test(result.code)) return onUrl(null);
      if (!hasAnswered && ++failures === MAX_FAILURES) return onUrl(null);
      if ("url" in result) say(`The trace platform ended (${how}); it is started again.`);
      const isSteady = performance.now() - began > STEADY_MS;
      pause = isSteady || pause === 0 ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS);
      await sleep(pause, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
  }

  #spawn(): { exited: Promise<string>; outcome: Promise<{ url: string } | { problem: string; code: string }> } {
    const { launcher, host, dataDir, database, tracingKey } = this.#options;
    const args = ["serve", "--role", "trace", "--supervised"];
    args.push("--host", host, "--trace-port", String(this.#port), "--data-dir", dataDir);
    // each statement of chDB holds a thread of the pool while it runs, and there are four of them by default
    const env = { UV_THREADPOOL_SIZE: "8", ...process.env };
    const child = fork(launcher, args, { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [], env });
    this.#child = child;
    const exited = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    const outcome = new Promise<{ url: string } | { problem: string; code: string }>((resolve) => {
      child.on("message", (message: FromChild) => {
        if (message.type === "ready") resolve({ url: message.url });
        else resolve({ problem: message.message, code: message.code });
      });
    });
    const start: FromParent = { type: "start", database, tracingKey };
    // a child that is gone by now is told of by its exit
    child.send(start, () => {});
    return { exited, outcome };
  }
}
