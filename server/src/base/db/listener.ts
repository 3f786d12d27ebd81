/**
 * Receives the database's notifications over a separate connection. A dead idle connection looks like one without
 * notifications, so it is pinged every second; after a loss, the channels are subscribed again and `onGap` is called,
 * because missed notifications are not repeated.
 */
import type { Log } from "../log.ts";
import { connect, type DatabaseAddress, type Sql } from "./connect.ts";
import { isDatabaseUnavailable } from "./retry.ts";

const PING_MS = 1000;
const SILENCE_MS = 2500;

export interface ListenerOptions {
  log: Log;
  channels: Record<string, (payload: string) => void>;
  /** Called when notifications may have been missed. */
  onGap(): void;
}

export class Listener {
  readonly #sql: Sql;
  readonly #o: ListenerOptions;
  #listening = false;
  #busy = false;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: DatabaseAddress, options: ListenerOptions) {
    this.#o = options;
    this.#sql = connect(database, {
      max: 1,
      name: "heddle listen",
      silenceMs: SILENCE_MS,
      onNotify: (channel, payload) => options.channels[channel]?.(payload),
      onClose: () => {
        this.#listening = false;
        if (!this.#stopped) setTimeout(() => void this.#tick(), 50).unref();
      },
    });
  }

  /** Resolves when subscribed; rejects when the database is unreachable. */
  async start(): Promise<void> {
    await this.#listen();
    this.#timer = setInterval(() => void this.#tick(), PING_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#sql.end({ timeout: 0.5 });
  }

  async #listen(): Promise<void> {
    // set before the statement: its connection may be lost while the answer is on its way
    this.#listening = true;
    const statements = Object.keys(this.#o.channels).map((channel) => `listen "${channel}"`);
    await this.#sql.unsafe(statements.join("; ")).catch((error: unknown) => {
      this.#listening = false;
      throw error;
    });
  }

  async #tick(): Promise<void> {
    if (this.#busy || this.#stopped) return;
    this.#busy = true;
    try {
      if (this.#listening) await this.#sql.unsafe("select 1");
      else {
        await this.#listen();
        if (this.#listening) this.#o.onGap();
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !this.#stopped)
        this.#o.log.error({ err: error }, "cannot receive notifications from the database");
    } finally {
      this.#busy = false;
    }
  }
}
