/**
 * Sockets of a pool. postgres.js waits for an answer for as long as the socket is open, and it loses statements sent
 * between a socket's `error` and its `close`. What it had not yet written when a socket closed stays in its buffer: the
 * start of the next session is appended to it, and not written before the buffer has 1,024 bytes. So a socket of this
 * class
 *
 * - connects with the first write, and sends of it the start of the session only. When nothing is written in the turn of
 *   the event loop after its creation, it closes: postgres.js then tries again at once, which fills its buffer,
 * - is destroyed when nothing comes back for `silenceMs` after a write: the other end is gone or frozen, and TCP may
 *   take a quarter of an hour to find that out,
 * - is destroyed when its session is not established in time: initially within `startMs`, and twice as long after each
 *   failure, so that one lost attempt delays no statement for long and a slow database is reached nevertheless,
 * - reports a loss by `close` alone once the session is established, so that all statements in flight fail,
 * - drops the error with which Postgres ends a session, and closes at once: postgres.js would report it for the first
 *   statement of the next session, which it would then not send. Within TLS this cannot be seen,
 * - reports a loss during session start-up as an error, because postgres.js would otherwise retry at once, forever,
 * - applies the settings of the session before postgres.js knows that it is established: PgBouncer rejects them as
 *   parameters of the start-up. Within TLS, which hides the session from the socket, they are such parameters.
 */
import { Socket } from "node:net";

const READY_FOR_QUERY = 0x5a;
const READY_BYTES = 6;
const ERROR = 0x45;
/** Codes of the packets that begin a connection: of a session, of TLS and of a cancellation. */
const BEGINNINGS = [196608, 80877103, 80877102];
const GRACE_MS = 101;
const MAX_START_MS = 10_000;

interface SocketAddress {
  /** Path of a Unix socket; takes precedence over host and port. */
  path: string | undefined;
  host: string;
  port: number;
}

interface Starts {
  firstMs: number;
  /** Time in which the next session must be established, in milliseconds. */
  limitMs: number;
}

/** Settings of a session (`set name = value`). */
export type SessionSettings = Readonly<Record<string, string | number>>;

class WatchedSocket extends Socket {
  /** Query that applies the settings, until it is sent. */
  #settings: Buffer | undefined;
  /** End of the start-up, withheld until the settings are applied, and the answer to their query. */
  #applying: { ready: Buffer; answer: Buffer } | undefined;
  #established = false;
  #failed = false;
  /** Whether postgres.js began the connection. */
  #begun = false;
  readonly #silenceMs: number;
  /** Number of bytes read when the last write was made. */
  #readAtWrite = -1;
  #timer: NodeJS.Timeout | undefined;
  #silentSince = 0;

