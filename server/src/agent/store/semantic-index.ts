import { AppError, coerceError } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { Embedder } from "./load-embedder.ts";
import type { ItemPut, SemanticQuery } from "./sql.ts";
import { parsePath, type Path, textsAt } from "./text-at-path.ts";

/** Limit for embedding calls, because the project's code may call a service that hangs. */
const EMBED_LIMIT_MS = 30_000;

export interface SemanticIndexOptions {
  embedder: Embedder;
  /** `embed` of langgraph.json; identifies the vectors' model. */
  model: string;
  dims: number;
  /** Paths for items that name none themselves. */
  fields: string[];
  /** Schema of pgvector, see sql.ts. */
  vectorSchema: string | null;
}

/** Computes vectors of stored items and of search queries. */
export class SemanticIndex {
  readonly #o: SemanticIndexOptions;
  readonly #paths: Path[];

  /** @throws Error for an invalid path */
  constructor(options: SemanticIndexOptions) {
    this.#o = options;
    this.#paths = options.fields.map(parsePath);
  }

  /**
   * Vectors of several items, by one call of the project's code.
   * @param items `index`: false for no vectors, or a list of paths instead of the default ones
   */
  async embedItems(
    items: { value: unknown; index?: false | string[] | null | undefined }[],
  ): Promise<ItemPut["vectors"][]> {
    const texts = items.map(({ value, index }) => {
      if (value === null || index === false) return [];
      return (index ? index.map(parsePath) : this.#paths).flatMap((path) => textsAt(value, path));
    });
    const all = texts.flat();
    if (all.length === 0) return items.map(() => null);
    const vectors = await this.#embed(all.length, () => this.#o.embedder.documents(all));
    let at = 0;
    return texts.map((own) => {
      const embeddings = vectors.slice(at, (at += own.length));
      return own.length > 0 ? { id: uuid7(), model: this.#o.model, embeddings } : null;
    });
  }

  async likeness(query: string): Promise<SemanticQuery> {
    const { embedder, model, vectorSchema } = this.#o;
    const [embedding] = await this.#embed(1, async () => [await embedder.query(query)]);
    return { model, vectorSchema, embedding: embedding! };
  }

  /** @throws AppError 502 when the project's code fails, times out, or returns invalid vectors */
  async #embed(count: number, make: () => Promise<number[][]>): Promise<number[][]> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${EMBED_LIMIT_MS / 1000} s`)), EMBED_LIMIT_MS);
    });
    try {
      const vectors: unknown = await Promise.race([make(), late]);
      if (!Array.isArray(vectors) || vectors.length !== count) throw new Error(`it must return ${count} vectors`);
      return vectors.map((vector) => toUnit(vector, this.#o.dims));
    } catch (error) {
      const why = coerceError(error).message;
      throw new AppError(502, `The store's embedding (${this.#o.model}) failed: ${why}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Normalizes a vector to length 1, so that inner products are cosines. A zero vector is similar to nothing. */
function toUnit(vector: unknown, dims: number): number[] {
  const numbers = vector as number[];
  if (!Array.isArray(vector) && !ArrayBuffer.isView(vector)) throw new Error("a vector must be an array of numbers");
  if (numbers.length !== dims)
    throw new Error(`a vector has ${numbers.length} dimensions, but store.index.dims is ${dims}`);
  let square = 0;
  for (let i = 0; i < dims; i++) square += numbers[i]! * numbers[i]!;
  if (!Number.isFinite(square)) throw new Error("a vector contains a value that is not a number");
  const length = Math.sqrt(square) || 1;
  return Array.from({ length: dims }, (_, i) => Math.fround(numbers[i]! / length));
}
