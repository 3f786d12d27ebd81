/** Backup archives of any content, as tests and drills compose them. */
import { ArchiveWriter } from "../src/admin/backup/archive-writer.ts";
import { copyFiles } from "../src/admin/backup/copy-files.ts";
import { INTRODUCTION, type Introduction, type Manifest } from "../src/admin/backup/manifest.ts";
import { sealKeys } from "../src/admin/backup/seal-keys.ts";
import type { TarEntry } from "../src/admin/backup/tar.ts";

export const INTRODUCED: Introduction = {
  format: 2,
  heddle_version: "9.9.9",
  created_at: "2026-11-24T12:00:00.000Z",
  databases: [{ name: "heddle", schema_version: 10 }],
  traces_version: 1,
  keys: "encrypted",
  builds: null,
};
export const PASSPHRASE = "correct horse";
export const SEALED = sealKeys({ "secrets.keys": "k1:…" }, PASSPHRASE);
export const EMPTY_MANIFEST = { tables: [], sequences: [], roles: [], traces: [], notes: [] };

export type EntryFields = Partial<TarEntry> & { name: string; content?: Buffer };

/** Returns a tar entry with defaults. */
export const tarEntry = ({ content, ...fields }: EntryFields): TarEntry => ({
  type: "file",
  size: content?.length ?? 0,
  mode: 0o600,
  uid: 0,
  gid: 0,
  mtime: 0,
  target: "",
  ...fields,
});

export interface Composed {
  introduction?: Partial<Introduction>;
  manifest?: Partial<Omit<Manifest, "sections">>;
  /** Authenticates the archive. */
  passphrase?: string | undefined;
  /** Directory that becomes the control plane's. */
  files?: string;
  entries?: EntryFields[];
}

/** Composes a whole archive with sealed keys. */
export function composeArchive({ introduction, manifest, passphrase, files, entries = [] }: Composed): Promise<Buffer> {
  const archive = new ArchiveWriter();
  async function* all() {
    yield* archive.file(INTRODUCTION, Buffer.from(JSON.stringify({ ...INTRODUCED, ...introduction })));
    yield* archive.file("keys/keys.sealed", SEALED);
    if (files !== undefined) yield* copyFiles(archive, files, "control");
    for (const fields of entries) yield* archive.stream(tarEntry(fields), inChunks(fields.content ?? Buffer.alloc(0)));
    yield* archive.end({ ...EMPTY_MANIFEST, ...manifest }, passphrase);
  }
  return collect(all());
}

export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(Buffer.from(chunk));
  return Buffer.concat(all);
}

export async function* inChunks(content: Buffer, size = 700): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
