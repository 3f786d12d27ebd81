/**
 * Batches of trace data for the trace platform: a bounded queue in memory and one sender. The official client gets its
 * batches accepted at once, so only the outbox deals with a platform that is unreachable, slow or full: it retries
 * without a time limit, and evicts the oldest batches when the queue is full, except one that is being sent, which the
 * platform may have stored, and the newest, which may be larger than the queue. Losses are counted and logged at most
 * once a minute.
 */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { TraceDestination } from "../../../host-kit/src/host-protocol.ts";
import { retryAfterMs } from "../../../host-kit/src/retry-after.ts";

export interface Batch {
  /** Path such as `/runs/batch`, relative to the platform's URL. */
  path: string;
  contentType: string;
  body: Uint8Array;
}

interface OutboxOptions {
  /** Limit on the bytes that wait, beside one batch that is being sent. */
  maxBytes: number;
  log(message: string): void;
  /** Masks the JSON of a batch before it is kept (HEDDLE_TRACE_MASKING). */
  mask?: ((body: string) => string) | undefined;
  /** Set by tests. */
  firstPauseMs?: number;
  reportEveryMs?: number;
  patienceMs?: number;
}

const LONGEST_PAUSE_MS = 10_000;
/** Time without an accepted batch after which the platform is worth a log line. */
const PATIENCE_MS = 30_000;
const ANSWER_MS = 30_000;
/** Status codes after which the same request may succeed; any other 4xx is final. */
const TRY_AGAIN = new Set([401, 403, 404, 408, 425, 429]);

export class Outbox {
  readonly #options: Required<Omit<OutboxOptions, "mask">> & Pick<OutboxOptions, "mask">;
  // separate agents: a proxy installed by user code does not apply to these
  readonly #agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  #destination: TraceDestination = { state: "waiting" };
  #batches: Batch[] = [];
  #bytes = 0;
  #sending = false;
  /** The batch whose response is outstanding. */
  #posted: Batch | undefined;
  #wake: (() => void) | undefined;
  #whenEmpty: (() => void)[] = [];
  #lost = 0;
  #lastProblem = "";
  #reportTimer: NodeJS.Timeout | undefined;

  constructor(options: OutboxOptions) {
    this.#options = { firstPauseMs: 250, reportEveryMs: 60_000, patienceMs: PATIENCE_MS, ...options };
  }

  get url(): string | undefined {
    return this.#destination.state === "on" ? this.#destination.url : undefined;
  }

  get bytes(): number {
    return this.#bytes;
  }

  direct(destination: TraceDestination): void {
    this.#destination = destination;
    if (destination.state === "off") this.#clear();
    this.#wake?.();
    void this.#send();
  }

