import { createHash } from "node:crypto";

import { signManifest } from "./manifest-mac.ts";
import { encodeHeader, padding, type TarEntry } from "./tar.ts";
import {
  MANIFEST,
  MANIFEST_HASH,
  MANIFEST_MAC,
  type Manifest,
  MOST_MANIFEST_BYTES,
  type Section,
  SectionHash,
  sectionName,
} from "./manifest.ts";

const END = Buffer.alloc(1024);
const ZEROS = Buffer.alloc(512);

/** Composes an archive as chunks, entry after entry, and hashes its sections. */
export class ArchiveWriter {
  readonly #sections: Section[] = [];
  #section: SectionHash | undefined;

  /** Yields a file that is in memory. */
  *file(name: string, content: Buffer, mode = 0o600): Generator<Buffer> {
    yield this.#begin({ name, type: "file", size: content.length, mode, uid: 0, gid: 0, mtime: 0, target: "" });
    this.#section!.update(content);
    yield content;
    yield ZEROS.subarray(0, padding(content.length));
  }

  /** Yields an entry without content. */
  *empty(entry: Omit<TarEntry, "size">): Generator<Buffer> {
    yield this.#begin({ ...entry, size: 0 });
  }

  /**
   * Yields a file of known size. Content that is shorter is filled with zeros, and what exceeds the size is left out: the
   * file may be written meanwhile. Returns the bytes that were missing.
   */
  async *stream(entry: TarEntry, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, number> {
    yield this.#begin(entry);
    let left = entry.size;
    for await (const chunk of content) {
      const taken = chunk.subarray(0, left);
      left -= taken.length;
      this.#section!.update(taken);
      yield taken;
      if (left === 0) break;
    }
    const missing = left;
    for (; left > 0; left -= Math.min(left, ZEROS.length)) {
      const taken = ZEROS.subarray(0, left);
      this.#section!.update(taken);
      yield taken;
    }
    yield ZEROS.subarray(0, padding(entry.size));
    return missing;
  }

  /**
   * Yields the manifest, its hash, its authentication code if there is a passphrase, and the end of the archive. Returns
   * the sections.
   */
  *end(rest: Omit<Manifest, "sections">, passphrase: string | undefined): Generator<Buffer, Section[]> {
    this.#endSection();
    const sections = [...this.#sections];
    const manifest = Buffer.from(JSON.stringify({ ...rest, sections } satisfies Manifest));
    if (manifest.length > MOST_MANIFEST_BYTES)
      throw new Error("The installation has too many databases for one archive.");
    yield* this.file(MANIFEST, manifest);
    yield* this.file(MANIFEST_HASH, Buffer.from(`${createHash("sha256").update(manifest).digest("hex")}\n`));
    if (passphrase !== undefined) yield* this.file(MANIFEST_MAC, signManifest(manifest, passphrase));
    yield END;
    return sections;
  }

  #begin(entry: TarEntry): Buffer {
    const name = sectionName(entry.name);
    if (this.#section?.name !== name) {
      this.#endSection();
      this.#section = new SectionHash(name);
    }
    this.#section!.begin(entry);
    return encodeHeader(entry);
  }

  #endSection(): void {
    if (this.#section) this.#sections.push(this.#section.end());
    this.#section = undefined;
  }
}
