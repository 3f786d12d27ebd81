/** The library's SerializerProtocol, which it does not export as a value. */
export interface Serializer {
  dumpsTyped(value: unknown): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

/**
 * The library's serializer, with a fast path for JSON without objects to revive: the library awaits a promise per value
 * in the tree. Revivable objects carry the key `lc`, so text without that key is parsed by JSON.parse alone. Bytes are
 * copied both ways, as they would otherwise be shared with the caller.
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
