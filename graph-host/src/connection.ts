import { Socket } from "node:net";
import { encodeFrame, FrameReader, type HostFrame, type ServerFrame } from "../../host-kit/src/host-protocol.ts";

/** Number of unsent bytes above which the runs stop pulling events from LangGraph. */
const HIGH_WATER_BYTES = 1 << 20;

/**
 * Milliseconds within which events after a write wait for more of them. A write wakes the server and its readers: of 1,000
 * tokens that were sent one by one, writes took half of the processor time.
 */
const GATHER_MS = 1;

/** The host's end of the protocol stream. */
export class Connection {
  #socket: Socket;
  #corked = false;
  #isEnding = false;
  #wroteAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;

  constructor(fd: number, onFrame: (header: ServerFrame, body: Buffer) => void, onEnd: () => void) {
    this.#socket = new Socket({ fd, readable: true, writable: true });
    const reader = new FrameReader<ServerFrame>(onFrame);
    this.#socket.on("data", (chunk: Buffer) => reader.push(chunk));
    this.#socket.on("error", onEnd);
    this.#socket.on("close", onEnd);
  }

  /**
   * Queues a frame. The frames of one turn of the event loop are sent in one write at its end; events that follow another
   * write at once, up to GATHER_MS later.
   */
  send(header: HostFrame, body?: string): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
    }
    this.#socket.write(encodeFrame(header, body));
    if (this.#isEnding) return;
    if (header.t === "event" && performance.now() < this.#wroteAt + GATHER_MS) {
      this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
      return;
    }
    this.#isEnding = true;
    setImmediate(() => this.flush());
  }

  /** Sends queued frames now, because user code may keep the turn from ending. */
  flush(): void {
    this.#isEnding = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#corked) return;
    this.#corked = false;
    this.#wroteAt = performance.now();
    this.#socket.uncork();
  }

  /** Promise to await while the server is slower than the runs; undefined while it keeps up. */
  get drained(): Promise<void> | undefined {
    if (this.#socket.writableLength < HIGH_WATER_BYTES) return undefined;
    this.#draining ??= new Promise((resolve) => {
      this.#socket.once("drain", () => {
        this.#draining = undefined;
        resolve();
      });
    });
    return this.#draining;
  }

  /** Resolves when all sent frames have reached the kernel. */
  end(): Promise<void> {
    this.flush();
    return new Promise((resolve) => this.#socket.end(() => resolve()));
  }
}
