import { createHash } from "node:crypto";

import { EntryTree } from "./entry-tree.ts";
import { checkManifest } from "./manifest-mac.ts";
import {
  FORMAT,
  INTRODUCTION,
  type Introduction,
  introductionSchema,
  MANIFEST,
  MANIFEST_HASH,
  MANIFEST_MAC,
  type Manifest,
  manifestSchema,
  MOST_MANIFEST_BYTES,
  SectionHash,
  sectionName,
  type Section,
} from "./manifest.ts";
import { ArchiveError, ByteReader, readHeader, readPadding, type TarEntry } from "./tar.ts";

const CHUNK = 1024 * 1024;
const MOST_SMALL_BYTES = 1024 * 1024;

/** Reads the content of the current entry; what it leaves is skipped. */
export interface EntryContent {
  chunks(): AsyncGenerator<Buffer>;
  /** The whole content of an entry that is small by its nature. @throws ArchiveError for a larger one */
  whole(most?: number): Promise<Buffer>;
}

/** An entry with its place in the archive, which has been checked (entry-tree.ts). */
export interface PlacedEntry extends TarEntry {
  section: string;
  path: string[];
}

export type EntryHandler = (entry: PlacedEntry, content: EntryContent) => Promise<void>;

export interface ReadArchiveOptions {
  handle?: EntryHandler;
  onIntroduction?: (introduction: Introduction) => Promise<void> | void;
  /** Passphrase that the archive's authentication code is checked with. */
  passphrase?: string | undefined;
}

export interface ReadArchive {
  introduction: Introduction;
  manifest: Manifest;
  bytes: number;
  /** Whether the passphrase has authenticated it; `null` when there was none to check with. */
  authenticated: boolean | null;
}

/**
 * Reads an archive from the beginning to the end, hands each entry to `handle`, and compares its sections with the
 * manifest. Resolves only for an archive that is whole, unchanged and can be restored.
 */
export async function readArchive(
  chunks: AsyncIterable<Uint8Array>,
  { handle, onIntroduction, passphrase }: ReadArchiveOptions = {},
): Promise<ReadArchive> {
  const reader = new ByteReader(chunks);
  const tree = new EntryTree();
  const sections: Section[] = [];
  let section: SectionHash | undefined;
  let introduction: Introduction | undefined;
  let manifestText: Buffer | undefined;
  let expected: string | undefined;
  let signed: Buffer | undefined;
  try {
    for (;;) {
      const entry = await readHeader(reader);
      const name = entry && sectionName(entry.name);
      if (section && section.name !== name) {
        sections.push(section.end());
        section = undefined;
      }
      if (!entry) break;
      const current = (section ??= new SectionHash(name!));
      current.begin(entry);
      let left = entry.size;
      const content: EntryContent = {
        async *chunks() {
          while (left > 0) {
            const chunk = await reader.some(Math.min(left, CHUNK));
            left -= chunk.length;
            current.update(chunk);
            yield chunk;
          }
        },
        async whole(most = MOST_SMALL_BYTES) {
          if (entry.size > most)
            throw new ArchiveError(`The archive cannot be restored: ${entry.name.slice(0, 200)} is too large.`);
          const parts: Buffer[] = [];
          for await (const chunk of content.chunks()) parts.push(chunk);
          return Buffer.concat(parts);
        },
      };
      if (introduction === undefined) {
        introduction = await readIntroduction(entry, content);
        await onIntroduction?.(introduction);
        tree.accept(entry, introduction.format);
      } else {
        const placed = { ...entry, ...tree.accept(entry, introduction.format) };
        if (entry.name === MANIFEST) manifestText = await content.whole(MOST_MANIFEST_BYTES);
        else if (entry.name === MANIFEST_HASH) expected = (await content.whole()).toString().trim();
        else if (entry.name === MANIFEST_MAC) signed = await content.whole();
        else await handle?.(placed, content);
      }
      for await (const chunk of content.chunks()) void chunk;
      await readPadding(reader, entry.size);
    }
  } finally {
    await reader.close();
  }
  if (!introduction || !manifestText || expected !== createHash("sha256").update(manifestText).digest("hex")) {
    throw new ArchiveError("The archive is damaged: its manifest is missing or not intact.");
  }
  if (signed && passphrase !== undefined) checkManifest(manifestText, signed, passphrase);
  const manifest = readManifest(manifestText);
  compare(sections, manifest.sections);
  const bytes = sections.reduce((sum, section) => sum + section.bytes, 0);
  return { introduction, manifest, bytes, authenticated: passphrase === undefined ? null : signed !== undefined };
}

async function readIntroduction(entry: TarEntry, content: EntryContent): Promise<Introduction> {
  if (entry.name !== INTRODUCTION || entry.size > MOST_SMALL_BYTES) {
    throw new ArchiveError("This is not an archive that heddle backup has written.");
  }
  const damaged = () => new ArchiveError("The archive is damaged: its first entry is not intact.");
  let value: unknown;
  try {
    value = JSON.parse((await content.whole()).toString());
  } catch {
    throw damaged();
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === "number" && format > FORMAT) {
    throw new ArchiveError(
      `The archive has format ${format}, but this version of Heddle reads formats up to ${FORMAT}. Restore it with ` +
        "the version that has written it, or a newer one.",
    );
  }
  const parsed = introductionSchema.safeParse(value);
  if (!parsed.success) throw damaged();
  return parsed.data;
}

function readManifest(text: Buffer): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text.toString());
  } catch {
    throw new ArchiveError("The archive is damaged: its manifest is not intact.");
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ArchiveError(`The archive cannot be restored: ${issue!.path.join(".")} of its manifest is invalid.`);
}

function compare(found: Section[], expected: Section[]): void {
  const read = found.filter(({ name }) => !OUTSIDE_MANIFEST.has(name));
  const byName = new Map(read.map((section) => [section.name, section]));
  for (const section of expected) {
    const own = byName.get(section.name);
    if (!own) throw new ArchiveError(`The archive is damaged: its part ${section.name} is missing.`);
    if (own.sha256 !== section.sha256 || own.entries !== section.entries) {
      throw new ArchiveError(`The archive is damaged: the content of ${section.name} is not what was backed up.`);
    }
    byName.delete(section.name);
  }
  const [stray] = byName.keys();
  if (stray !== undefined) throw new ArchiveError(`The archive is damaged: ${stray} is not in its manifest.`);
}

const OUTSIDE_MANIFEST: ReadonlySet<string> = new Set([MANIFEST, MANIFEST_HASH, MANIFEST_MAC]);