  /**
   * @param silenceMs 0: silence is not limited
   * @param starts settings of the pool, updated by each attempt
   */
  constructor(silenceMs: number, starts: Starts, settings: SessionSettings) {
    super();
    this.#settings = settingsQuery(settings);
    this.#silenceMs = silenceMs;
    const startMs = starts.limitMs;
    const start = setTimeout(() => {
      starts.limitMs = Math.min(startMs * 2, MAX_START_MS);
      this.destroy(lost("CONNECT_TIMEOUT", `The database did not start a session within ${startMs} ms`));
    }, startMs).unref();
    // the first listener: a session is established before postgres.js sends its first statement
    const watchStart = (chunk: Buffer) => {
      if (chunk.at(-READY_BYTES) !== READY_FOR_QUERY) return;
      this.#established = true;
      clearTimeout(start);
      starts.limitMs = starts.firstMs;
      this.off("data", watchStart);
    };
    this.on("data", watchStart);
    this.once("close", () => {
      clearTimeout(this.#timer);
      clearTimeout(start);
    });
  }

  /** Connects with the first write. */
  open({ path, host, port }: SocketAddress): this {
    const write = Socket.prototype.write.bind(this) as (...args: unknown[]) => boolean;
    const watched = (...args: unknown[]) => {
      if (this.#silenceMs > 0) {
        this.#readAtWrite = this.bytesRead;
        this.#silentSince = performance.now();
        this.#timer ??= this.#watch(this.#silenceMs);
      }
      return write(...args);
    };
    this.write = (bytes: unknown, ...args: unknown[]) => {
      this.#begun = true;
      if (path) this.connect(path);
      else this.connect(port, host);
      // `connect` drops an overridden `write`
      this.write = watched;
      return watched(lastBeginning(bytes as Buffer), ...args);
    };
    setImmediate(() => setImmediate(() => this.#begun || this.destroy()));
    return this;
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === "data" && (this.#settings || this.#applying)) return this.#applySettings(args[0] as Buffer);
    if (event === "data" && this.#established) return this.#receive(args[0] as Buffer);
    if (event === "error") {
      if (this.#established) return true;
      this.#failed = true;
    } else if (event === "close" && this.#established) return super.emit("close", false);
    else if (event === "close" && this.#begun && !this.#failed && this.listenerCount("error") > 0) {
      super.emit("error", lost("ECONNRESET", "The connection was closed before its session was established"));
      return super.emit("close", true);
    }
    return super.emit(event, ...args);
  }

  #receive(chunk: Buffer): boolean {
    const end = endOfSession(chunk);
    if (end === undefined) return super.emit("data", chunk);
    if (end > 0) super.emit("data", chunk.subarray(0, end));
    this.destroy();
    return true;
  }

  #applySettings(chunk: Buffer): boolean {
    if (this.#settings) {
      if (chunk.at(-READY_BYTES) !== READY_FOR_QUERY) return super.emit("data", chunk);
      const query = this.#settings;
      this.#settings = undefined;
      this.#applying = { ready: chunk.subarray(-READY_BYTES), answer: Buffer.alloc(0) };
      if (chunk.length > READY_BYTES) super.emit("data", chunk.subarray(0, -READY_BYTES));
      return super.write(query);
    }
    const { ready, answer } = this.#applying!;
    const received = Buffer.concat([answer, chunk]);
    this.#applying = { ready, answer: received };
    if (received.at(-READY_BYTES) !== READY_FOR_QUERY) return true;
    const problem = errorIn(received);
    if (problem !== undefined) {
      this.destroy(lost("SETTINGS_REJECTED", `The database rejected the settings of the session: ${problem}`));
      return true;
    }
    this.#applying = undefined;
    return super.emit("data", ready);
  }

  #watch(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      if (this.bytesRead !== this.#readAtWrite) return;
      const silent = performance.now() - this.#silentSince;
      if (silent < this.#silenceMs) this.#timer = this.#watch(this.#silenceMs - silent);
      // read first any answer that arrived while this process was frozen or busy
      else if (ms !== GRACE_MS) this.#timer = this.#watch(GRACE_MS);
      else this.destroy(lost("ETIMEDOUT", `The database did not respond for ${Math.round(silent)} ms`));
    }, ms).unref();
  }
}

/** What postgres.js passes to the option `socket`. */
interface PoolOptions {
  path?: string;
  host: string[];
  port: number[];
  ssl?: unknown;
  /** Parameters of the start-up. */
  connection: Record<string, unknown>;
}

/** Returns a message of the simple protocol; undefined without settings. */
function settingsQuery(settings: SessionSettings): Buffer | undefined {
  const names = Object.keys(settings);
  if (names.length === 0) return undefined;
  const text = names.map((name) => `set ${name} = '${settings[name]}'`).join("; ");
  const query = Buffer.alloc(text.length + 6);
  query.write("Q");
  query.writeInt32BE(text.length + 5, 1);
  query.write(text, 5);
  return query;
}

/** Returns the packet that begins a connection, without what precedes it. */
function lastBeginning(bytes: Buffer): Buffer {
  for (let at = bytes.length - 8; at >= 0; at--) {
    if (bytes.readInt32BE(at) === bytes.length - at && BEGINNINGS.includes(bytes.readInt32BE(at + 4)))
      return bytes.subarray(at);
  }
  return bytes;
}

/** Returns where an error begins that ends the session, if that is the last message. */
function endOfSession(chunk: Buffer): number | undefined {
  // a message of an error ends with two zeros, a whole answer to a statement does not
  if (chunk.at(-1) !== 0 || chunk.at(-2) !== 0) return undefined;
  for (let at = chunk.lastIndexOf(ERROR); at >= 0; at = at > 0 ? chunk.lastIndexOf(ERROR, at - 1) : -1) {
    const isLast = at + 5 <= chunk.length && at + 1 + chunk.readInt32BE(at + 1) === chunk.length;
    if (isLast && /\0V(FATAL|PANIC)\0/.test(chunk.toString("latin1", at))) return at;
  }
  return undefined;
}

/** Returns the message of the first error in an answer. */
function errorIn(answer: Buffer): string | undefined {
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readInt32BE(at + 1)) {
    if (answer[at] !== ERROR) continue;
    const fields = answer.toString("utf8", at + 5, at + 1 + answer.readInt32BE(at + 1)).split("\0");
    return fields.find((field) => field.startsWith("M"))?.slice(1) ?? "unknown error";
  }
  return undefined;
}

/**
 * Creates the `socket` option of postgres.js, which its types omit. Several hosts are tried in turn.
 * @param startMs time for the first attempt to establish a session; shorter than 10 s only where all callers retry
 * @param settings settings of each session
 */
export function watchedSocket(silenceMs: number, startMs = MAX_START_MS, settings: SessionSettings = {}) {
  let opened = 0;
  const starts: Starts = { firstMs: startMs, limitMs: startMs };
  return {
    socket({ path, host, port, ssl, connection }: PoolOptions): Socket {
      if (ssl) Object.assign(connection, settings);
      const at = opened++ % host.length;
      const address = { path, host: host[at]!, port: port[at]! };
      // postgres.js verifies the certificate for this name
      return Object.assign(new WatchedSocket(silenceMs, starts, ssl ? {} : settings).open(address), {
        host: address.host,
      });
    },
  };
}

const lost = (code: string, message: string): Error => Object.assign(new Error(message), { code });
