/**
 * Hashes passwords with argon2id and the first parameter set recommended by OWASP's password storage cheat sheet: 19
 * MiB, 2 passes, 1 lane. Each hash includes its parameters, so that they can be raised later: see `outdated`.
 */
import { FairQueue } from "../../base/fair-queue.ts";
import { unavailable, unprocessable } from "../../base/errors.ts";

const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const CURRENT = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
/** Hash of an unknown password. Checking against it takes as long as checking against a real hash. */
const PLACEHOLDER_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$2xjG8l6B0Rc0vszMPJTyKQ$S75bwQVl2H6A0ZSAiEmgLvDCvB76KPMDHWDUAzAHxaI";

const MIN_CHARACTERS = 12;
const MAX_BYTES = 1024;
/** Concurrent hashes. Each takes 19 MiB and a thread of the pool shared with file reads and DNS. */
const AT_ONCE = 2;
/** Queue length for unknown visitors, and again for all others. */
const WAITING = 50;
/** Queue length per network or known browser, each of which runs one check at a time. */
const WAITING_IN_TURN = 10;

/** Origin of an attempt. */
interface Origin {
  /** Queue key: a network or a known browser. */
  turn: string;
  isKnown: boolean;
}

export class PasswordHashing {
  readonly #limit = new FairQueue({ capacity: AT_ONCE });
  readonly #turns = new Map<string, { limit: FairQueue; count: number }>();
  #unknown = 0;
  #known = 0;

  /** Hashes a password. For authenticated callers only. */
  async hash(password: string): Promise<string> {
    return this.#bounded(true, async () => (await library()).hash(normal(password), PARAMETERS));
  }

  /**
   * Compares a password with a hash. Without `stored` (no such account) it takes as long and returns false. `origin` is
   * set for unauthenticated visitors.
   */
  async matches(stored: string | undefined, password: string, origin?: Origin): Promise<boolean> {
    const verify = async () => (await library()).verify(stored ?? PLACEHOLDER_HASH, normal(password));
    const bounded = () => this.#bounded(origin?.isKnown ?? true, verify);
    const right = origin ? await this.#inTurn(origin.turn, bounded) : await bounded();
    return right && stored !== undefined;
  }

  /** Runs `work` with a bounded queue. A full queue means a flood; the caller may retry. */
  async #bounded<T>(isKnown: boolean, work: () => Promise<T>): Promise<T> {
    if ((isKnown ? this.#known : this.#unknown) >= AT_ONCE + WAITING) throw busy();
    if (isKnown) this.#known += 1;
    else this.#unknown += 1;
    try {
      return await this.#limit.run(work);
    } finally {
      if (isKnown) this.#known -= 1;
      else this.#unknown -= 1;
    }
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key) ?? { limit: new FairQueue({ capacity: 1 }), count: 0 };
    if (turn.count > WAITING_IN_TURN) throw busy();
    this.#turns.set(key, turn);
    turn.count += 1;
    try {
      return await turn.limit.run(work);
    } finally {
      turn.count -= 1;
      if (turn.count === 0) this.#turns.delete(key);
    }
  }
}

const busy = () => unavailable("Too many sign-ins in progress. Try again.", 2);

export const isOutdated = (stored: string): boolean => !CURRENT.test(stored);

/** Throws 422 for a weak password. Length counts, not character classes (NIST SP 800-63B §5.1.1). */
export function checkPassword(password: string, email: string): void {
  const text = normal(password);
  if (Array.from(text).length < MIN_CHARACTERS)
    throw unprocessable(`The password must have at least ${MIN_CHARACTERS} characters.`);
  if (Buffer.byteLength(text) > MAX_BYTES) throw unprocessable(`The password must have at most ${MAX_BYTES} bytes.`);
  if (new Set(text).size < 4) throw unprocessable("The password must have at least four different characters.");
  if (text.toLowerCase() === email.toLowerCase())
    throw unprocessable("The password must differ from the e-mail address.");
}

/** Normalizes to NFKC, independent of how the keyboard composed the characters. */
const normal = (password: string): string => password.normalize("NFKC");

/** Native code, loaded on first use. */
const library = () => import("@node-rs/argon2");
