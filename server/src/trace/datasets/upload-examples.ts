/**
 * Examples with files. Files are written first, under names of their own, and belong to nobody until the rows that
 * name them are committed; when that fails they are taken back. One that a crash leaves behind is waste.
 */
import { buffer } from "node:stream/consumers";

import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { findAttachments } from "../attachments/clickhouse.ts";
import type { TraceDeps } from "../deps.ts";
import type { Part } from "../ingest/read-multipart.ts";
import { type GivenExample, type GivenFile, readExampleParts } from "./example-parts.ts";
import { createPart, updatePart } from "./example-schema.ts";
import type { Attachments } from "./example-sql.ts";
import { findDatasetRow } from "./sql.ts";
import { takeFromSourceRuns } from "./source-runs.ts";
import { createExamples, updateExamples, type Written } from "./write-examples.ts";

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "blobs" | "log">;

/** @throws 404 without such a dataset or source run, 409 for an id that is taken, 422 for what cannot be */
export async function uploadExamples(deps: Deps, tenantId: string, datasetId: string, parts: Part[]): Promise<Written> {
  await found(deps, tenantId, datasetId);
  const given = readExampleParts(parts, createPart);
  const wanted = given.find((one) => one.operations);
  if (wanted) throw unprocessable(`Part "${wanted.id}.attachments_operations": a new example has no files yet.`);
  const examples = await takeFromSourceRuns(
    deps,
    tenantId,
    given.map(({ id, info, inputs, outputs }) => ({ ...info, id, inputs, outputs })),
  );
  const files = given.map((one) => one.files);
  for (const [i, one] of examples.entries()) {
    Object.assign(files[i]!, await filesOfRun(deps, tenantId, one.source_run_id, one.use_source_run_attachments));
  }
  return withFiles(deps, tenantId, files, (attachments) =>
    createExamples(
      deps.sql,
      tenantId,
      datasetId,
      examples.map((one, i) => ({ ...one, attachments: attachments[i] })),
    ),
  );
}

/** @throws 404 without such a dataset or example in it, 422 for what cannot be */
export async function reviseExamples(deps: Deps, tenantId: string, datasetId: string, parts: Part[]): Promise<Written> {
  await found(deps, tenantId, datasetId);
  const given = readExampleParts(parts, updatePart);
  return withFiles(
    deps,
    tenantId,
    given.map((one) => one.files),
    (attachments) =>
      updateExamples(
        deps.sql,
        tenantId,
        datasetId,
        given.map(({ id, info, inputs, outputs, operations }: GivenExample<(typeof given)[number]["info"]>, i) => ({
          ...info,
          id,
          inputs,
          outputs,
          attachments: attachments[i],
          attachments_operations: operations,
        })),
      ),
  );
}

async function found({ sql }: Deps, tenantId: string, datasetId: string): Promise<void> {
  if (!(await findDatasetRow(sql, tenantId, datasetId))) throw notFound("Dataset not found");
}

/** Copies, because the example outlives the run. */
async function filesOfRun(
  { clickhouse, blobs }: Deps,
  tenantId: string,
  runId: string | null | undefined,
  names: string[] | null | undefined,
): Promise<Record<string, GivenFile>> {
  if (!names || names.length === 0) return {};
  if (!runId) throw unprocessable("use_source_run_attachments needs a source_run_id.");
  const there = await findAttachments(clickhouse, tenantId, [runId]);
  const files: Record<string, GivenFile> = {};
  for (const name of names) {
    const row = there.find((one) => one.name === name);
    const blob = row && (await blobs.read(row.blob));
    if (!row || !blob) throw notFound(`Source run ${runId} has no attachment "${name}"`);
    files[name] = { mime_type: row.mime_type, content: await buffer(blob.content) };
  }
  return files;
}

/** Writes the files and what names them; what was not named in the end is taken back. */
export async function withFiles<T>(
  { blobs, log }: Pick<Deps, "blobs" | "log">,
  tenantId: string,
  given: Record<string, GivenFile>[],
  write: (attachments: (Attachments | null)[]) => Promise<T>,
): Promise<T> {
  const stored: string[] = [];
  try {
    const attachments: (Attachments | null)[] = [];
    for (const files of given) {
      const kept: Attachments = {};
      for (const [name, { mime_type, content }] of Object.entries(files)) {
        const blob = `${tenantId}/examples/${uuid7()}`;
        stored.push(blob);
        await blobs.put(blob, content);
        kept[name] = { blob, mime_type, size: content.length };
      }
      attachments.push(Object.keys(kept).length > 0 ? kept : null);
    }
    return await write(attachments);
  } catch (error) {
    await blobs.delete(stored).catch((left: unknown) => log.error({ err: left }, "files were left behind"));
    throw error;
  }
}
