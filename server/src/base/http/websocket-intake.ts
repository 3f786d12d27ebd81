import type { Duplex } from "node:stream";

import type { WebSocket } from "ws";

import type { BodyGate } from "./body-gate.ts";

/** Of a socket, without being counted. */
const FREE_BYTES = 16 * 1024;
/** What may wait to be handled; beyond it the socket is not read. */
const QUEUED_BYTES = 1024 * 1024;
const QUEUED_MESSAGES = 64;
// RFC 6455 §7.4.1
const TRY_AGAIN_LATER = 1013;
/** For the other side to hear why; what it sends meanwhile is not read. */
const LINGER_MS = 1000;

/**
 * The messages of one WebSocket that are arriving or wait to be handled. They count against the memory for bodies of
 * the server; where that has no room the socket is not read for some seconds, then closed.
 *
 * Bytes of a message that has not ended yet are taken to be all those since the last whole one.
 */
export class WebSocketIntake {
  readonly #gate: BodyGate;
  readonly #socket: WebSocket;
  #arriving = 0;
  #queued = 0;
  #messages = 0;
  #held = 0;
  #waits = false;
  #closed = false;

  /** `raw`: what the messages come over. */
  constructor(gate: BodyGate, socket: WebSocket, raw: Duplex) {
    this.#gate = gate;
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
      gate.budget.give(this.#held);
      this.#held = 0;
    });
  }

  /** A message of so many bytes is no longer in memory. To be called once for each message. */
  handled(bytes: number): void {
    this.#queued -= bytes;
    this.#messages -= 1;
    this.#settle();
  }

  #settle(): void {
    if (this.#closed) return;
    const needed = Math.max(0, this.#arriving + this.#queued - FREE_BYTES);
    if (needed < this.#held) {
      this.#gate.budget.give(this.#held - needed);
      this.#held = needed;
    } else if (needed > this.#held && !this.#waits) this.#take(needed - this.#held);
    const isFull = this.#queued > QUEUED_BYTES || this.#messages >= QUEUED_MESSAGES;
    if (isFull || this.#waits) this.#socket.pause();
    else if (this.#socket.isPaused) this.#socket.resume();
  }

  #take(bytes: number): void {
    if (this.#gate.budget.take(bytes)) {
      this.#held += bytes;
      return;
    }
    this.#waits = true;
    this.#gate.reserve(bytes).then(
      () => {
        if (this.#closed) return this.#gate.budget.give(bytes);
        this.#waits = false;
        this.#held += bytes;
        this.#settle();
      },
      () => {
        if (this.#closed) return;
        this.#socket.close(TRY_AGAIN_LATER, "The server has no memory for this message now.");
        setTimeout(() => this.#socket.terminate(), LINGER_MS).unref();
      },
    );
  }
}
