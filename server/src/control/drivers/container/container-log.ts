import type { IncomingMessage } from "node:http";

import type { Engine } from "./engine.ts";

const CHUNK = 256 * 1024;
/** Most unread bytes; beyond them the engine blocks, and with it the container's output. */
const KEPT = 1024 * 1024;

/**
 * Reads a container's output by position: bytes since its start, both streams in the engine's order. The engine's line
 * times are too coarse to resume by (Podman 4: whole seconds), so a new reader starts at the beginning and skips what
 * was read before.
 */
export class ContainerLog {
  readonly #answer: Promise<IncomingMessage>;
  /** Unread output; `#position` is its start. */
  #kept: Buffer[] = [];
  #size = 0;
  #position: number;
  #toSkip: number;
  #isOver = false;
  readonly #ended: Promise<void>;

  constructor(engine: Engine, container: string, position: number) {
    this.#position = position;
    this.#toSkip = position;
    const query = { follow: "1", stdout: "1", stderr: "1" };
    this.#answer = engine.open("GET", `/containers/${container}/logs`, { query, idleMs: 0 });
    this.#ended = this.#read()
      .catch(() => {})
      .finally(() => (this.#isOver = true));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves when all remaining output was read, or after `ms`. */
  async end(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.#ended, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
    clearTimeout(timer);
  }

  async #read(): Promise<void> {
    const response = await this.#answer;
    const demultiplexer = new Demultiplexer();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      for (const text of demultiplexer.push(chunk)) this.#keep(text);
      while (this.#size > KEPT) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #keep(text: Buffer): void {
    const skipped = Math.min(this.#toSkip, text.length);
    this.#toSkip -= skipped;
    if (skipped === text.length) return;
    this.#kept.push(text.subarray(skipped));
    this.#size += text.length - skipped;
  }

  /** Returns complete lines from `offset` on. That is the end of the previous read, or its beginning when repeated. */
  take(offset: number): { text: string; next: number } {
    let all = Buffer.concat(this.#kept);
    const done = Math.max(0, Math.min(offset - this.#position, all.length));
    all = all.subarray(done);
    this.#position += done;
    this.#kept = [all];
    this.#size = all.length;
    const part = all.subarray(0, CHUNK);
    const end = part.lastIndexOf(0x0a) + 1;
    const isLast = this.#isOver && all.length <= CHUNK;
    const length = isLast || (end === 0 && part.length === CHUNK) ? part.length : end;
    return { text: part.subarray(0, length).toString("utf8"), next: this.#position + length };
  }

  close(): void {
    this.#size = 0;
    this.#kept = [];
    this.#answer.then(
      (response) => response.destroy(),
      () => {},
    );
  }
}

/** Splits frames of both outputs: one byte for the stream, three of padding, four of length, then the data. */
export class Demultiplexer {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const found: Buffer[] = [];
    while (this.#rest.length >= 8) {
      const length = this.#rest.readUInt32BE(4);
      if (this.#rest.length < 8 + length) break;
      found.push(this.#rest.subarray(8, 8 + length));
      this.#rest = this.#rest.subarray(8 + length);
    }
    return found;
  }
}
