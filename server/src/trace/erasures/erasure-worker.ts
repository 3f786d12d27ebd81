import { alone } from "../../base/db/alone.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import { HeldError } from "../legal-holds/check-holds.ts";
import { type EraseDeps, erase, findGone, rewriteErased } from "./erase.ts";
import * as rows from "./sql.ts";

/** Longer than any replica caches a deleted project and writes its pending runs. */
const GRACE_SECONDS = 60;
const IDLE_MS = 60_000;
const BUSY_MS = 5_000;
const KEEP_DAYS = 365;
/** Advisory lock; unique to this purpose. */
const LOCK = 7_236_531;

/** Executes recorded erasures, those of requests as well as those that a crash interrupted. One server at a time. */
export class ErasureWorker {
  readonly #deps: EraseDeps & { log: Log };
  readonly #graceSeconds: number;
  readonly #poller: Poller;
  #stopped = false;

  constructor(deps: EraseDeps & { log: Log }, { graceSeconds = GRACE_SECONDS } = {}) {
    this.#deps = deps;
    this.#graceSeconds = graceSeconds;
    const failing = "an erasure failed; will retry";
    this.#poller = new Poller({ pass: () => this.pass(), everyMs: IDLE_MS, retryMs: BUSY_MS, log: deps.log, failing });
  }

  start(): void {
    this.#poller.start(IDLE_MS);
  }

  wake(): void {
    this.#poller.wake();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
  }

  /** Advances all erasures as far as possible. Returns the milliseconds until the next pass. */
  async pass(): Promise<number> {
    const { sql } = this.#deps;
    // no connection is reserved, and a sleeping engine not opened, while there is nothing to do
    if (!(await rows.hasOpen(sql))) return IDLE_MS;
    await alone(sql, LOCK, async () => {
      for (const job of await rows.listPending(sql)) {
        if (this.#stopped) return;
        await erase(this.#deps, job).catch(async (error: unknown) => {
          await rows.noteError(sql, job.id, (error as Error).message);
          // a legal hold that was placed since; the erasure waits for its release
          if (!(error instanceof HeldError)) throw error;
        });
      }
      await rewriteErased(this.#deps, { graceSeconds: this.#graceSeconds, all: false });
      await findGone(this.#deps);
      await rows.forgetErasures(sql, KEEP_DAYS);
    });
    return BUSY_MS;
  }
}
