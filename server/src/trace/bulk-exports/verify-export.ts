import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

import { z } from "zod";

import type { Bucket } from "../../base/blob/bucket.ts";
import { StorageError } from "../../base/blob/s3-error.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { type ExportDestination, openBucket } from "../export-destinations/bucket.ts";
import type { DestinationConfig } from "../export-destinations/schema.ts";
import { exportPath, MANIFEST, SUCCESS } from "./paths.ts";

export interface Verification {
  rows: number;
  bytes: number;
  files: number;
  /** Ids of the query; the rows must equal this minus the deleted ones. */
  query_count: number;
  deleted_count: number;
  /** False where listing the bucket is denied: files missing from the manifest cannot be detected then. */
  listed: boolean;
  /** False where the export has more rows than may be remembered: duplicate ids were not looked for. */
  ids_checked: boolean;
  /** Empty: the export is complete, without duplicates, and unaltered. */
  problems: string[];
}

export interface VerifyOptions {
  /** Called after each file; ends the verification by throwing. */
  onFile?: (done: number, total: number) => void;
  /** Rows up to which duplicate ids are looked for, as all ids are kept in memory; default: any number. */
  maxIds?: number;
}

/**
 * Verifies an export against its bucket, with the credentials of its destination.
 * @param record what the platform has counted
 */
export async function verifyStored(
  destination: ExportDestination,
  outbound: Outbound,
  record: { id: string; row_count: string | null },
  options: VerifyOptions = {},
): Promise<Verification> {
  const bucket = await openBucket(destination, outbound);
  try {
    const verified = await verifyExport(bucket, destination.config, record.id, options);
    const isRead = verified.files > 0 || verified.problems.length === 0;
    // a manifest that was altered to match the remaining files
    if (isRead && verified.query_count !== Number(record.row_count)) {
      verified.problems.push(
        `the manifest lists ${verified.query_count} rows of the query, but the platform counted ${record.row_count}`,
      );
    }
    return verified;
  } finally {
    bucket.close();
  }
}

/**
 * Verifies an export from the bucket alone: reads every file, compares hash, rows and ids with the manifest, and
 * rejects duplicate ids. Needs disk space for one file.
 */
export async function verifyExport(
  bucket: Bucket,
  config: DestinationConfig,
  exportId: string,
  { onFile = () => {}, maxIds = Number.POSITIVE_INFINITY }: VerifyOptions = {},
): Promise<Verification> {
  const problems: string[] = [];
  const counts = { rows: 0, bytes: 0, files: 0, query_count: 0, deleted_count: 0 };
  const found: Verification = { ...counts, listed: true, ids_checked: true, problems };
  const stored = await bucket.get(exportPath(config, exportId, MANIFEST));
  if (!stored) return { ...found, problems: [`${MANIFEST} is missing: the export did not complete`] };
  const manifest = readManifest(await text(stored.content));
  if (!manifest) return { ...found, problems: [`${MANIFEST} is not a valid manifest`] };
  found.query_count = manifest.query_count;
  found.deleted_count = manifest.deleted_count;
  if (manifest.export_id !== exportId) problems.push(`the manifest belongs to the export ${manifest.export_id}`);
  if (!(await bucket.head(exportPath(config, exportId, SUCCESS)))) problems.push(`${SUCCESS} is missing`);
  found.ids_checked = manifest.rows <= maxIds;
  const seen = manifest.fields.includes("id") && found.ids_checked ? new Set<string>() : undefined;
  const directory = await mkdtemp(join(tmpdir(), "heddle-verify-"));
  try {
    for (const file of manifest.files) {
      problems.push(...(await verifyFile(bucket, file, join(directory, "file.parquet"), found, seen)));
      onFile(++found.files, manifest.files.length);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  if (found.rows + manifest.deleted_count !== manifest.query_count) {
    problems.push(
      `${found.rows} rows, the query had ${manifest.query_count} of which ${manifest.deleted_count} were deleted`,
    );
  }
  if (found.rows !== manifest.rows) problems.push(`${found.rows} rows, the manifest says ${manifest.rows}`);
  if (found.bytes !== manifest.bytes) problems.push(`${found.bytes} bytes, the manifest says ${manifest.bytes}`);
  const unknown = await strangers(bucket, exportPath(config, exportId), manifest);
  found.listed = unknown !== undefined;
  problems.push(...(unknown ?? []));
  return found;
}

/** Fields read below. Validated, since the file may have any origin. */
const manifestShape = z.looseObject({
  export_id: z.string(),
  fields: z.array(z.string()),
  query_count: z.number(),
  deleted_count: z.number(),
  rows: z.number(),
  bytes: z.number(),
  files: z.array(z.looseObject({ key: z.string(), rows: z.number(), bytes: z.number(), sha256: z.string() })),
});

type ReadManifest = z.output<typeof manifestShape>;

function readManifest(content: string): ReadManifest | undefined {
  try {
    return manifestShape.parse(JSON.parse(content));
  } catch {
    return undefined;
  }
}

async function verifyFile(
  bucket: Bucket,
  file: ReadManifest["files"][number],
  path: string,
  found: Verification,
  seen: Set<string> | undefined,
): Promise<string[]> {
  const stored = await bucket.get(file.key);
  if (!stored) return [`${file.key} is missing`];
  const hash = createHash("sha256");
  let bytes = 0;
  const hashing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(stored.content, hashing, createWriteStream(path));
  found.bytes += bytes;
  const problems: string[] = [];
  if (bytes !== file.bytes) problems.push(`${file.key} has ${bytes} bytes, not ${file.bytes}`);
  if (hash.digest("hex") !== file.sha256) return [...problems, `${file.key} differs from what was written (SHA-256)`];
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-compressors"),
  ]);
  const buffer = await asyncBufferFromFile(path);
  const rows = Number((await parquetMetadataAsync(buffer)).num_rows);
  found.rows += rows;
  if (rows !== file.rows) problems.push(`${file.key} has ${rows} rows, not ${file.rows}`);
  if (!seen) return problems;
  const before = seen.size;
  const read = (await parquetReadObjects({ file: buffer, columns: ["id"], compressors })) as { id: string }[];
  for (const { id } of read) seen.add(id);
  if (seen.size - before !== rows) problems.push(`${file.key} has ${before + rows - seen.size} duplicate ids`);
  return problems;
}

/** Lists objects that are not in the manifest; undefined where listing the bucket is denied. */
async function strangers(bucket: Bucket, prefix: string, manifest: ReadManifest): Promise<string[] | undefined> {
  const known = new Set([...manifest.files.map((file) => file.key), `${prefix}/${MANIFEST}`, `${prefix}/${SUCCESS}`]);
  const unknown: string[] = [];
  let after: string | undefined;
  for (;;) {
    let page: Awaited<ReturnType<Bucket["list"]>>;
    try {
      page = await bucket.list(`${prefix}/`, { limit: 1000, ...(after !== undefined && { after }) });
    } catch (error) {
      if (error instanceof StorageError && error.reason === "access_denied") return undefined;
      throw error;
    }
    unknown.push(
      ...page.filter((object) => !known.has(object.key)).map((object) => `${object.key} is not in the manifest`),
    );
    after = page.at(-1)?.key;
    if (page.length < 1000 || unknown.length > 100) return unknown;
  }
}
