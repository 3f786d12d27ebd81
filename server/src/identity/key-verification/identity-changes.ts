import { setTimeout as sleep } from "node:timers/promises";

import type { Sql } from "../../base/db/connect.ts";
import { selectIdentityVersion } from "../identity-cache.ts";

/** Lets callers wait for a change of keys, roles, members or workspaces. Starts listening with the first caller. */
export class IdentityChanges {
  readonly #sql: Sql;
  #listening: Promise<unknown> | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * @returns the version as soon as it differs from `known`; the same version after `waitMs` or when the caller
   * disconnects
   */
  async next(known: string | undefined, waitMs: number, signal: AbortSignal): Promise<string> {
    if (waitMs > 0) await this.#listen();
    const until = performance.now() + waitMs;
    for (;;) {
      const announced = this.#announcement();
      const version = await selectIdentityVersion(this.#sql);
      const left = until - performance.now();
      if (version !== known || left <= 0 || signal.aborted) return version;
      const over = new AbortController();
      const ended = AbortSignal.any([signal, over.signal]);
      // if the listening connection is lost, callers poll at this interval
      await Promise.race([announced, sleep(Math.min(left, 2000), undefined, { signal: ended, ref: false })]).catch(
        () => {},
      );
      over.abort();
    }
  }

  #announcement(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #listen(): Promise<unknown> {
    const announce = () => {
      for (const resolve of this.#waiting) resolve();
      this.#waiting.clear();
    };
    this.#listening ??= this.#sql.listen("heddle_identity", announce, announce).catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    return this.#listening;
  }
}
