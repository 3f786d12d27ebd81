/**
 * Bounds the memory that the bodies of requests under way take in a server process, over all of its spaces, from the
 * first byte to the end of the handler.
 *
 * Bodies of authenticated callers count as they arrive. One that doesn't fit waits, unread, so that its sender is held
 * up by the socket; after some seconds it is refused with 503. While others wait, bodies that arrive too slowly are
 * cut off, so that a few senders who dawdle cannot hold the budget.
 *
 * Bodies of public routes have a small budget of their own, in which nothing waits: a newcomer takes the place of the
 * body that has been arriving for longest. So half-sent bodies keep nobody out, however many there are.
 */
import { integer, type Options } from "../config/options.ts";
import { AppError, unavailable } from "../errors.ts";
import { ByteBudget } from "./byte-budget.ts";

const MIB = 1024 * 1024;

export const bodyOptions = {
  bodyMemoryMb: integer({
    env: ["HEDDLE_BODY_MEMORY_MB"],
    default: 256,
    min: 1,
    description:
      "Memory in MiB for the bodies of requests and the messages of WebSockets that are under way in a server process; " +
      "what comes beyond it waits, then gets 503. At least the largest body.",
  }),
};

export type BodySettings = Options<typeof bodyOptions> & { maxBodyBytes: number };

/** Of all bodies of public routes. */
const PUBLIC_BYTES = 4 * MIB;
/** A public body must have arrived within this time. */
const PUBLIC_MS = 15_000;
const WAIT_MS = 5_000;
/** A body that has been arriving for so long with fewer bytes a second makes way for those that wait. */
const SLOW_AFTER_MS = 5_000;
const SLOW_BYTES_PER_SECOND = 16 * 1024;

/** What one body holds. */
export interface HeldBody {
  /** Counts bytes that are to be kept. Rejects when there is no room for them. */
  use(bytes: number): Promise<void>;
  /** All of it is there. */
  arrived(): void;
  /** Gives back what it holds. */
  end(): void;
}

/** Told why a body that has not arrived yet will not be read to its end. */
export type OnRefused = (error: AppError) => void;

interface Arriving {
  bytes: number;
  since: number;
  refuse: OnRefused;
}

export class BodyGate {
  readonly budget: ByteBudget;
  readonly #arriving = new Set<Arriving>();
  /** Oldest first. */
  readonly #public = new Set<Arriving>();
  #publicBytes = 0;

  constructor({ bodyMemoryMb, maxBodyBytes }: BodySettings) {
    this.budget = new ByteBudget(Math.max(bodyMemoryMb * MIB, maxBodyBytes));
  }

  /** Bytes that are held. */
  get used(): number {
    return this.budget.used + this.#publicBytes;
  }

  /** Room for `bytes` more of an authenticated caller; rejects with 503 when there is none for some seconds. */
  async reserve(bytes: number): Promise<void> {
    if (this.budget.take(bytes)) return;
    this.#cutSlow();
    if (this.budget.take(bytes)) return;
    const timer = setInterval(() => this.#cutSlow(), 500);
    try {
      if (!(await this.budget.wait(bytes, WAIT_MS))) throw noRoom();
    } finally {
      clearInterval(timer);
    }
  }

  /** A body of an authenticated caller. */
  hold(refuse: OnRefused): HeldBody {
    const body: Arriving = { bytes: 0, since: performance.now(), refuse };
    let ended = false;
    return {
      use: async (bytes) => {
        this.#arriving.add(body);
        await this.reserve(bytes);
        if (ended) this.budget.give(bytes);
        else body.bytes += bytes;
      },
      arrived: () => void this.#arriving.delete(body),
      end: () => {
        if (ended) return;
        ended = true;
        this.#arriving.delete(body);
        this.budget.give(body.bytes);
      },
    };
  }

  /** A body of a caller who has not shown who they are. */
  holdPublic(refuse: OnRefused): HeldBody {
    const body: Arriving = { bytes: 0, since: performance.now(), refuse };
    this.#public.add(body);
    const timer = setTimeout(() => {
      this.#public.delete(body);
      refuse(new AppError(400, `The request's body did not arrive within ${PUBLIC_MS / 1000} seconds.`));
    }, PUBLIC_MS);
    const arrived = () => {
      clearTimeout(timer);
      this.#public.delete(body);
    };
    let ended = false;
    const end = () => {
      arrived();
      if (ended) return;
      ended = true;
      this.#publicBytes -= body.bytes;
    };
    body.refuse = (error) => {
      end();
      refuse(error);
    };
    return {
      use: async (bytes) => {
        this.#makeRoom(bytes, body);
        if (ended) return;
        body.bytes += bytes;
        this.#publicBytes += bytes;
      },
      arrived,
      end,
    };
  }

  #makeRoom(bytes: number, except: Arriving): void {
    for (const oldest of this.#public) {
      if (this.#publicBytes + bytes <= PUBLIC_BYTES) return;
      if (oldest !== except) oldest.refuse(noRoom());
    }
    if (this.#publicBytes + bytes > PUBLIC_BYTES) throw noRoom();
  }

  #cutSlow(): void {
    const now = performance.now();
    for (const body of this.#arriving) {
      const ms = now - body.since;
      if (ms < SLOW_AFTER_MS || (body.bytes * 1000) / ms >= SLOW_BYTES_PER_SECOND) continue;
      this.#arriving.delete(body);
      body.refuse(
        unavailable("The request's body arrives too slowly, and others wait for the memory that it takes.", 2),
      );
    }
  }
}

const noRoom = (): AppError => unavailable("Too many request bodies are under way. Send this again later.", 2);
