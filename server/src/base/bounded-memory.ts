/** Remembers texts or bytes by keys, at most so many characters or bytes with their keys. The oldest give way to new ones. */
export class BoundedMemory<T extends { length: number }> {
  readonly #most: number;
  readonly #values = new Map<string, T>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (this.#values.has(key)) return;
    this.#values.set(key, value);
    this.#size += key.length + value.length;
    for (const [oldest, { length }] of this.#values) {
      if (this.#size <= this.#most) break;
      this.#values.delete(oldest);
      this.#size -= oldest.length + length;
    }
  }
}
