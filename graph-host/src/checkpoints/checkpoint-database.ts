import postgres from "postgres";
import { setTimeout as sleep } from "node:timers/promises";

import { readDeltaHistory, type StoredHistory } from "./delta-history.ts";
import { DatabaseAwayError, isPassingError } from "./errors.ts";
import { byteaText } from "./bytea-text.ts";
import { CheckpointWriter } from "./checkpoint-writer.ts";
import { LastHeads } from "./last-heads.ts";
import { ShownListCache } from "./shown-list-cache.ts";
import { changeCheckpoints } from "./maintenance.ts";
import { type CheckpointQuery, type ReadCheckpoints, readCheckpoints } from "./read-statement.ts";
import type { Finished, WriteItem } from "./rows.ts";
import type { CheckpointChange } from "../../../host-kit/src/host-protocol.ts";
import type { StateCipher } from "../../../host-kit/src/state-cipher.ts";
import { repairResults } from "../../../host-kit/src/dense-results.ts";
import { watchedSocket } from "../../../host-kit/src/watched-socket.ts";

export interface CheckpointDatabaseOptions {
  /** Directory of the Unix socket, instead of the URL's host. */
  socket?: string | null;
  /** Longest outage of the database after which reads and writes fail. Default 60 s. */
  awayMs?: number;
  /** Time without an answer after which a connection is closed and its statement sent again. Default 10 s. */
  silenceMs?: number;
  /** Longest delay of a lazy item, unless an earlier statement carries it. Default 10 ms. */
  lazyMs?: number;
  /** Number of read connections. Default 3; writes use one more. */
  readers?: number;
  /** Largest value of a channel, in bytes. Default 64 MiB. */
  maxValueBytes?: number | undefined;
  /** Called with each statement that is sent. */
  onStatement?: (text: string) => void;
}

/** Type 17 is bytea. Results are hexadecimal, as the driver expects. */
const BYTEA = {
  to: 17,
  from: [17],
  serialize: byteaText,
  parse: (text: string) => Buffer.from(text.slice(2), "hex"),
};

/** Plans are made once, possibly for tables that are still empty: force index scans. */
const PINNED_PLANS = {
  jit: "off",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** Time for the first attempt to establish a session, in milliseconds. */
const START_MS = 2_000;

/** Connections that all savers of a process share: one for writes, a few for reads. */
export class CheckpointDatabase {
  #writer: postgres.Sql;
  #reader: postgres.Sql;
  #commits: CheckpointWriter;
  #awayMs: number;
  /** Last checkpoints of the threads that this process has run. */
  readonly lastHeads = new LastHeads();
  /** Whether long lists are stored whole, for servers that cannot read changes. */
  storesListsWhole = false;
  readonly maxValueBytes: number;
  /** Lists of the threads that this process has shown. */
  readonly shownLists = new ShownListCache();
  /** Lists of the oldest states of the histories that this process has shown. */
  readonly historyLists = new ShownListCache();

  constructor(url: string, options: CheckpointDatabaseOptions = {}) {
    this.#awayMs = options.awayMs ?? 60_000;
    this.maxValueBytes = options.maxValueBytes ?? 64 * 1024 * 1024;
    const connect = (max: number, name: string): postgres.Sql =>
      postgres(url, {
        ...watchedSocket(url, options.silenceMs ?? 10_000, START_MS, PINNED_PLANS),
        ...(options.socket && { host: options.socket }),
        max,
        idle_timeout: name === "reader" ? 60 : undefined,
        max_lifetime: null,
        connect_timeout: 10,
        keep_alive: 5,
        // back-off happens here and in CheckpointWriter, which know what may be retried
        backoff: () => 0,
        // no parameter or result is an array, so the array types need not be fetched
        fetch_types: false,
        onnotice: () => {},
        types: { bytea: BYTEA },
        debug: options.onStatement ? (_connection, text) => options.onStatement!(text) : undefined,
        connection: {
          application_name: `heddle checkpoint ${name}`,
        },
      });
    this.#writer = connect(1, "writer");
    this.#reader = connect(options.readers ?? 3, "reader");
    repairResults(this.#reader);
    this.#commits = new CheckpointWriter(this.#writer, {
      awayMs: this.#awayMs,
      ...(options.lazyMs !== undefined && { lazyMs: options.lazyMs }),
    });
  }

  /** Encrypts what is written from now on, and decrypts what is read. */
  encryptWith(cipher: StateCipher): void {
    this.#commits.cipher = cipher;
  }

  write(item: WriteItem, lazy: boolean): Promise<Finished | undefined> {
    return this.#commits.write(item, lazy);
  }

  relax(items: ReadonlySet<WriteItem>): void {
    this.#commits.relax(items);
  }

  hurry(): void {
    this.#commits.hurry();
  }

  read(query: CheckpointQuery): Promise<ReadCheckpoints> {
    return this.#patiently(() => readCheckpoints(this.#reader, { ...query, cipher: this.#commits.cipher }));
  }

  readDeltaHistory(
    threadId: string,
    ns: string,
    id: string | undefined,
    channels: string[],
    asStored = false,
  ): Promise<Map<string, StoredHistory>> {
    return this.#patiently(() =>
      readDeltaHistory(this.#reader, threadId, ns, id, channels, { asStored, cipher: this.#commits.cipher }),
    );
  }

  change(change: CheckpointChange): Promise<void> {
    return this.#patiently(() => changeCheckpoints(this.#writer, change));
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.end({ timeout: 1 }), this.#reader.end({ timeout: 1 })]);
  }

  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      try {
        return await work();
      } catch (error) {
        if (!isPassingError(error)) throw error;
        const away = performance.now() - since;
        if (away >= this.#awayMs) throw new DatabaseAwayError(away, error);
        await sleep(pause);
      }
    }
  }
}
