/**
 * Sockets of a pool. postgres.js waits for an answer for as long as the socket is open, and it loses statements sent
 * between a socket's `error` and its `close`. What it had not yet written when a socket closed stays in its buffer: the
 * start of the next session is appended to it, and not written before the buffer has 1,024 bytes. So such a socket
 *
 * - sends of the first write the start of the session only, and connects with it. When nothing is written in the turn of
 *   the event loop after its creation, it closes: postgres.js then tries again at once, which fills its buffer,
 * - is destroyed when nothing comes back for `silenceMs` after a write: the other end is gone or frozen, and TCP may
 *   take a quarter of an hour to find that out,
 * - is destroyed when its session is not established in time: initially within `startMs`, and twice as long after each
 *   failure, so that one lost attempt delays no statement for long and a slow database is reached nevertheless,
 * - reports a loss by `close` alone once the session is established, so that all statements in flight fail,
 * - drops the error with which Postgres ends a session, and closes at once: postgres.js would report it for the first
 *   statement of the next session, which it would then not send,
 * - reports a loss during session start-up as an error, because postgres.js would otherwise retry at once, forever,
 * - applies the settings of the session before postgres.js knows that it is established: PgBouncer rejects them as
 *   parameters of the start-up.
 *
 * TLS is established here (secure-socket.ts), not by postgres.js, which would hide the session from the socket.
 */
import { Socket } from "node:net";

import { openSecure, tlsOf } from "./secure-socket.ts";

const READY_FOR_QUERY = 0x5a;
const READY_BYTES = 6;
const ERROR = 0x45;
/** Codes of the packets that begin a session and a cancellation. */
const BEGINNINGS = [196608, 80877102];
const GRACE_MS = 101;
const MAX_START_MS = 10_000;

interface Starts {
  firstMs: number;
  /** Time in which the next session must be established, in milliseconds. */
  limitMs: number;
}

/** Settings of a session (`set name = value`). */
export type SessionSettings = Readonly<Record<string, string | number>>;

type Write = (...args: unknown[]) => boolean;
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

class SocketWatch {
  readonly #socket: Socket;
  /** Query that applies the settings, until it is sent. */
  #settings: Buffer | undefined;
  /** End of the start-up, withheld until the settings are applied, and the answer to their query. */
  #applying: { ready: Buffer; answer: Buffer } | undefined;
  #established = false;
  #failed = false;
  /** Whether postgres.js began the session. */
  #begun = false;
  readonly #silenceMs: number;
  /** Number of bytes read when the last write was made. */
  #readAtWrite = -1;
  #timer: NodeJS.Timeout | undefined;
  #silentSince = 0;
  readonly #write: Write;
  readonly #emit: Emit;

