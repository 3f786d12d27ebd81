import { createHash } from "node:crypto";

/** Returns a short key for what determines a text. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("base64");

/** Characters of texts and keys, over all tenants. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Remembers texts by keys that determine them: answers over copies, which never change. The oldest give way to new ones. */
export class StepMemory {
  readonly #texts = new Map<string, string>();
  #characters = 0;

  get(key: string): string | undefined {
    return this.#texts.get(key);
  }

  set(key: string, text: string): void {
    if (this.#texts.has(key)) return;
    this.#texts.set(key, text);
    this.#characters += key.length + text.length;
    for (const [oldest, { length }] of this.#texts) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#texts.delete(oldest);
      this.#characters -= oldest.length + length;
    }
  }
}
