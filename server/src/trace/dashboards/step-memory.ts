/** Characters of texts and keys, over all tenants. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Remembers texts by keys that determine them (settled-steps.ts). The oldest give way to new ones. */
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
