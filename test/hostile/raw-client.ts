/**
 * An HTTP/1.1 client that sends the bytes it is given: the libraries do not send what a hostile caller sends. It
 * reads one response, as a client would that trusts nothing.
 */
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  /** 0: the connection was closed without a response. */
  status: number;
  headers: Record<string, string>;
  /** The first `MAX_KEPT` bytes. */
  body: Buffer;
  ms: number;
  /** `pending`: no response within the patience; `stream`: an open event stream, of which the beginning was read. */
  end: "complete" | "closed" | "pending" | "stream";
}

export interface RawRequest {
  port: number;
  head: Buffer;
  body: Buffer;
  /** Whether the request is well-formed, so that its connection can serve another one. */
  keepAlive: boolean;
  patienceMs: number;
}

const MAX_KEPT = 4 * 1024 * 1024;
const STREAM_MS = 150;
/** Node.js closes idle connections after 75 s. */
const IDLE_MS = 20_000;

export class RawClient {
  readonly #idle = new Map<number, Socket[]>();

  async send(request: RawRequest): Promise<RawAnswer> {
    const idle = request.keepAlive ? this.#takeIdle(request.port) : undefined;
    if (idle) {
      const answer = await this.#sendOver(idle, request);
      // the server closed the connection while it was idle
      if (answer.status !== 0 || answer.end !== "closed") return answer;
    }
    return this.#sendOver(connect({ port: request.port, host: "127.0.0.1", noDelay: true }), request);
  }

  #sendOver(socket: Socket, request: RawRequest): Promise<RawAnswer> {
    return new Promise((resolve) => {
      const started = performance.now();
      const reader = new ResponseReader();
      let isDone = false;
      const finish = (end: RawAnswer["end"]): void => {
        if (isDone) return;
        isDone = true;
        clearTimeout(patience);
        clearTimeout(streaming);
        socket.removeAllListeners("data");
        const { status, headers } = reader;
        const ms = performance.now() - started;
        if (end === "complete" && request.keepAlive && reader.isReusable) this.#keep(request.port, socket);
        else socket.destroy();
        resolve({ status, headers, body: Buffer.concat(reader.kept), ms, end });
      };
      const patience = setTimeout(() => finish(reader.status === 0 ? "pending" : "stream"), request.patienceMs);
      let streaming: NodeJS.Timeout | undefined;
      socket.removeAllListeners("error").removeAllListeners("close").removeAllListeners("timeout");
      socket.setTimeout(0);
      socket.on("error", () => {});
      socket.on("close", () => finish(reader.endsWithConnection ? "complete" : "closed"));
      socket.on("data", (data: Buffer) => {
        reader.take(data);
        if (reader.isComplete) finish("complete");
        else if (reader.headers["content-type"]?.startsWith("text/event-stream")) {
          streaming ??= setTimeout(() => finish("stream"), STREAM_MS);
        }
      });
      socket.write(request.head);
      if (request.body.length > 0) socket.write(request.body);
    });
  }

  close(): void {
    for (const sockets of this.#idle.values()) for (const socket of sockets) socket.destroy();
    this.#idle.clear();
  }

  #takeIdle(port: number): Socket | undefined {
    const sockets = this.#idle.get(port) ?? [];
    for (let socket = sockets.pop(); socket; socket = sockets.pop()) if (!socket.destroyed) return socket;
    return undefined;
  }

  #keep(port: number, socket: Socket): void {
    const sockets = this.#idle.get(port) ?? [];
    this.#idle.set(port, sockets);
    sockets.push(socket);
    socket.once("close", () => sockets.splice(sockets.indexOf(socket) >>> 0, 1));
    socket.setTimeout(IDLE_MS, () => socket.destroy());
  }
}

/** Reads a response incrementally. */
class ResponseReader {
  status = 0;
  headers: Record<string, string> = {};
  readonly kept: Buffer[] = [];
  isComplete = false;
  #head = Buffer.alloc(0);
  #isInBody = false;
  #keptBytes = 0;
  /** Bytes that are left of the body, or of the chunk. */
  #left = 0;
  #isChunked = false;
  #isUntilClose = false;
  #line = "";

  get endsWithConnection(): boolean {
    return this.#isUntilClose;
  }

  get isReusable(): boolean {
    return !this.#isUntilClose && this.status !== 101 && this.headers["connection"]?.toLowerCase() !== "close";
  }

  take(data: Buffer): void {
    if (this.isComplete) return;
    if (this.#isInBody) return this.#takeBody(data);
    this.#head = Buffer.concat([this.#head, data]);
    // the end of the previous response's last chunk
    while (this.#head[0] === 0x0d || this.#head[0] === 0x0a) this.#head = this.#head.subarray(1);
    const end = this.#head.indexOf("\r\n\r\n");
    if (end === -1) return;
    const [first = "", ...lines] = this.#head.subarray(0, end).toString("latin1").split("\r\n");
    const rest = this.#head.subarray(end + 4);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 999);
    this.#head = Buffer.alloc(0);
    if (status < 200 && status !== 101) return this.take(rest);
    this.status = status;
    this.headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    this.#isInBody = true;
    const length = this.headers["content-length"];
    if (status === 204 || status === 304 || status === 101) this.isComplete = true;
    else if (/chunked/i.test(this.headers["transfer-encoding"] ?? "")) this.#isChunked = true;
    else if (length === undefined) this.#isUntilClose = true;
    else {
      this.#left = Number(length);
      this.isComplete = this.#left === 0;
    }
    if (rest.length > 0) this.#takeBody(rest);
  }

  #takeBody(data: Buffer): void {
    if (this.#isUntilClose) return this.#keep(data);
    if (!this.#isChunked) {
      // what follows is the response to another request
      this.#keep(data.subarray(0, this.#left));
      this.#left -= data.length;
      this.isComplete = this.#left <= 0;
      return;
    }
    for (let at = 0; at < data.length && !this.isComplete;) {
      if (this.#left > 0) {
        const part = data.subarray(at, at + this.#left);
        this.#keep(part);
        this.#left -= part.length;
        at += part.length;
        continue;
      }
      const newline = data.indexOf(0x0a, at);
      const until = newline === -1 ? data.length : newline + 1;
      this.#line += data.toString("latin1", at, until);
      at = until;
      if (newline === -1) continue;
      const text = this.#line.trim();
      this.#line = "";
      // the line break after a chunk, or the one after the last chunk
      if (text === "") continue;
      this.#left = parseInt(text, 16);
      this.isComplete = this.#left === 0;
    }
  }

  #keep(data: Buffer): void {
    if (this.#keptBytes >= MAX_KEPT) return;
    this.kept.push(data);
    this.#keptBytes += data.length;
  }
}
