/**
 * Evaluates code of workspaces in a few processes, which are started when they are needed and end when they are not.
 * A process evaluates for one workspace after another; no state outlives an evaluation in it (code-process.ts).
 * Workspaces take turns.
 */
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { FairQueue } from "../../base/fair-queue.ts";
import type { Options } from "../../base/config/options.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { CodeProcess, type Outcome } from "./code-process.ts";
import { MAX_REQUESTS, requestByCode } from "./request-by-code.ts";
import { commandFor, type Language } from "./languages.ts";
import type { codeEvaluatorOptions } from "./settings.ts";

/** Unused processes end after this time, in milliseconds. */
const IDLE_MS = 60_000;
/** A process is replaced after so many evaluations, so that none grows without end. */
const MAX_EVALUATIONS = 1000;
const MAX_WAITING = 10_000;
const WAIT_MS = 120_000;
/** Time for which a language that could not be started is not tried again, in milliseconds. */
const RETRY_MS = 30_000;

/** Code of the language cannot be evaluated; the message says why. */
export class Unavailable extends Error {
  override name = "Unavailable";
}

interface Idle {
  process: CodeProcess;
  evaluations: number;
  timer: NodeJS.Timeout;
}

export interface Evaluation {
  language: Language;
  tenantId: string;
  order: Buffer;
  timeoutMs: number;
  signal: AbortSignal;
}

export class CodeRunner {
  readonly settings: Options<typeof codeEvaluatorOptions>;
  readonly #outbound: Pick<Outbound, "fetch">;
  readonly #queue: FairQueue;
  readonly #idle: Record<Language, Idle[]> = { javascript: [], python: [] };
  readonly #processes = new Set<CodeProcess>();
  readonly #refusals = new Map<Language, { reason: Unavailable; until: number }>();
  readonly #stop = new AbortController();
  #directory: Promise<string> | undefined;

  constructor(settings: Options<typeof codeEvaluatorOptions>, outbound: Pick<Outbound, "fetch">) {
    this.settings = settings;
    this.#outbound = outbound;
    const capacity = settings.codeEvaluatorConcurrency;
    this.#queue = new FairQueue({
      capacity,
      crowded: Math.ceil(capacity / 2),
      waiting: MAX_WAITING,
      waitMs: WAIT_MS,
      reject: () => new Unavailable("Too many evaluations are waiting."),
    });
  }

  /** Processes that are running. */
  get processes(): number {
    return this.#processes.size;
  }

  /** Evaluates code. Throws `Unavailable` when this server cannot. */
  async run({ language, tenantId, order, timeoutMs, signal }: Evaluation): Promise<Outcome> {
    if (this.settings.codeEvaluators === "off")
      throw new Unavailable("Evaluators in code are off on this server (HEDDLE_CODE_EVALUATORS).");
    return await this.#queue.run(async () => {
      const either = AbortSignal.any([signal, this.#stop.signal]);
      if (either.aborted) return { how: "aborted" };
      const { process, evaluations } = await this.#take(language);
      const outcome = await process.evaluate(order, {
        timeoutMs,
        signal: either,
        maxRequests: MAX_REQUESTS,
        send: (request, ended) => requestByCode(this.#outbound, this.settings.codeEvaluatorHosts, request, ended),
      });
      this.#release(language, process, evaluations + 1);
      return outcome;
    }, tenantId);
  }

  /** Ends all evaluations and processes. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const idle of Object.values(this.#idle)) for (const { timer } of idle) clearTimeout(timer);
    await Promise.all([...this.#processes].map((process) => process.stop()));
    this.#processes.clear();
    const directory = await this.#directory?.catch(() => undefined);
    if (directory) await rmdir(directory).catch(() => {});
  }

  async #take(language: Language): Promise<{ process: CodeProcess; evaluations: number }> {
    for (;;) {
      const idle = this.#idle[language].pop();
      if (!idle) return { process: await this.#start(language), evaluations: 0 };
      clearTimeout(idle.timer);
      if (idle.process.isAlive) return idle;
      this.#processes.delete(idle.process);
    }
  }

  #release(language: Language, process: CodeProcess, evaluations: number): void {
    if (!process.isAlive || evaluations >= MAX_EVALUATIONS || this.#stop.signal.aborted) return this.#end(process);
    const timer = setTimeout(() => {
      this.#idle[language] = this.#idle[language].filter((idle) => idle.process !== process);
      this.#end(process);
    }, IDLE_MS);
    timer.unref();
    this.#idle[language].push({ process, evaluations, timer });
  }

  #end(process: CodeProcess): void {
    this.#processes.delete(process);
    void process.stop();
  }

  async #start(language: Language): Promise<CodeProcess> {
    const refusal = this.#refusals.get(language);
    if (refusal && performance.now() < refusal.until) throw refusal.reason;
    try {
      const command = await commandFor(language, {
        cwd: await this.#emptyDirectory(),
        memoryBytes: this.settings.codeEvaluatorMemoryMb * 1024 * 1024,
        seconds: this.settings.codeEvaluatorSeconds,
        isConfined: this.settings.codeEvaluators === "confined",
        python: this.settings.codeEvaluatorPython,
        hasNetwork: this.settings.codeEvaluatorHosts.length > 0,
      });
      const process = await CodeProcess.start(command);
      this.#processes.add(process);
      if (this.#stop.signal.aborted) this.#end(process);
      this.#refusals.delete(language);
      return process;
    } catch (error) {
      const reason = new Unavailable(`This server cannot evaluate ${NAMES[language]}: ${(error as Error).message}`);
      this.#refusals.set(language, { reason, until: performance.now() + RETRY_MS });
      throw reason;
    }
  }

  #emptyDirectory(): Promise<string> {
    return (this.#directory ??= mkdtemp(join(tmpdir(), "heddle-evaluators-")));
  }
}

const NAMES: Record<Language, string> = { javascript: "JavaScript", python: "Python" };