  add(added: Batch): void {
    if (this.#destination.state === "off") return;
    const { mask } = this.#options;
    const isMasked = mask !== undefined && added.contentType === "application/json";
    const batch = isMasked ? { ...added, body: Buffer.from(mask(Buffer.from(added.body).toString())) } : added;
    this.#batches.push(batch);
    this.#bytes += batch.body.byteLength;
    for (let oldest = this.#oldestOverflow(); oldest; oldest = this.#oldestOverflow())
      this.#lose(oldest, this.#lastProblem || "they arrive faster than the trace platform accepts them");
    void this.#send();
  }

  /** Returns the batch to evict; undefined while the queue has room. */
  #oldestOverflow(): Batch | undefined {
    const posted = this.#posted;
    if (this.#bytes - (posted?.body.byteLength ?? 0) <= this.#options.maxBytes) return undefined;
    const oldest = this.#batches.find((batch) => batch !== posted);
    return oldest === this.#batches.at(-1) ? undefined : oldest;
  }

  /** @returns whether everything was delivered within the time */
  flush(ms: number): Promise<boolean> {
    if (this.#batches.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#whenEmpty.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    let pause = this.#options.firstPauseMs;
    let reportAt = performance.now() + this.#options.patienceMs;
    for (;;) {
      const batch = this.#batches[0];
      const destination = this.#destination;
      if (!batch || destination.state !== "on") break;
      this.#posted = batch;
      const result = await this.#post(destination, batch);
      this.#posted = undefined;
      // tracing may have been switched off in the meantime
      if (this.#batches[0] !== batch) continue;
      if (result.taken) {
        this.#remove(batch);
        this.#lastProblem = "";
        pause = this.#options.firstPauseMs;
        reportAt = performance.now() + this.#options.patienceMs;
      } else if (result.final) {
        this.#lose(batch, result.problem);
      } else {
        this.#lastProblem = result.problem;
        if (performance.now() > reportAt) {
          this.#options.log(`Traces are queued: ${result.problem}. Runs are not affected.`);
          reportAt = Number.POSITIVE_INFINITY;
        }
        await this.#sleep(result.retryAfterMs ?? pause * (0.75 + Math.random() / 2));
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
    this.#sending = false;
  }

  #post({ url, key }: TraceDestination & { state: "on" }, { path, contentType, body }: Batch): Promise<Answer> {
    return new Promise((resolve) => {
      const failed = (error: Error & { code?: string }) =>
        resolve({ taken: false, final: false, problem: `${url} does not answer (${error.code ?? error.message})` });
      try {
        const isSecure = url.startsWith("https:");
        const request = (isSecure ? httpsRequest : httpRequest)(url + path, {
          method: "POST",
          agent: isSecure ? this.#agents.https : this.#agents.http,
          timeout: ANSWER_MS,
          headers: {
            "Content-Type": contentType,
            "Content-Length": body.byteLength,
            ...(key !== null && { "x-api-key": key }),
          },
        });
        request.on("timeout", () => request.destroy(new Error(`no response for ${ANSWER_MS / 1000} s`)));
        request.on("error", failed);
        request.on("response", (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            if (text.length < 500) text += chunk;
          });
          response.on("error", failed);
          response.on("end", () =>
            resolve(judge(url, response.statusCode ?? 0, response.headers["retry-after"], text)),
          );
        });
        request.end(body);
      } catch (error) {
        failed(error as Error);
      }
    });
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #remove(batch: Batch): void {
    this.#batches.splice(this.#batches.indexOf(batch), 1);
    this.#bytes -= batch.body.byteLength;
    if (this.#batches.length === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  #clear(): void {
    this.#batches = [];
    this.#bytes = 0;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  #lose(batch: Batch, problem: string): void {
    this.#remove(batch);
    this.#lost += 1;
    this.#lastProblem = problem;
    if (this.#reportTimer) return;
    this.#reportLosses();
    this.#reportTimer = setTimeout(() => {
      this.#reportTimer = undefined;
      if (this.#lost > 0) this.#reportLosses();
    }, this.#options.reportEveryMs);
    this.#reportTimer.unref();
  }

  #reportLosses(): void {
    const batches = this.#lost === 1 ? "A batch" : `${this.#lost} batches`;
    this.#lost = 0;
    this.#options.log(`${batches} of traces could not be stored: ${this.#lastProblem}. Runs are not affected.`);
  }
}

type Answer = { taken: true } | { taken: false; final: boolean; problem: string; retryAfterMs?: number };

function judge(url: string, status: number, retryAfter: string | undefined, text: string): Answer {
  if (status >= 200 && status < 300) return { taken: true };
  const problem = `${url} responded with ${status}: ${text.slice(0, 300).trim()}`;
  // a key may be pending or a platform starting: such rejections are not about this batch
  if (status < 500 && !TRY_AGAIN.has(status)) return { taken: false, final: true, problem };
  const pauseMs = retryAfterMs(retryAfter);
  if (pauseMs === undefined) return { taken: false, final: false, problem };
  return { taken: false, final: false, problem, retryAfterMs: Math.min(pauseMs, LONGEST_PAUSE_MS) };
}
