/** Bytes of a value's length, and bytes besides its content, by the first byte: binary, extension, and text values. */
const LENGTHS: Record<number, readonly [number, number]> = {
  0xc4: [1, 2],
  0xc5: [2, 3],
  0xc6: [4, 5],
  0xc7: [1, 3],
  0xc8: [2, 4],
  0xc9: [4, 6],
  0xd9: [1, 2],
  0xda: [2, 3],
  0xdb: [4, 5],
};

/** Sizes of other values by the first byte. */
const SIZES: Record<number, number> = {
  0xc0: 1,
  0xc2: 1,
  0xc3: 1,
  0xca: 5,
  0xcb: 9,
  0xcc: 2,
  0xcd: 3,
  0xce: 5,
  0xcf: 9,
  0xd0: 2,
  0xd1: 3,
  0xd2: 5,
  0xd3: 9,
  0xd4: 3,
  0xd5: 4,
  0xd6: 6,
  0xd7: 10,
  0xd8: 18,
};

/** Splits a msgpack array into its items, each serialized; undefined for another value. */
export function splitArray(data: Buffer): Buffer[] | undefined {
  const kind = data[0] ?? 0xc0;
  let [count, at] = [0, 0];
  if ((kind & 0xf0) === 0x90) [count, at] = [kind & 0x0f, 1];
  else if (kind === 0xdc) [count, at] = [data.readUInt16BE(1), 3];
  else if (kind === 0xdd) [count, at] = [data.readUInt32BE(1), 5];
  else return undefined;
  const items: Buffer[] = [];
  for (let n = 0; n < count; n++) {
    const end = endOfValue(data, at);
    items.push(data.subarray(at, end));
    at = end;
  }
  return at === data.length ? items : undefined;
}

/** Returns the msgpack array of serialized items. */
export function joinArray(items: readonly Buffer[]): Buffer {
  const count = items.length;
  const header = Buffer.alloc(count < 16 ? 1 : count < 0x10000 ? 3 : 5);
  if (count < 16) header.writeUInt8(0x90 | count);
  else header.writeUIntBE(count, 1, header.length - 1);
  if (count >= 16) header[0] = count < 0x10000 ? 0xdc : 0xdd;
  return Buffer.concat([header, ...items]);
}

/** Returns the position after the value at `at`. */
function endOfValue(data: Buffer, at: number): number {
  for (let values = 1; values > 0; values--) {
    const kind = data[at]!;
    const length = LENGTHS[kind];
    if (length) at += length[1] + data.readUIntBE(at + 1, length[0]);
    else if (kind < 0x80 || kind >= 0xe0) at += 1;
    else if (SIZES[kind] !== undefined) at += SIZES[kind];
    else if (kind < 0xa0) {
      values += (kind & 0x0f) * (kind < 0x90 ? 2 : 1);
      at += 1;
    } else if (kind < 0xc0) at += 1 + (kind & 0x1f);
    else {
      // arrays (dc, dd) and maps (de, df) with 16 or 32 bits of length
      const size = kind === 0xdc || kind === 0xde ? 2 : 4;
      values += data.readUIntBE(at + 1, size) * (kind >= 0xde ? 2 : 1);
      at += 1 + size;
    }
  }
  return at;
}
