/**
 * An exported directory: a file of JSON lines for each kind, attachments in `files/` by the SHA-256 of their content,
 * and `manifest.json`, written last, with the count, size and SHA-256 of each file of lines. A line of a record with
 * attachments names them: `{"record": …, "files": [{name, mime_type, sha256}]}`.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { rawMember } from "../../core/raw-member.ts";
import type { Batch, CopyRecord, CopyState, Positions, Source, Target, Written } from "./copy.ts";

const FORMAT = "heddle-export-1";

interface Manifest {
  format: string;
  /** `agents` or `traces`. */
  content: string;
  source: string;
  created_at: string;
  /** Kinds in the order in which they are read back. */
  kinds: Record<string, { records: number; bytes: number; sha256: string }>;
}

interface Lines {
  records: number;
  bytes: number;
}

const linesPath = (directory: string, kind: string) => join(directory, `${kind}.jsonl`);
const filePath = (directory: string, sha256: string) => join(directory, "files", sha256);

export class DirectoryTarget implements Target {
  readonly #directory: string;
  readonly #about: Pick<Manifest, "content" | "source">;
  #kinds: Record<string, Lines>;
  #last: Promise<unknown> = Promise.resolve();
  /** Sizes after each written batch that is not settled. */
  readonly #sizes: Record<string, Lines>[] = [];

  /** @throws when the directory contains a complete export */
  constructor(directory: string, about: Pick<Manifest, "content" | "source">, state: CopyState) {
    if (existsSync(join(directory, "manifest.json")))
      throw new Error(`${directory} contains a complete export. Name another directory with --to.`);
    this.#directory = directory;
    this.#about = about;
    this.#kinds = (state.saved as Record<string, Lines> | undefined) ?? {};
    mkdirSync(join(directory, "files"), { recursive: true });
    // lines after the last saved position are read again
    for (const [kind, { bytes }] of Object.entries(this.#kinds)) truncateSync(linesPath(directory, kind), bytes);
  }

  write(batch: Batch): Promise<Written> {
    // one after another, in the order of the batches
    const result = this.#last.then(() => this.#append(batch));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #append({ kind, records }: Batch): Promise<Written> {
    const lines = await Promise.all(records.map((record) => this.#line(record)));
    const text = lines.map((line) => `${line}\n`).join("");
    const isNew = !(kind in this.#kinds);
    const known = (this.#kinds[kind] ??= { records: 0, bytes: 0 });
    if (isNew) await writeFile(linesPath(this.#directory, kind), text);
    else await appendFile(linesPath(this.#directory, kind), text);
    known.records += lines.length;
    known.bytes += Buffer.byteLength(text);
    this.#sizes.push(structuredClone(this.#kinds));
    return { written: lines.length, same: 0 };
  }

  async #line({ text, files }: CopyRecord): Promise<string> {
    if (!files) return `{"record":${text}}`;
    const stored = [];
    for (const { name, mime_type, read } of files) {
      const content = await read();
      const sha256 = createHash("sha256").update(content).digest("hex");
      await writeFile(filePath(this.#directory, sha256), content);
      stored.push({ name, mime_type, sha256 });
    }
    return `{"record":${text},"files":${JSON.stringify(stored)}}`;
  }

  settle(): object {
    return this.#sizes.shift()!;
  }

  async finish(): Promise<void> {
    const kinds: Manifest["kinds"] = {};
    for (const [kind, lines] of Object.entries(this.#kinds))
      kinds[kind] = { ...lines, sha256: await checksum(linesPath(this.#directory, kind)) };
    const manifest: Manifest = { format: FORMAT, ...this.#about, created_at: new Date().toISOString(), kinds };
    writeFileSync(join(this.#directory, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

/** Kinds that an interrupted import continues in the middle; of others, the target needs all records. */
const CONTINUED = new Set(["threads", "items", "runs", "feedback"]);
const BATCH_RECORDS = 100;
const BATCH_BYTES = 8 * 1024 * 1024;

export class DirectorySource implements Source {
  readonly #directory: string;
  readonly #manifest: Manifest;

  /** @throws when the directory contains no complete export of this content */
  constructor(directory: string, content: string) {
    const path = join(directory, "manifest.json");
    if (!existsSync(path)) throw new Error(`${directory} contains no complete export: it has no manifest.json.`);
    this.#manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
    this.#directory = directory;
    if (this.#manifest.format !== FORMAT) throw new Error(`${path} has the unknown format ${this.#manifest.format}.`);
    if (this.#manifest.content !== content)
      throw new Error(`${directory} contains ${this.#manifest.content}: heddle import ${this.#manifest.content}`);
  }

  async *batches(positions: Positions): AsyncGenerator<Batch> {
    for (const [kind, { bytes, sha256 }] of Object.entries(this.#manifest.kinds)) {
      const path = linesPath(this.#directory, kind);
      if (statSync(path).size !== bytes || (await checksum(path)) !== sha256)
        throw new Error(`${path} was changed after the export: its SHA-256 is not that of manifest.json.`);
    }
    for (const kind of Object.keys(this.#manifest.kinds)) yield* this.#read(kind, Number(positions[kind] ?? 0));
  }

  async *#read(kind: string, from: number): AsyncGenerator<Batch> {
    let at = from;
    let records: CopyRecord[] = [];
    let size = 0;
    const stream = createReadStream(linesPath(this.#directory, kind), { start: from, encoding: "utf8" });
    for await (const line of splitLines(stream)) {
      at += Buffer.byteLength(line) + 1;
      size += line.length;
      records.push(this.#record(line));
      if (records.length < BATCH_RECORDS && size < BATCH_BYTES) continue;
      yield { kind, records, ...(CONTINUED.has(kind) && { position: [kind, String(at)] }) };
      records = [];
      size = 0;
    }
    if (records.length > 0) yield { kind, records, ...(CONTINUED.has(kind) && { position: [kind, String(at)] }) };
  }

  #record(line: string): CopyRecord {
    const text = rawMember(line, "record")!;
    const listed = JSON.parse(rawMember(line, "files") ?? "[]") as {
      name: string;
      mime_type: string;
      sha256: string;
    }[];
    const files = listed.map(({ name, mime_type, sha256 }) => ({
      name,
      mime_type,
      read: () => this.#readFile(sha256),
    }));
    return { text, ...(files.length > 0 && { files }) };
  }

  async #readFile(sha256: string): Promise<Buffer> {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`"${sha256}" is not the name of a file of the export.`);
    const path = filePath(this.#directory, sha256);
    const content = await readFile(path);
    if (createHash("sha256").update(content).digest("hex") !== sha256)
      throw new Error(`${path} was changed after the export: its SHA-256 is not its name.`);
    return content;
  }
}

async function* splitLines(stream: AsyncIterable<string>): AsyncGenerator<string> {
  let parts: string[] = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      parts.push(chunk.slice(start, end));
      yield parts.join("");
      parts = [];
      start = end + 1;
    }
    parts.push(chunk.slice(start));
  }
}

async function checksum(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
