import type { ClickHouseClientConfigOptions } from "@clickhouse/client";

import { deferred } from "../deferred.ts";
import { coerceError, unavailable } from "../errors.ts";

type Connection = NonNullable<ClickHouseClientConfigOptions["connection"]>;

export interface LazyConnectionOptions {
  /** Opens the connection. Called by the first statement, and again by the next ones while it fails. */
  open: () => Promise<Connection>;
  /** Work on the new connection that all other statements wait for. */
  prepare: (connection: Connection) => Promise<unknown>;
  /** Releases what was acquired before the first statement. */
  release: () => void;
}

/** A connection that is opened by its first statement. While it cannot be opened, statements fail with 503. */
export class LazyConnection implements Connection {
  /** Whether no statement has needed it yet. */
  isAsleep = true;
  readonly #ready = deferred<void>();
  readonly #options: LazyConnectionOptions;
  #opened: Promise<Connection> | undefined;
  #closed = false;

  constructor(options: LazyConnectionOptions) {
    this.#options = options;
  }

  /** Resolves when it has been opened; never, if nothing needs it. */
  get awake(): Promise<void> {
    return this.#ready.promise;
  }

  async query(...args: Parameters<Connection["query"]>): ReturnType<Connection["query"]> {
    return (await this.#connection()).query(...args);
  }

  async command(...args: Parameters<Connection["command"]>): ReturnType<Connection["command"]> {
    return (await this.#connection()).command(...args);
  }

  async exec(...args: Parameters<Connection["exec"]>): ReturnType<Connection["exec"]> {
    return (await this.#connection()).exec(...args);
  }

  async insert(...args: Parameters<Connection["insert"]>): ReturnType<Connection["insert"]> {
    return (await this.#connection()).insert(...args);
  }

  async ping(...args: Parameters<Connection["ping"]>): ReturnType<Connection["ping"]> {
    return (await this.#connection()).ping(...args);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const connection = await this.#opened?.catch(() => undefined);
    if (connection) await connection.close();
    else this.#options.release();
  }

  #connection(): Promise<Connection> {
    if (this.#closed) throw unavailable("The trace store is shutting down.");
    this.isAsleep = false;
    return (this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw unavailable(`The trace store could not be opened: ${coerceError(error).message}`, 5, error);
    }));
  }

  async #open(): Promise<Connection> {
    const connection = await this.#options.open();
    await this.#options.prepare(connection);
    this.#ready.resolve();
    return connection;
  }
}
