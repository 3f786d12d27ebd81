import { Poller } from "../../base/polling/poller.ts";
import type { Sql } from "../../base/db/connect.ts";
import type { Log } from "../../base/log.ts";
import type { Driver } from "../drivers/driver.ts";
import { endedInstances } from "./sql.ts";

const POLL_MS = 5_000;

export interface ReaperOptions {
  sql: Sql;
  log: Log;
  driver: Driver;
  place: string;
  settings: { drainSeconds: number };
}

/**
 * Stops processes of this machine whose instances the leader has ended, because it runs them on another machine. Every
 * control plane does this for its own machine.
 */
export class Reaper {
  readonly #options: ReaperOptions;
  readonly #poller: Poller;
  readonly #stopping = new Set<string>();

  constructor(options: ReaperOptions) {
    this.#options = options;
    const failing = "could not look for processes of ended instances; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: POLL_MS, log: options.log, failing });
  }

  start(): void {
    this.#poller.start(POLL_MS);
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #pass(): Promise<void> {
    const { sql, log, driver, place, settings } = this.#options;
    for (const { id, pid, started } of await endedInstances(sql, place)) {
      const process = { pid, started };
      if (this.#stopping.has(id) || !driver.isAlive(process)) continue;
      this.#stopping.add(id);
      log.info({ instance: id }, "stopping an instance that another machine has replaced");
      void driver
        .stop(process, settings.drainSeconds * 1000)
        .catch((error: unknown) => log.warn({ err: error, instance: id }, "an ended instance did not stop"))
        .finally(() => this.#stopping.delete(id));
    }
  }
}
