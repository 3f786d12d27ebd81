import { type JsonSealer, readToken, type StateCipher, TOKEN_START } from "../../../../host-kit/src/state-cipher.ts";

/**
 * Encrypts the values of stored JSON again: those in clear, and those whose data key is not fresh. Others stay as they
 * are. It serves the functions that decide which parts of a JSON text are encrypted (host-kit/src/sealed-json.ts).
 */
export class Resealer implements JsonSealer {
  readonly #cipher: StateCipher;
  readonly #fresh: ReadonlySet<string>;
  /** Whether any value was encrypted since the last {@link reseal} began. */
  #changed = false;

  /** @param fresh ids of the data keys that may stay */
  constructor(cipher: StateCipher, fresh: ReadonlySet<string>) {
    this.#cipher = cipher;
    this.#fresh = fresh;
  }

  /** Returns the new text; undefined when all of its values are encrypted with fresh keys. */
  reseal(text: string, seal: (resealer: Resealer, text: string) => string): string | undefined {
    this.#changed = false;
    const result = seal(this, text);
    return this.#changed ? result : undefined;
  }

  sealJson(json: string, owner?: string): string {
    if (json === "null") return json;
    const token = readToken(json);
    if (token && this.#fresh.has(token.keyId)) return json;
    this.#changed = true;
    const opened = this.#cipher.openText(json);
    // a user's own text that looks like a token stays the same
    return this.#cipher.sealJson(opened, token && opened !== json ? token.owner : owner);
  }

  /** Encrypts a text that is a series of tokens, such as the frames of a stream. */
  sealText(text: string): string {
    const parts = text.split(/(?=heddle\.sealed\.)|(?<=~)/);
    const isFresh = (part: string) => this.#fresh.has(readToken(part)?.keyId ?? "");
    if (text.startsWith(TOKEN_START) && parts.every(isFresh)) return text;
    this.#changed = true;
    return this.#cipher.sealText(this.#cipher.openText(text));
  }
}
