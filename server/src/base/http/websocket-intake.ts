import type { Duplex } from "node:stream";

import type { WebSocket } from "ws";

import type { BodyGate } from "./body-gate.ts";
import type { TenantBody } from "./held-body.ts";

/** Bytes of a socket that are not counted. */
const FREE_BYTES = 16 * 1024;
/** Most queued bytes; beyond them the socket is not read. */
const QUEUED_BYTES = 1024 * 1024;
const QUEUED_MESSAGES = 64;
// RFC 6455 §7.4.1
const TRY_AGAIN_LATER = 1013;
/** Time for the client to receive the close reason; meanwhile nothing is read. */
const LINGER_MS = 1000;

/**
 * Accounts for the messages of one WebSocket that are arriving or queued. They count against the server's memory for
 * bodies; when that is exhausted, the socket is paused for some seconds, then closed.
 *
 * An incomplete message is taken to hold all bytes since the last complete one.
 */
export class WebSocketIntake {
  readonly #memory: TenantBody;
  readonly #socket: WebSocket;
  #arriving = 0;
  #queued = 0;
  #messages = 0;
  #held = 0;
  #waits = false;
  #closed = false;

  /** `raw`: the stream that carries the messages. */
  constructor(gate: BodyGate, socket: WebSocket, raw: Duplex) {
    this.#memory = gate.hold("");
    // messages have no pace
    this.#memory.arrived();
    this.#socket = socket;
    raw.prependListener("data", (chunk: Buffer) => {
      this.#arriving += chunk.length;
      this.#settle();
    });
    socket.prependListener("message", (data: Buffer) => {
      this.#arriving = 0;
      this.#queued += data.length;
      this.#messages += 1;
      this.#settle();
    });
    socket.once("close", () => {
      this.#closed = true;
      this.#memory.end();
    });
  }

  /** Releases a message of so many bytes. To be called once for each message. */
  handled(bytes: number): void {
    this.#queued -= bytes;
    this.#messages -= 1;
    this.#settle();
  }

  #settle(): void {
    if (this.#closed) return;
    const needed = Math.max(0, this.#arriving + this.#queued - FREE_BYTES);
    if (needed < this.#held) {
      this.#memory.give(this.#held - needed);
      this.#held = needed;
    } else if (needed > this.#held && !this.#waits) this.#take(needed - this.#held);
    const isFull = this.#queued > QUEUED_BYTES || this.#messages >= QUEUED_MESSAGES;
    if (isFull || this.#waits) this.#socket.pause();
    else if (this.#socket.isPaused) this.#socket.resume();
  }

  #take(bytes: number): void {
    if (this.#memory.tryUse(bytes)) {
      this.#held += bytes;
      return;
    }
    this.#waits = true;
    this.#memory.use(bytes).then(
      () => {
        if (this.#closed) return;
        this.#waits = false;
        this.#held += bytes;
        this.#settle();
      },
      () => {
        if (this.#closed) return;
        this.#socket.close(TRY_AGAIN_LATER, "The server is out of memory for messages.");
        setTimeout(() => this.#socket.terminate(), LINGER_MS).unref();
      },
    );
  }
}
