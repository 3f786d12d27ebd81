import { createHash } from "node:crypto";

import { z } from "zod";

import { COPIED_TABLES } from "../../trace/backups/copied-tables.ts";
import type { TarEntry } from "./tar.ts";

/** Format of the archive. A higher one is rejected; 1 has neither times of files nor an authentication code. */
export const FORMAT = 2;
export const INTRODUCTION = "heddle-backup.json";
export const MANIFEST = "manifest.json";
export const MANIFEST_HASH = "manifest.json.sha256";
/** Authentication code of the manifest, in archives that were written with a passphrase. */
export const MANIFEST_MAC = "manifest.json.mac";
export const MOST_MANIFEST_BYTES = 256 * 1024 * 1024;

/** What programs in a build depend on. */
export const MACHINE = `${process.platform} ${process.arch}, modules ${process.versions.modules}`;

/** The platform's database, and that of a deployment. */
const database = z.string().regex(/^heddle(_d_[0-9a-f]{32})?$/);

/** First entry of an archive: what a restore must know before it reads the rest. */
export const introductionSchema = z.object({
  format: z.number().int().min(1),
  heddle_version: z.string(),
  created_at: z.string(),
  /** Databases in the archive: the platform's first, then those of deployments. Empty when they are external. */
  databases: z.array(z.object({ name: database, schema_version: z.number().int().min(1) })),
  /** Schema version of the trace store; null when the archive holds no traces. */
  traces_version: z.number().int().nullable(),
  keys: z.enum(["encrypted", "left out", "none"]),
  /** Where builds in the archive can be used: the control plane's directory, and the kind of machine. */
  builds: z.object({ directory: z.string(), machine: z.string() }).nullable().default(null),
});
export type Introduction = z.infer<typeof introductionSchema>;

const tableSchema = z.object({
  database,
  table: z.string(),
  columns: z.array(z.string()),
  rows: z.number().int(),
  bytes: z.number().int(),
  /** Hash of the rows in the binary format of COPY, uncompressed. */
  sha256: z.string(),
});

const sectionSchema = z.object({
  name: z.string(),
  entries: z.number().int(),
  bytes: z.number().int(),
  sha256: z.string(),
});
export type Section = z.infer<typeof sectionSchema>;

export const manifestSchema = z.object({
  sections: z.array(sectionSchema),
  tables: z.array(tableSchema),
  /** Values of sequences, by database and name. */
  sequences: z.array(z.object({ database, name: z.string(), value: z.string(), called: z.boolean() })),
  /** Roles of deployments, with the verifiers of their passwords. */
  roles: z.array(z.object({ name: database, verifier: z.string().nullable(), connections: z.number().int() })),
  /** Rows of the parts of each trace table, in the files. */
  traces: z.array(z.object({ table: z.enum(COPIED_TABLES), parts: z.number().int(), rows: z.number().int() })),
  /** What the archive lacks, and what to do about it. */
  notes: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Returns the section that an entry belongs to: its first folders. */
export function sectionName(entry: string): string {
  const [first = "", second = ""] = entry.split("/");
  return first === "postgres" || first === "traces" ? `${first}/${second}` : first;
}

/** Hash of a section: the name, kind, attributes and content of its entries, in their order. */
export class SectionHash {
  readonly #hash = createHash("sha256");
  readonly name: string;
  entries = 0;
  bytes = 0;

  constructor(name: string) {
    this.name = name;
  }

  begin({ name, type, size, mode, uid, gid, target, mtime }: TarEntry): void {
    this.entries++;
    this.bytes += size;
    // format 1 has no times
    const attributes = [name, type, size, mode & 0o7777, uid, gid, target, ...(mtime === 0 ? [] : [mtime])];
    this.#hash.update(`${JSON.stringify(attributes)}\n`);
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  end(): Section {
    const { name, entries, bytes } = this;
    return { name, entries, bytes, sha256: this.#hash.digest("hex") };
  }
}
