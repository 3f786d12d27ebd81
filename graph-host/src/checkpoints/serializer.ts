import { isDeepStrictEqual } from "node:util";

/** The library's SerializerProtocol, which it does not export as a value. */
export interface Serializer {
  dumpsTyped(value: unknown): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

/**
 * The library's serializer, with fast paths for JSON: the library awaits a promise per value in the tree. Text without
 * the key `lc` has no objects to revive and is parsed by JSON.parse alone. A single object of a class that was revived
 * before is constructed as the library would. Bytes are copied both ways, as they would otherwise be shared with the
 * caller.
 */
export class PlainFirstSerializer implements Serializer {
  #serializer: Serializer;
  /** Large texts by their JSON, where several readers get the same. */
  #texts: Map<string, string> | undefined;

  /** @param options `sharesTexts`: a large text that is loaded several times is one object while this one is in use */
  constructor(serializer: Serializer, { sharesTexts = false }: { sharesTexts?: boolean } = {}) {
    this.#serializer = serializer;
    if (sharesTexts) this.#texts = new Map();
  }

  dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    return this.#serializer.dumpsTyped(value instanceof Uint8Array ? new Uint8Array(value) : value);
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (type !== "json") {
      return this.#serializer.loadsTyped(type, typeof data === "string" ? data : new Uint8Array(data));
    }
    const text = typeof data === "string" ? data : decoder.decode(data);
    if (this.#texts && text.length >= LARGE_TEXT && text.startsWith('"')) return this.#sharedText(this.#texts, text);
    return text.includes('"lc":') ? this.#serializer.loadsTyped(type, text) : JSON.parse(text);
  }

  #sharedText(texts: Map<string, string>, json: string): string {
    let text = texts.get(json);
    if (text === undefined) texts.set(json, (text = JSON.parse(json) as string));
    return text;
  }

  /** Returns the value of JSON text, or a promise of it where only the library can revive it. */
  load(text: string): unknown {
    const at = text.indexOf('"lc":');
    if (at < 0) return JSON.parse(text);
    if (at !== 1 || !text.startsWith(OBJECT) || text.indexOf('"lc":', 2) > 0 || text.includes("__lc_escaped__")) {
      return this.#serializer.loadsTyped("json", text);
    }
    const value = JSON.parse(text) as Revivable;
    const shape = shapeOf(value);
    const known = shape === undefined ? undefined : constructors.get(shape);
    if (known) return new known(value.kwargs);
    if (shape === undefined || constructors.has(shape)) return this.#serializer.loadsTyped("json", text);
    return this.#serializer.loadsTyped("json", text).then((revived) => {
      learn(shape, value.kwargs, revived);
      return revived;
    });
  }
}

const decoder = new TextDecoder();
const LARGE_TEXT = 32 * 1024;

const OBJECT = '{"lc":1,"type":"constructor","id":[';

interface Revivable {
  id: string[];
  kwargs: Record<string, unknown>;
}
type Constructor = new (kwargs: object) => object;

/**
 * Constructors by class and keys of their arguments; undefined where the library does more than construct. It renames
 * keys, depending on the class, and checks the class against those that it permits.
 */
const constructors = new Map<string, Constructor | undefined>();
const MAX_SHAPES = 500;

function shapeOf({ id, kwargs }: Revivable): string | undefined {
  if (typeof kwargs !== "object" || kwargs === null || Array.isArray(kwargs)) return undefined;
  return JSON.stringify([id, Object.keys(kwargs)]);
}

/** Compares an object that the library has revived with one that is only constructed. */
function learn(shape: string, kwargs: object, revived: unknown): void {
  if (constructors.size >= MAX_SHAPES) constructors.clear();
  constructors.set(shape, undefined);
  if (typeof revived !== "object" || revived === null) return;
  const constructor = revived.constructor as Constructor;
  try {
    if (isDeepStrictEqual(new constructor(kwargs), revived)) constructors.set(shape, constructor);
  } catch {
    // the library renames what this class requires
  }
}
