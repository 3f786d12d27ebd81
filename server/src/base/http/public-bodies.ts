/**
 * Bodies of public routes have a small budget without a queue: a new body evicts the one that has been arriving for the
 * longest time, so that partial bodies cannot block others, however many there are. The budget bounds their structure
 * too.
 */
import { AppError } from "../errors.ts";
import type { HeldBody, OnEvicted } from "./held-body.ts";

const MIB = 1024 * 1024;
/** Budget of all bodies of public routes. */
const PUBLIC_BYTES = 4 * MIB;
/** Time within which a public body must have arrived. */
const PUBLIC_MS = 15_000;

export class PublicBodies {
  readonly #reject: () => AppError;
  /** Oldest first. */
  readonly #bodies = new Set<PublicBody>();
  #used = 0;

  constructor(reject: () => AppError) {
    this.#reject = reject;
  }

  get used(): number {
    return this.#used;
  }

  hold(): HeldBody {
    const body = new PublicBody(this);
    this.#bodies.add(body);
    return body;
  }

  /** @throws what `reject` creates */
  take(bytes: number, body: PublicBody): void {
    for (const oldest of this.#bodies) {
      if (this.#used + bytes <= PUBLIC_BYTES) break;
      if (oldest !== body && !oldest.hasArrived) oldest.evict(this.#reject());
    }
    if (this.#used + bytes > PUBLIC_BYTES) throw this.#reject();
    this.#used += bytes;
  }

  release(bytes: number, body: PublicBody): void {
    this.#bodies.delete(body);
    this.#used -= bytes;
  }
}

class PublicBody implements HeldBody {
  readonly #shared: PublicBodies;
  readonly #listeners: OnEvicted[] = [];
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #hasEnded = false;
  hasArrived = false;

  constructor(shared: PublicBodies) {
    this.#shared = shared;
    const late = () =>
      this.evict(new AppError(400, `The request body did not arrive within ${PUBLIC_MS / 1000} seconds.`));
    this.#timer = setTimeout(late, PUBLIC_MS);
  }

  async use(bytes: number): Promise<void> {
    if (this.#hasEnded) return;
    this.#shared.take(bytes, this);
    this.#bytes += bytes;
  }

  async weigh(): Promise<void> {}

  async turnToDecode(): Promise<void> {}

  endTurn(): void {}

  arrived(): void {
    clearTimeout(this.#timer);
    this.hasArrived = true;
  }

  onEvicted(listener: OnEvicted): void {
    this.#listeners.push(listener);
  }

  evict(error: AppError): void {
    this.end();
    for (const listener of this.#listeners) listener(error);
  }

  end(): void {
    this.arrived();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#shared.release(this.#bytes, this);
  }
}
