/**
 * Hears the database's notifications over a connection of its own. An idle connection whose other end is gone looks like
 * one on which nothing is told, so it is asked every second; when it is lost, the channels are listened to again and
 * `onGap` is called, because what was told meanwhile is not told again.
 */
import type { Log } from "../log.ts";
import { connect, type DatabaseAddress, type Sql } from "./connect.ts";
import { isDatabaseAway } from "./retry.ts";

const PING_MS = 1000;
const SILENCE_MS = 2500;

export interface ListenerOptions {
  log: Log;
  channels: Record<string, (payload: string) => void>;
  /** Notifications may have been missed. */
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

  /** Resolves when the channels are listened to; rejects when the database is away. */
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
    // ahead of the statement: its connection may be lost with the answer on its way
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
      if (!isDatabaseAway(error) && !this.#stopped) this.#o.log.error({ err: error }, "notifications cannot be heard");
    } finally {
      this.#busy = false;
    }
  }
}
