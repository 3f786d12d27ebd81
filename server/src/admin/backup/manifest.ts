import { createHash } from "node:crypto";

import { z } from "zod";

import type { TarEntry } from "./tar.ts";

/** Format of the archive. A higher one is refused. */
export const FORMAT = 1;
export const INTRODUCTION = "heddle-backup.json";
export const MANIFEST = "manifest.json";
/** Last entry: the hash of the manifest. */
export const MANIFEST_HASH = "manifest.json.sha256";

/** First entry of an archive: what a restore must know before it reads the rest. */
export const introductionSchema = z.object({
  format: z.number().int(),
  heddle_version: z.string(),
  created_at: z.string(),
  /** Databases in the archive: the platform's first, then those of deployments. Empty when they are external. */
  databases: z.array(z.object({ name: z.string(), schema_version: z.number().int() })),
  /** Schema version of the trace store; null when the archive holds no traces. */
  traces_version: z.number().int().nullable(),
  keys: z.enum(["encrypted", "left out", "none"]),
});
export type Introduction = z.infer<typeof introductionSchema>;

const tableSchema = z.object({
  database: z.string(),
  table: z.string(),
  columns: z.array(z.string()),
  rows: z.number().int(),
  bytes: z.number().int(),
  /** Hash of the rows in the binary format of COPY, uncompressed. */
  sha256: z.string(),
});
export type CopiedTable = z.infer<typeof tableSchema>;

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
  sequences: z.array(z.object({ database: z.string(), name: z.string(), value: z.string(), called: z.boolean() })),
  /** Roles of deployments, with the verifiers of their passwords. */
  roles: z.array(z.object({ name: z.string(), verifier: z.string().nullable(), connections: z.number().int() })),
  /** Rows of the parts of each trace table, in the files. */
  traces: z.array(z.object({ table: z.string(), parts: z.number().int(), rows: z.number().int() })),
  /** What the archive lacks, and what to do about it. */
  notes: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Returns the section that an entry belongs to: its first folders. */
export function sectionName(entry: string): string {
  const [first = "", second = ""] = entry.split("/");
  return first === "postgres" || first === "traces" ? `${first}/${second}` : first;
}

/** Hash of a section: the name, kind and content of its entries, in their order. */
export class SectionHash {
  readonly #hash = createHash("sha256");
  readonly name: string;
  entries = 0;
  bytes = 0;

  constructor(name: string) {
    this.name = name;
  }

  begin({ name, type, size, mode, uid, gid, target }: TarEntry): void {
    this.entries++;
    this.bytes += size;
    this.#hash.update(`${JSON.stringify([name, type, size, mode & 0o7777, uid, gid, target])}\n`);
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  end(): Section {
    const { name, entries, bytes } = this;
    return { name, entries, bytes, sha256: this.#hash.digest("hex") };
  }
}