  /**
   * @param connect called before the first write
   * @param silenceMs 0: silence is not limited
   * @param starts settings of the pool, updated by each attempt
   */
  constructor(socket: Socket, connect: () => void, silenceMs: number, starts: Starts, settings: SessionSettings) {
    this.#socket = socket;
    this.#settings = settingsQuery(settings);
    this.#silenceMs = silenceMs;
    this.#write = socket.write.bind(socket) as Write;
    this.#emit = socket.emit.bind(socket) as Emit;
    const stopTimer = limitStart(socket, starts);
    // the first listener: a session is established before postgres.js sends its first statement
    const watchStart = (chunk: Buffer) => {
      if (chunk.at(-READY_BYTES) !== READY_FOR_QUERY) return;
      this.#established = true;
      stopTimer();
      starts.limitMs = starts.firstMs;
      socket.off("data", watchStart);
    };
    socket.on("data", watchStart);
    socket.once("close", () => clearTimeout(this.#timer));
    socket.emit = this.#onEvent.bind(this) as Socket["emit"];
    const watched = this.#onWrite.bind(this);
    socket.write = ((bytes: unknown, ...args: unknown[]) => {
      this.#begun = true;
      connect();
      // `connect` drops an overridden `write`
      socket.write = watched as Socket["write"];
      return watched(lastBeginning(bytes as Buffer), ...args);
    }) as Socket["write"];
    setImmediate(() => setImmediate(() => this.#begun || socket.destroy()));
  }

  #onWrite(...args: unknown[]): boolean {
    if (this.#silenceMs > 0) {
      this.#readAtWrite = this.#socket.bytesRead;
      this.#silentSince = performance.now();
      this.#timer ??= this.#watchSilence(this.#silenceMs);
    }
    return this.#write(...args);
  }

  #onEvent(event: string | symbol, ...args: unknown[]): boolean {
    if (event === "data" && (this.#settings || this.#applying)) return this.#applySettings(args[0] as Buffer);
    if (event === "data" && this.#established) return this.#receive(args[0] as Buffer);
    if (event === "error") {
      if (this.#established) return true;
      this.#failed = true;
    } else if (event === "close" && this.#established) return this.#emit("close", false);
    else if (event === "close" && this.#begun && !this.#failed && this.#socket.listenerCount("error") > 0) {
      this.#emit("error", lost("ECONNRESET", "The connection was closed before its session was established"));
      return this.#emit("close", true);
    }
    return this.#emit(event, ...args);
  }

  #receive(chunk: Buffer): boolean {
    const end = endOfSession(chunk);
    if (end === undefined) return this.#emit("data", chunk);
    if (end > 0) this.#emit("data", chunk.subarray(0, end));
    this.#socket.destroy();
    return true;
  }

  #applySettings(chunk: Buffer): boolean {
    if (this.#settings) {
      if (chunk.at(-READY_BYTES) !== READY_FOR_QUERY) return this.#emit("data", chunk);
      const query = this.#settings;
      this.#settings = undefined;
      this.#applying = { ready: chunk.subarray(-READY_BYTES), answer: Buffer.alloc(0) };
      if (chunk.length > READY_BYTES) this.#emit("data", chunk.subarray(0, -READY_BYTES));
      return this.#write(query);
    }
    const { ready, answer } = this.#applying!;
    const received = Buffer.concat([answer, chunk]);
    this.#applying = { ready, answer: received };
    if (received.at(-READY_BYTES) !== READY_FOR_QUERY) return true;
    const problem = errorIn(received);
    if (problem !== undefined) {
      this.#socket.destroy(lost("SETTINGS_REJECTED", `The database rejected the settings of the session: ${problem}`));
      return true;
    }
    this.#applying = undefined;
    return this.#emit("data", ready);
  }

  #watchSilence(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      if (this.#socket.bytesRead !== this.#readAtWrite) return;
      const silent = performance.now() - this.#silentSince;
      if (silent < this.#silenceMs) this.#timer = this.#watchSilence(this.#silenceMs - silent);
      // read first any answer that arrived while this process was frozen or busy
      else if (ms !== GRACE_MS) this.#timer = this.#watchSilence(GRACE_MS);
      else this.#socket.destroy(lost("ETIMEDOUT", `The database did not respond for ${Math.round(silent)} ms`));
    }, ms).unref();
  }
}

/** Destroys the socket when the time for a start is over, which is then doubled for the next. @returns ends the limit */
function limitStart(socket: Socket, starts: Starts): () => void {
  const ms = starts.limitMs;
  const timer = setTimeout(() => {
    starts.limitMs = Math.min(ms * 2, MAX_START_MS);
    socket.destroy(lost("CONNECT_TIMEOUT", `The database did not start a session within ${ms} ms`));
  }, ms).unref();
  const stop = () => clearTimeout(timer);
  socket.once("close", stop);
  return stop;
}

/** What postgres.js passes to the option `socket`. */
interface PoolOptions {
  /** Path of a Unix socket; takes precedence over host and port. */
  path?: string;
  host: string[];
  port: number[];
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

/** Returns the packet that begins a session, without what precedes it. */
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
 * Creates the options `socket` and `ssl` of postgres.js; its types omit the first. Several hosts are tried in turn.
 * @param uri says whether sessions are within TLS
 * @param startMs time for the first attempt to establish a session; shorter than 10 s only where all callers retry
 * @param settings settings of each session
 */
export function watchedSocket(
  uri: string,
  silenceMs: number,
  startMs = MAX_START_MS,
  settings: SessionSettings = {},
): { socket: (options: PoolOptions) => Socket | Promise<Socket>; ssl: false } {
  let opened = 0;
  const starts: Starts = { firstMs: startMs, limitMs: startMs };
  const tls = tlsOf(uri);
  const watch = (socket: Socket, connect: () => void) => {
    new SocketWatch(socket, connect, silenceMs, starts, settings);
    return socket;
  };
  return {
    ssl: false,
    socket({ path, host, port }: PoolOptions) {
      const at = opened++ % host.length;
      const socket = new Socket();
      const connect = () => (path ? socket.connect(path) : socket.connect(port[at]!, host[at]!));
      // as in libpq, a Unix socket needs no TLS
      if (!tls || path) return watch(socket, connect);
      const stopTimer = limitStart(socket, starts);
      connect();
      return openSecure(socket, host[at]!, tls).then((secure) => {
        stopTimer();
        return watch(secure, () => {});
      }, failedSocket);
    },
  };
}

/** Returns a socket that fails when postgres.js listens to it, which would lose a connection of its pool by a rejection. */
function failedSocket(error: Error): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(error));
  return socket;
}

const lost = (code: string, message: string): Error => Object.assign(new Error(message), { code });
