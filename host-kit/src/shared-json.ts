/**
 * JSON text whose repeated parts are stored once: the states of a conversation have most of their messages in common.
 * The server writes it out piece by piece.
 *
 * Format: a line of JSON, {@link Layout}; the texts of the items, joined by commas; the literal texts.
 */
interface Layout {
  /** Length of each item in bytes. */
  items: number[];
  /** In order: the length of the next literal text, or a range of items, which are joined by commas. */
  parts: (number | [from: number, to: number])[];
}

const LINE_FEED = 0x0a;

/** Encodes a text of literals and lists of items, in turn. Items that are the same object are stored once. */
export function encodeSharedJson(parts: readonly (string | readonly { wire: string }[])[]): string {
  const layout: Layout = { items: [], parts: [] };
  const places = new Map<object, number>();
  const objects: object[] = [];
  const items: string[] = [];
  const literals: string[] = [];
  const literal = (text: string): void => {
    literals.push(text);
    layout.parts.push(Buffer.byteLength(text));
  };
  for (const part of parts) {
    if (typeof part === "string") {
      literal(part);
      continue;
    }
    let range: [number, number] | undefined;
    for (let i = 0; i < part.length;) {
      const item = part[i]!;
      let at = places.get(item);
      if (at === undefined) {
        at = items.length;
        places.set(item, at);
        objects.push(item);
        items.push(item.wire);
        layout.items.push(Buffer.byteLength(item.wire));
      }
      // lists have long ranges in common: a loop without a lookup, which is compiled soon
      let to = at + 1;
      i += 1;
      while (i < part.length && objects[to] === part[i]) {
        to += 1;
        i += 1;
      }
      if (range?.[1] === at) range[1] = to;
      else {
        if (range) literal(",");
        layout.parts.push((range = [at, to]));
      }
    }
  }
  return `${JSON.stringify(layout)}\n${items.join(",")}${literals.join("")}`;
}

export class SharedJson {
  #layout: Layout;
  /** Position of each item, and of the end. */
  #starts: number[];
  #items: Buffer;
  #literals: Buffer;
  /** Length of the text in bytes. */
  readonly length: number;

  constructor(body: Buffer) {
    const end = body.indexOf(LINE_FEED);
    this.#layout = JSON.parse(body.toString("utf8", 0, end)) as Layout;
    let at = 0;
    this.#starts = this.#layout.items.map((length) => {
      const start = at;
      at += length + 1;
      return start;
    });
    this.#starts.push(at);
    const itemBytes = Math.max(0, at - 1);
    this.#items = body.subarray(end + 1, end + 1 + itemBytes);
    this.#literals = body.subarray(end + 1 + itemBytes);
    let length = 0;
    for (const chunk of this.chunks()) length += chunk.length;
    this.length = length;
  }

  /** Yields the text as views into the body. */
  *chunks(): Generator<Buffer> {
    let at = 0;
    for (const part of this.#layout.parts) {
      if (Array.isArray(part)) yield this.#items.subarray(this.#starts[part[0]], this.#starts[part[1]]! - 1);
      else yield this.#literals.subarray(at, (at += part));
    }
  }

  toString(): string {
    return Buffer.concat([...this.chunks()]).toString();
  }
}
