/**
 * A host whose event loop user code blocks: it does not answer pings, its other runs wait, and it gets no new ones.
 *
 * The watchdog's thread of the host, which is not blocked, names the run whose code executes and where. Code that is
 * merely slow may go on: to end the process would repeat the steps of all its runs. Beyond the limit that run alone
 * fails: in the host, where code can be interrupted, or else with the process, whose other runs are handed back.
 *
 *     answers --silent--> asked, repeatedly --limit--> interrupted --grace--> kill
 *        ^                     |      \--limit, not interruptible--> kill
 *        +------- answer ------+
 */
import type { BlockingCode, Interruption } from "../../../../host-kit/src/host-protocol.ts";
import type { Log } from "../../base/log.ts";
import type { HostLaunch } from "./host-language.ts";

/** Silence after which a host gets no new work. */
export const SUSPECT_MS = 1000;
/** Pause after the first question; doubled after each, up to the limit. */
const FIRST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 10_000;
/** Time for interrupted code to return to the event loop. */
const GRACE_MS = 3000;
/** Time beyond the limit for the first answer: on a busy machine it takes seconds. */
const ANSWER_MS = 10_000;

interface Options {
  launch: HostLaunch;
  blockMs: number;
  log: Log;
  pid(): number | undefined;
  /** Runs of the host. */
  runIds(): Iterable<string>;
  /** Sends a line to the watchdog's thread. */
  send(line: string): void;
}

export class BlockedLoop {
  readonly #o: Options;
  #code: BlockingCode | undefined;
  /** Time since which the same run is blocking. */
  #since = 0;
  #firstAskedAt = 0;
  #askAt = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #interruptedAt: number | undefined;
  /** Places that have been reported. */
  readonly #reported = new Set<string>();

  constructor(options: Options) {
    this.#o = options;
  }

  /** The run whose code blocks: the named one, or the only one. */
  get runId(): string | undefined {
    if (this.#code) return this.#code.run_id ?? undefined;
    const [first, ...others] = this.#o.runIds();
    return others.length === 0 ? first : undefined;
  }

  /** Whether the blocking code is known to belong to a run, so that a call is not what blocks. */
  get isRun(): boolean {
    return this.#code?.run_id != null;
  }

  /** Handles a tick with a host that has been silent for `silentMs`. Returns the reason for which it must be killed. */
  check(silentMs: number): string | undefined {
    const now = performance.now();
    if (silentMs <= SUSPECT_MS) {
      if (this.#since > 0) this.#reset();
      return undefined;
    }
    if (this.#since === 0) this.#since = now - silentMs;
    if (now >= this.#askAt) {
      if (this.#askAt === 0) this.#firstAskedAt = now;
      this.#askAt = now + this.#pauseMs;
      this.#pauseMs = Math.min(this.#pauseMs * 2, MOST_PAUSE_MS);
      this.#o.send("?");
    }
    const beyond = now - this.#since - this.#o.blockMs;
    if (beyond <= 0 || (!this.#code && beyond <= ANSWER_MS)) return undefined;
    const runId = this.#code?.run_id;
    if (!this.#o.launch.canInterrupt || runId == null) return this.describe();
    if (this.#interruptedAt === undefined) this.#interrupt(runId, this.describe());
    return now - this.#interruptedAt! > GRACE_MS ? this.describe() : undefined;
  }

  /** Handles the answer of the watchdog's thread. */
  receive(code: BlockingCode): void {
    // an answer that arrives after the block tells nothing
    if (this.#since === 0) return;
    // nor does a late first answer tell of the time before it: the whole process may have been frozen
    const isLate = !this.#code && performance.now() - this.#firstAskedAt > SUSPECT_MS;
    if (isLate || (this.#code && this.#code.run_id !== code.run_id)) this.#since = performance.now();
    this.#code = code;
    const { launch, blockMs, log, pid } = this.#o;
    log.debug({ pid: pid(), ...code }, "a graph host does not answer");
    if (code.run_id === null || this.#reported.has(code.where)) return;
    this.#reported.add(code.where);
    log.warn(
      { pid: pid(), run_id: code.run_id, stack: code.stack },
      `Run ${code.run_id} blocks the event loop of its graph host at ${code.where}. Other runs of the process wait ` +
        `until it returns. ${launch.blockHint} The limit is HEDDLE_HOST_BLOCK_MS (${blockMs / 1000} s).`,
    );
  }

  /** Interrupts a cancelled run that blocks. False when it cannot be interrupted, or other code blocks. */
  interruptCancelled(runId: string): boolean {
    if (!this.#o.launch.canInterrupt || this.#code?.run_id !== runId) return false;
    this.#interrupt(runId, undefined);
    return true;
  }

  #interrupt(runId: string, message: string | undefined): void {
    this.#interruptedAt = performance.now();
    const error = message === undefined ? null : { error: "BlockedEventLoop", message: `The graph host ${message}.` };
    const request: Interruption = { run_id: runId, error };
    this.#o.send(`!${JSON.stringify(request)}`);
  }

  /** Predicate of a sentence about the host. */
  describe(): string {
    const seconds = this.#o.blockMs / 1000;
    const hint = `${this.#o.launch.blockHint} HEDDLE_HOST_BLOCK_MS sets the limit`;
    const code = this.#code;
    if (!code) return `did not answer for ${seconds} s: something blocked its event loop. ${hint}`;
    const who = code.run_id === null ? "code outside any run" : `run ${code.run_id}`;
    return `did not answer for ${seconds} s: ${who} blocked its event loop at ${code.where}. ${hint}`;
  }

  #reset(): void {
    this.#code = undefined;
    this.#since = 0;
    this.#askAt = 0;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#interruptedAt = undefined;
  }
}
