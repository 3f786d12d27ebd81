import { BoundedMemory } from "../bounded-memory.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** Larger answers would drive out many others. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_STATEMENT = 16 * 1024;

/**
 * Remembers answers of an engine until something is written. All writes must pass through it: nobody else writes into an
 * embedded engine, whose directory is locked. So who looks at traces again, or lets a page refresh itself, does not cause
 * statements while nothing happens.
 */
export class AnswerMemory {
  #answers = new BoundedMemory<Uint8Array>(MAX_BYTES);
  #writing = 0;

  /** Executes a write. What is read meanwhile is not remembered, since it may be what was before. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    this.#forget();
    this.#writing++;
    try {
      return await work();
    } finally {
      this.#writing--;
      this.#forget();
    }
  }

  /** Returns the answer to a statement that depends on nothing but the data. */
  async read(statement: string, work: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const answers = this.#answers;
    const known = answers.get(statement);
    if (known) return known;
    const isWriting = this.#writing > 0;
    const answer = await work();
    const isKept = !isWriting && answers === this.#answers;
    // a copy: the engine's own memory is freed with its result
    if (isKept && statement.length <= MAX_STATEMENT && answer.length <= MAX_ANSWER_BYTES)
      answers.set(statement, Uint8Array.from(answer));
    return answer;
  }

  #forget(): void {
    this.#answers = new BoundedMemory(MAX_BYTES);
  }
}
