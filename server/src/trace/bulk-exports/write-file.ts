import { join } from "node:path";

import type { Attempt } from "./attempt.ts";
import { countSlice, selectSlice, type Slice } from "./clickhouse.ts";
import { orderedFields } from "./columns.ts";
import { fileName } from "./paths.ts";
import type { PlannedFile, WeighedSlice } from "./plan-file.ts";
import { writeParquet } from "./write-parquet.ts";

/** A local file with the rows of a slice. */
export interface WrittenFile {
  n: number;
  path: string;
  slice: Slice;
  /** Fewer than the slice's rows if runs have been deleted since the snapshot. */
  rows: number;
  bytes: number;
}

/** Writes a slice to a local Parquet file. */
export async function writeFile(
  attempt: Attempt,
  { n, tier }: PlannedFile,
  { slice, rowBytes, withFeedback }: WeighedSlice,
): Promise<WrittenFile> {
  const { deps, claimed, scope, directory } = attempt;
  const { clickhouse } = deps;
  const fields = orderedFields(claimed.export_fields);
  // unique among days: the next one may begin while this file is uploaded
  const path = join(directory, `${slice.first.slice(0, 10)}-${fileName(n)}`);
  const { incompleteHours } = scope;
  const context = { version: claimed.format_version, tenantId: claimed.tenant_id, tier, incompleteHours, withFeedback };
  const statement = selectSlice(scope, claimed.session_id, slice, fields, context);
  const { rows, bytes } = await writeParquet(clickhouse, statement, path, {
    compression: claimed.compression,
    rowBytes,
  });
  if (rows > slice.rows) throw new Error(`a slice of ${slice.rows} ids gave ${rows} rows`);
  if (rows < slice.rows) {
    // missing ids must be deleted runs; deletions continue while we count, so fewer may be left, never more
    const left = await countSlice(clickhouse, scope, claimed.session_id, slice);
    if (left > rows) throw new Error(`a slice has ${left} runs, of which ${rows} were written`);
  }
  return { n, path, slice, rows, bytes };
}
