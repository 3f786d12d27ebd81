import { createHash } from "node:crypto";

import {
  FORMAT,
  INTRODUCTION,
  type Introduction,
  introductionSchema,
  MANIFEST,
  MANIFEST_HASH,
  type Manifest,
  manifestSchema,
  SectionHash,
  sectionName,
  type Section,
} from "./manifest.ts";
import { ArchiveError, ByteReader, readHeader, readPadding, type TarEntry } from "./tar.ts";

const CHUNK = 1024 * 1024;

/** Reads the content of the current entry; what it leaves is skipped. */
export interface EntryContent {
  chunks(): AsyncGenerator<Buffer>;
  /** The whole content; for entries that are small by their nature. */
  whole(): Promise<Buffer>;
}

export type EntryHandler = (entry: TarEntry, content: EntryContent) => Promise<void>;

/**
 * Reads an archive from the beginning to the end, hands each entry to `handle`, and compares its sections with the
 * manifest. Resolves only for an archive that is whole and unchanged.
 */
export async function readArchive(
  chunks: AsyncIterable<Uint8Array>,
  handle: EntryHandler = () => Promise.resolve(),
  onIntroduction: (introduction: Introduction) => Promise<void> | void = () => {},
): Promise<{ introduction: Introduction; manifest: Manifest; bytes: number }> {
  const reader = new ByteReader(chunks);
  const sections: Section[] = [];
  let section: SectionHash | undefined;
  let introduction: Introduction | undefined;
  let manifestText: Buffer | undefined;
  let expected: string | undefined;
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
        async whole() {
          const parts: Buffer[] = [];
          for await (const chunk of content.chunks()) parts.push(chunk);
          return Buffer.concat(parts);
        },
      };
      if (introduction === undefined) {
        introduction = await readIntroduction(entry, content);
        await onIntroduction(introduction);
      } else if (entry.name === MANIFEST) manifestText = await content.whole();
      else if (entry.name === MANIFEST_HASH) expected = (await content.whole()).toString().trim();
      else await handle(entry, content);
      for await (const chunk of content.chunks()) void chunk;
      await readPadding(reader, entry.size);
    }
  } finally {
    await reader.close();
  }
  if (!introduction || !manifestText || expected !== createHash("sha256").update(manifestText).digest("hex")) {
    throw new ArchiveError("The archive is damaged: its manifest is missing or not intact.");
  }
  const manifest = manifestSchema.parse(JSON.parse(manifestText.toString()));
  compare(sections, manifest.sections);
  return { introduction, manifest, bytes: sections.reduce((sum, { bytes }) => sum + bytes, 0) };
}

async function readIntroduction(entry: TarEntry, content: EntryContent): Promise<Introduction> {
  if (entry.name !== INTRODUCTION || entry.size > CHUNK) {
    throw new ArchiveError("This is not an archive that heddle backup has written.");
  }
  let value: unknown;
  try {
    value = JSON.parse((await content.whole()).toString());
  } catch {
    throw new ArchiveError("The archive is damaged: its first entry is not intact.");
  }
  const { format } = value as { format?: number };
  if (typeof format === "number" && format > FORMAT) {
    throw new ArchiveError(
      `The archive has format ${format}, but this version of Heddle reads formats up to ${FORMAT}. Restore it with ` +
        "the version that has written it, or a newer one.",
    );
  }
  const parsed = introductionSchema.safeParse(value);
  if (!parsed.success) throw new ArchiveError("The archive is damaged: its first entry is not intact.");
  return parsed.data;
}

function compare(found: Section[], expected: Section[]): void {
  const read = found.filter(({ name }) => name !== MANIFEST && name !== MANIFEST_HASH);
  for (const section of expected) {
    const own = read.find(({ name }) => name === section.name);
    if (!own) throw new ArchiveError(`The archive is damaged: its part ${section.name} is missing.`);
    if (own.sha256 !== section.sha256 || own.entries !== section.entries) {
      throw new ArchiveError(`The archive is damaged: the content of ${section.name} is not what was backed up.`);
    }
  }
  const stray = read.find(({ name }) => !expected.some((section) => section.name === name));
  if (stray) throw new ArchiveError(`The archive is damaged: ${stray.name} is not in its manifest.`);
  if (read.length !== expected.length) throw new ArchiveError("The archive is damaged: a part of it occurs twice.");
}
