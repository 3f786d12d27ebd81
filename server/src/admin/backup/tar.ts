/**
 * Tar archives (ustar with the GNU extensions for long names and sizes above 8 GiB), which `tar` lists and extracts.
 */
export interface TarEntry {
  name: string;
  type: "file" | "directory" | "link";
  size: number;
  mode: number;
  uid: number;
  gid: number;
  /** Target of a symbolic link. */
  target: string;
}

export const BLOCK = 512;
const TYPES = { file: "0", directory: "5", link: "2" } as const;
const LONG_NAME = "L";
const LONG_TARGET = "K";
const MOST_OCTAL = 0o77777777777;

/** The archive is not what a backup has written, or no longer. */
export class ArchiveError extends Error {
  override name = "ArchiveError";
}

export const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

/** Returns the header blocks of an entry. */
export function encodeHeader(entry: TarEntry): Buffer {
  const blocks: Buffer[] = [];
  const long = (type: string, text: string) => {
    const content = Buffer.from(`${text}\0`);
    blocks.push(header({ ...entry, name: "././@LongLink", size: content.length, target: "" }, type));
    blocks.push(content, Buffer.alloc(padding(content.length)));
  };
  if (Buffer.byteLength(entry.name) > 100) long(LONG_NAME, entry.name);
  if (Buffer.byteLength(entry.target) > 100) long(LONG_TARGET, entry.target);
  blocks.push(header(entry, TYPES[entry.type]));
  return Buffer.concat(blocks);
}

function header(entry: TarEntry, type: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  Buffer.from(entry.name).copy(block, 0, 0, 100);
  writeNumber(block, entry.mode & 0o7777, 100, 8);
  writeNumber(block, entry.uid, 108, 8);
  writeNumber(block, entry.gid, 116, 8);
  writeNumber(block, entry.size, 124, 12);
  writeNumber(block, 0, 136, 12);
  block.write("        ", 148, "latin1");
  block.write(type, 156, "latin1");
  Buffer.from(entry.target).copy(block, 157, 0, 100);
  block.write("ustar  \0", 257, "latin1");
  block.write(checksumField(block), 148, "latin1");
  return block;
}

const checksum = (block: Buffer): number => {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : block[i]!;
  return sum;
};

const checksumField = (block: Buffer): string => `${checksum(block).toString(8).padStart(6, "0")}\0 `;

function writeNumber(block: Buffer, value: number, at: number, length: number): void {
  if (value <= Math.min(MOST_OCTAL, 8 ** (length - 1) - 1)) {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  } else {
    block[at] = 0x80;
    block.writeBigUInt64BE(BigInt(value), at + length - 8);
  }
}

function readNumber(block: Buffer, at: number, length: number): number {
  if (block[at] === 0x80) return Number(block.readBigUInt64BE(at + length - 8));
  const text = block.toString("latin1", at, at + length).replace(/[\0 ]+$/, "");
  if (!/^[0-7]*$/.test(text)) throw new ArchiveError("The archive is damaged: a header holds no number.");
  return Number.parseInt(text || "0", 8);
}

const readText = (block: Buffer, at: number, length: number): string => {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
};

/** Reads bytes from chunks of any length. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns 1 to `most` bytes. @throws ArchiveError at the end */
  async some(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) throw new ArchiveError("The archive is truncated.");
      this.#rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; left -= parts.at(-1)!.length) parts.push(await this.some(left));
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Whether no byte follows. */
  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return true;
      this.#rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    return false;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

/** Reads the next entry's header. Undefined at the archive's end, after which nothing may follow. */
export async function readHeader(reader: ByteReader): Promise<TarEntry | undefined> {
  let longName: string | undefined;
  let longTarget: string | undefined;
  for (;;) {
    const block = await reader.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) {
      const second = await reader.exactly(BLOCK);
      if (!second.every((byte) => byte === 0) || !(await reader.isAtEnd())) {
        throw new ArchiveError("The archive is damaged: data follows its end.");
      }
      return undefined;
    }
    const isTar = block.toString("latin1", 257, 262) === "ustar";
    if (!isTar || block.toString("latin1", 148, 156) !== checksumField(block))
      throw new ArchiveError("The archive is damaged: a header is not intact.");
    const size = readNumber(block, 124, 12);
    const type = block.toString("latin1", 156, 157);
    if (type === LONG_NAME || type === LONG_TARGET) {
      const text = (await reader.exactly(size)).toString("utf8").replace(/\0$/, "");
      await readPadding(reader, size);
      if (type === LONG_NAME) longName = text;
      else longTarget = text;
      continue;
    }
    const kind = (Object.keys(TYPES) as TarEntry["type"][]).find((known) => TYPES[known] === type);
    if (!kind) throw new ArchiveError(`The archive is damaged: an entry has the unknown type ${JSON.stringify(type)}.`);
    return {
      name: longName ?? readText(block, 0, 100),
      type: kind,
      size,
      mode: readNumber(block, 100, 8),
      uid: readNumber(block, 108, 8),
      gid: readNumber(block, 116, 8),
      target: longTarget ?? readText(block, 157, 100),
    };
  }
}

export async function readPadding(reader: ByteReader, size: number): Promise<void> {
  const length = padding(size);
  if (length === 0) return;
  if (!(await reader.exactly(length)).every((byte) => byte === 0)) {
    throw new ArchiveError("The archive is damaged: the space after an entry is not empty.");
  }
}
