/** The library's SerializerProtocol, which it does not export as a value. */
export interface Serializer {
  dumpsTyped(value: unknown): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

/**
 * The library's serializer, with a shorter way for JSON that holds no object in need of reviving: the library
 * awaits a promise for each value in the tree. What it revives carries the key `lc`, so text without that key
 * is what JSON.parse makes of it. Bytes are copied both ways: they would be the caller's own otherwise.
 */
export class PlainFirstSerializer implements Serializer {
  #serializer: Serializer;

  constructor(serializer: Serializer) {
    this.#serializer = serializer;
  }

  dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    return this.#serializer.dumpsTyped(value instanceof Uint8Array ? new Uint8Array(value) : value);
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (type !== "json") {
      return this.#serializer.loadsTyped(type, typeof data === "string" ? data : new Uint8Array(data));
    }
    const text = typeof data === "string" ? data : decoder.decode(data);
    return text.includes('"lc":') ? this.#serializer.loadsTyped(type, text) : JSON.parse(text);
  }
}

const decoder = new TextDecoder();
