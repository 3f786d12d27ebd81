import type { Readable } from "node:stream";

import type { Sql } from "../db/connect.ts";
import { unavailable } from "../errors.ts";
import type { CheckResult } from "../health.ts";
import type { Log } from "../log.ts";
import { RepeatedFailure } from "../repeated-failure.ts";
import { beat, type BlobLocation, deleteUser, noteUse } from "./blob-location.ts";
import type { BlobStore } from "./blob-store.ts";

const BEAT_MS = 5_000;
/** Interval between probes of a bucket that works. */
const PROBE_MS = 10_000;

export interface PlacedBlobsOptions {
  sql: Sql;
  log: Log;
  store: BlobStore;
  location: BlobLocation;
  processId: string;
  /** Throws when the location cannot be used. */
  probe: () => Promise<void>;
}

/** Blob store that this process uses as the recorded location. Writes nothing once another location is recorded. */
export class RecordedBlobStore implements BlobStore {
  readonly #options: PlacedBlobsOptions;
  readonly #failure: RepeatedFailure;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #isNoted: boolean;
  #isLost = false;
  #probedAt = -Infinity;

  constructor(options: PlacedBlobsOptions) {
    this.#options = options;
    this.#isNoted = options.location.in_use;
    this.#failure = new RepeatedFailure({
      log: options.log,
      message: "could not renew the registration of this process as a user of the attachments",
    });
  }

  start(): void {
    this.#timer = setInterval(() => (this.#beating ??= this.#beat()), BEAT_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    const { sql, processId } = this.#options;
    await deleteUser(sql, processId).catch(() => {});
  }

  async put(name: string, content: Buffer): Promise<void> {
    const { sql, store, location } = this.#options;
    if (!this.#isNoted) {
      this.#isLost ||= !(await noteUse(sql, location));
      this.#isNoted = !this.#isLost;
    }
    if (this.#isLost) throw unavailable(this.#lost, 5);
    await store.put(name, content).catch((error: unknown) => {
      // force a probe at the next readiness check
      this.#probedAt = -Infinity;
      throw error;
    });
  }

  read(name: string): Promise<{ size: number; content: Readable } | undefined> {
    return this.#options.store.read(name);
  }

  async delete(names: readonly string[]): Promise<void> {
    if (this.#isLost) throw unavailable(this.#lost, 5);
    await this.#options.store.delete(names);
  }

  /** Readiness check. Partial, because traces without attachments are still accepted. */
  async check(): Promise<CheckResult> {
    if (this.#isLost) return { ok: false, partial: true, reason: this.#lost };
    if (performance.now() - this.#probedAt < PROBE_MS) return { ok: true };
    try {
      await this.#options.probe();
    } catch (error) {
      this.#probedAt = -Infinity;
      return { ok: false, partial: true, reason: (error as Error).message };
    }
    this.#probedAt = performance.now();
    return { ok: true };
  }

  get #lost(): string {
    const { shown } = this.#options.location;
    return `Attachments are no longer stored in ${shown}. Restart this process with the new location.`;
  }

  async #beat(): Promise<void> {
    const { sql, location, processId } = this.#options;
    try {
      this.#isLost = !(await beat(sql, location, processId));
      this.#failure.succeeded();
    } catch (error) {
      this.#failure.failed(error);
    } finally {
      this.#beating = undefined;
    }
  }
}
