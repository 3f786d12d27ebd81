/**
 * Entries of tar archives, which `tar` lists and extracts. The library encodes and decodes header blocks; names that
 * are long or not plain ASCII are separate entries before them (GNU), because its pax records lose line feeds.
 */
import { Header } from "tar";

export interface TarEntry {
  name: string;
  type: "file" | "directory" | "link";
  size: number;
  mode: number;
  uid: number;
  gid: number;
  /** Time of the last change, in whole seconds since 1970. */
  mtime: number;
  /** Target of a symbolic link. */
  target: string;
}

export const BLOCK = 512;
const TYPES = { file: "File", directory: "Directory", link: "SymbolicLink" } as const;
const LONG_NAME = "NextFileHasLongPath";
const LONG_TARGET = "NextFileHasLongLinkpath";
/** Longest name or target in bytes: twice the longest path of Linux. */
const MOST_NAME_BYTES = 8192;
/** What every reader of tar understands in a header. */
const PLAIN = /^[\x20-\x7e]{0,99}$/;
/** Checksum as GNU tar and the library write it. */
const CHECKSUM = /^[0-7]{6}(\0 | \0)$/;

/** The archive is not what a backup has written, or no longer. */
export class ArchiveError extends Error {
  override name = "ArchiveError";
}

export const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

/** Returns the header blocks of an entry. */
export function encodeHeader(entry: TarEntry): Buffer {
  const blocks: Buffer[] = [];
  const readable = (type: string, text: string) => {
    if (PLAIN.test(text)) return text;
    const content = Buffer.from(`${text}\0`);
    blocks.push(encodeBlock({ path: "././@LongLink", size: content.length, type }));
    blocks.push(content, Buffer.alloc(padding(content.length)));
    return text.replace(/[^\x20-\x7e]/g, "_").slice(0, 99);
  };
  const { name, type, target, ...attributes } = entry;
  const linkpath = readable(LONG_TARGET, target);
  const path = readable(LONG_NAME, name);
  blocks.push(encodeBlock({ ...attributes, path, linkpath, type: TYPES[type] }));
  return Buffer.concat(blocks);
}

type Fields = Partial<Omit<TarEntry, "type">> & { path: string; linkpath?: string; type: string };

function encodeBlock({
  path,
  linkpath = "",
  type,
  size = 0,
  mode = 0o600,
  uid = 0,
  gid = 0,
  mtime = 0,
}: Fields): Buffer {
  const block = Buffer.alloc(BLOCK);
  const header = new Header({ path, linkpath, size, mode: mode & 0o7777, uid, gid, mtime: new Date(mtime * 1000) });
  header.type = type as typeof header.type;
  header.encode(block);
  return block;
}

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
  let name: string | undefined;
  let target: string | undefined;
  for (;;) {
    const block = await reader.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) {
      const second = await reader.exactly(BLOCK);
      if (!second.every((byte) => byte === 0) || !(await reader.isAtEnd())) {
        throw new ArchiveError("The archive is damaged: data follows its end.");
      }
      return undefined;
    }
    const header = decodeBlock(block);
    if (header.type === LONG_NAME || header.type === LONG_TARGET) {
      const isName = header.type === LONG_NAME;
      if ((isName ? name : target) !== undefined || header.size! > MOST_NAME_BYTES)
        throw new ArchiveError("The archive is damaged: an entry has more than one name, or one that is too long.");
      const text = (await reader.exactly(header.size!)).toString("utf8").replace(/\0$/, "");
      await readPadding(reader, header.size!);
      if (isName) name = text;
      else target = text;
      continue;
    }
    const type = (Object.keys(TYPES) as TarEntry["type"][]).find((known) => TYPES[known] === header.type);
    if (!type)
      throw new ArchiveError(`The archive holds an entry of the type ${header.type}, which no backup contains.`);
    // the library overlooks the size of a directory, after which other readers look for content
    if (type !== "file" && !/^[0 \0]*$/.test(block.toString("latin1", 124, 136)))
      throw new ArchiveError("The archive is damaged: a directory has content.");
    return {
      name: name ?? header.path ?? "",
      type,
      size: header.size!,
      mode: header.mode!,
      uid: header.uid!,
      gid: header.gid!,
      mtime: Math.floor((header.mtime?.getTime() || 0) / 1000),
      target: target ?? header.linkpath ?? "",
    };
  }
}

function decodeBlock(block: Buffer): Header {
  const broken = () => new ArchiveError("The archive is damaged: a header is not intact.");
  if (block.toString("latin1", 257, 262) !== "ustar" || !CHECKSUM.test(block.toString("latin1", 148, 156)))
    throw broken();
  let header: Header;
  try {
    header = new Header(block);
  } catch {
    // numbers beyond those of JavaScript
    throw broken();
  }
  header.uid ??= misplacedNumber(block, 108);
  header.gid ??= misplacedNumber(block, 116);
  const numbers = [header.size, header.mode, header.uid, header.gid];
  if (!header.cksumValid || !numbers.every((number) => Number.isSafeInteger(number) && number! >= 0)) throw broken();
  return header;
}

/** Reads an owner as Heddle 0.6 wrote those above 2,097,151: without the mark of a binary number. */
function misplacedNumber(block: Buffer, at: number): number {
  return Number(block.readBigUInt64BE(at));
}

export async function readPadding(reader: ByteReader, size: number): Promise<void> {
  const length = padding(size);
  if (length === 0) return;
  if (!(await reader.exactly(length)).every((byte) => byte === 0)) {
    throw new ArchiveError("The archive is damaged: the space after an entry is not empty.");
  }
}
