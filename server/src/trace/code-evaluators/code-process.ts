/**
 * A process that evaluates code of one language, one evaluation after another. Its environment is empty. The protocol
 * is described in interpreters/javascript-process.mjs; in Python, a process forked for the evaluation reads the order and writes the
 * reply, and its parent sees neither.
 *
 * A reply whose length has its highest bit set is a request to another host; its answer is written to descriptor 3.
 *
 * A process is reused only after a complete reply and a clean end: anything else, and a limit that was exceeded, ends
 * it, together with its group. So does a request: an unread answer must not reach the next evaluation.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

import { deferred } from "../../base/deferred.ts";

const HEADER = 4;
const IS_REQUEST = 0x80000000;
/** Time for a process to start, in milliseconds. */
const START_MS = 20_000;
/** Time beyond the timeout in which code may end by itself, with its logs, in milliseconds. */
const SPARE_MS = 250;

export interface ProcessCommand {
  program: string;
  args: string[];
  cwd: string;
  /** Longest reply in bytes. */
  maxReply: number;
}

export type Outcome =
  | { how: "replied"; reply: Buffer }
  | { how: "timeout" }
  | { how: "aborted" }
  /** The process ended or broke the protocol: by a limit of memory, or a crash of the interpreter. */
  | { how: "died"; by: string };

/** Sends a request of code, and returns the answer. */
export type SendRequest = (request: Buffer, signal: AbortSignal) => Promise<Buffer>;

export interface EvaluationLimits {
  timeoutMs: number;
  signal: AbortSignal;
  maxRequests: number;
  send: SendRequest;
}

export class CodeProcess {
  readonly #child: ChildProcess;
  readonly #maxReply: number;
  readonly #ended = deferred<void>();
  #isAlive = true;
  #line = "";
  #reply: Buffer[] = [];
  #replySize = 0;
  #hasRequested = false;
  #onRequest: (request: Buffer) => void = () => {};
  #onLine: (line: string) => void = () => {};
  #onEnd: (by: string) => void = () => {};

  private constructor({ program, args, cwd, maxReply }: ProcessCommand) {
    this.#maxReply = maxReply;
    // a separate process group, so that forks end with it
    this.#child = spawn(program, args, {
      cwd,
      env: {},
      detached: true,
      stdio: ["pipe", "pipe", "ignore", "pipe", "pipe"],
    });
    this.#child.on("error", (error) => this.#die(error.message));
    this.#child.on("exit", (code, signal) => this.#die(signal ?? `code ${code}`));
    for (const stream of this.#child.stdio) stream?.on("error", () => this.#kill("a broken pipe"));
    this.#readable(1).on("data", (chunk: Buffer) => this.#readStatus(chunk));
    this.#readable(4).on("data", (chunk: Buffer) => this.#readReply(chunk));
  }

  /** Starts a process. Throws with the reason for which it cannot evaluate code. */
  static async start(command: ProcessCommand): Promise<CodeProcess> {
    const process = new CodeProcess(command);
    const timer = setTimeout(() => process.#kill(`no sign of life within ${START_MS / 1000} s`), START_MS);
    try {
      await new Promise<void>((resolve, reject) => {
        process.#onLine = (line) => (line.startsWith("ready") ? resolve() : reject(new Error(line)));
        process.#onEnd = (by) => reject(new Error(`${command.program} ended: ${by}`));
      });
    } catch (error) {
      process.#kill("not ready");
      throw error;
    } finally {
      clearTimeout(timer);
    }
    return process;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  async evaluate(order: Buffer, { timeoutMs, signal, maxRequests, send }: EvaluationLimits): Promise<Outcome> {
    if (!this.#isAlive) return { how: "died", by: "before the evaluation" };
    const { promise, resolve } = deferred<Outcome>();
    const ended = new AbortController();
    let requests = 0;
    let answering = Promise.resolve();
    this.#reply = [];
    this.#replySize = 0;
    this.#onRequest = (request) => {
      if (++requests > maxRequests) return this.#kill(`more than ${maxRequests} requests`);
      answering = answering
        .then(() => send(request, ended.signal))
        .then((answer) => this.#write(answer))
        .catch(() => this.#kill("a failed request"));
    };
    this.#hasRequested = false;
    this.#onEnd = (by) => resolve({ how: "died", by });
    this.#onLine = (line) => void this.#finish(line).then(resolve);
    const stop = (outcome: Outcome) => {
      resolve(outcome);
      this.#kill(outcome.how);
    };
    const onAbort = () => stop({ how: "aborted" });
    const timer = setTimeout(() => stop({ how: "timeout" }), timeoutMs + SPARE_MS);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    this.#writable(0).write("g");
    this.#write(order);
    try {
      return await promise;
    } finally {
      ended.abort();
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the process and resolves when it has exited. */
  async stop(): Promise<void> {
    this.#kill("stopped");
    await this.#ended.promise;
  }

  /** Takes the reply, after the process has reported the end of the evaluation. */
  async #finish(status: string): Promise<Outcome> {
    // what was written before the end is in the pipe, and one turn of the event loop reads all of a pipe
    await nextTurn();
    await nextTurn();
    const reply = Buffer.concat(this.#reply);
    const isComplete = reply.length >= HEADER && reply.length === HEADER + reply.readUInt32BE();
    const outcome: Outcome = isComplete
      ? { how: "replied", reply: reply.subarray(HEADER) }
      : { how: "died", by: status.slice("end ".length) || "without a result" };
    this.#onEnd = () => {};
    if (!isComplete || status !== "end" || this.#hasRequested) this.#kill(status);
    return outcome;
  }

  #readStatus(chunk: Buffer): void {
    this.#line += chunk.toString("latin1");
    const at = this.#line.indexOf("\n");
    if (at < 0) return;
    const line = this.#line.slice(0, at);
    this.#line = this.#line.slice(at + 1);
    this.#onLine(line);
  }

  #readReply(chunk: Buffer): void {
    this.#replySize += chunk.length;
    if (this.#replySize > this.#maxReply) return this.#kill("a reply beyond the limit");
    this.#reply.push(chunk);
    while (this.#replySize >= HEADER) {
      const [first] = (this.#reply = this.#reply[0]!.length >= HEADER ? this.#reply : [Buffer.concat(this.#reply)]);
      const length = first!.readUInt32BE();
      if (length < IS_REQUEST || this.#replySize < HEADER + length - IS_REQUEST) return;
      const all = Buffer.concat(this.#reply);
      const end = HEADER + length - IS_REQUEST;
      this.#hasRequested = true;
      this.#reply = [all.subarray(end)];
      this.#replySize -= end;
      this.#onRequest(all.subarray(HEADER, end));
    }
  }

  #write(frame: Buffer): void {
    const header = Buffer.alloc(HEADER);
    header.writeUInt32BE(frame.length);
    this.#writable(3).write(header);
    this.#writable(3).write(frame);
  }

  #kill(by: string): void {
    this.#die(by);
    if (this.#hasExited || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // already gone
    }
  }

  #die(by: string): void {
    if (this.#hasExited || this.#child.pid === undefined) this.#ended.resolve();
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#onEnd(by);
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #readable(descriptor: 1 | 4): Readable {
    return this.#child.stdio[descriptor] as Readable;
  }

  #writable(descriptor: 0 | 3): Writable {
    return this.#child.stdio[descriptor] as Writable;
  }
}
