/**
 * Examples with files. Files are written first, under unique names, and are unreferenced until the rows that name them
 * are committed. If that fails they are deleted. A crash can leave an unreferenced file behind, which only wastes
 * space.
 */
import { buffer } from "node:stream/consumers";

import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { findAttachments } from "../attachments/clickhouse.ts";
import type { TraceDeps } from "../deps.ts";
import type { Part } from "../ingest/read-multipart.ts";
import { type ParsedExample, type ParsedFile, readExampleParts } from "./example-parts.ts";
import { createPart, updatePart } from "./schema.ts";
import type { Attachments } from "./sql.ts";
import { BODY_SETTING } from "../settings.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { takeFromSourceRuns } from "./source-runs.ts";
import { createExamples, updateExamples, type Written } from "./write-examples.ts";

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "blobs" | "log" | "settings">;

/**
 * Creates examples with files. @throws 404 without such a dataset or source run, 409 for an id already in use, 422 for
 * invalid examples
 */
export async function uploadExamples(deps: Deps, tenantId: string, datasetId: string, parts: Part[]): Promise<Written> {
  await found(deps, tenantId, datasetId);
  const parsed = readExampleParts(parts, createPart, bodyLimit(deps));
  const invalid = parsed.find((example) => example.operations);
  if (invalid)
    throw unprocessable(
      `Part "${invalid.id}.attachments_operations": cannot be used for a new example, which has no files yet.`,
    );
  const examples = await takeFromSourceRuns(
    deps,
    tenantId,
    datasetId,
    parsed.map(({ id, info, inputs, outputs }) => ({ ...info, id, inputs, outputs })),
  );
  const files = parsed.map((example) => example.files);
  for (const [i, example] of examples.entries()) {
    Object.assign(
      files[i]!,
      await filesOfRun(deps, tenantId, example.source_run_id, example.use_source_run_attachments),
    );
  }
  return withFiles(deps, tenantId, files, (attachments) =>
    createExamples(
      deps.sql,
      tenantId,
      datasetId,
      examples.map((example, i) => ({ ...example, attachments: attachments[i] })),
    ),
  );
}

/** Updates examples and their files. @throws 404 without such a dataset or example, 409 for an example of another dataset, 422 for invalid changes */
export async function reviseExamples(deps: Deps, tenantId: string, datasetId: string, parts: Part[]): Promise<Written> {
  await found(deps, tenantId, datasetId);
  const parsed = readExampleParts(parts, updatePart, bodyLimit(deps));
  return withFiles(
    deps,
    tenantId,
    parsed.map((example) => example.files),
    (attachments) =>
      updateExamples(
        deps.sql,
        tenantId,
        datasetId,
        parsed.map(({ id, info, inputs, outputs, operations }: ParsedExample<(typeof parsed)[number]["info"]>, i) => ({
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

const bodyLimit = ({ settings }: Pick<Deps, "settings">) => ({
  maxBytes: settings.maxBodyBytes,
  setting: BODY_SETTING,
});

async function found({ sql }: Deps, tenantId: string, datasetId: string): Promise<void> {
  if (!(await findDatasetRow(sql, tenantId, datasetId))) throw notFound("Dataset not found");
}

/** Copies a run's files, because the example outlives the run. */
async function filesOfRun(
  { clickhouse, blobs }: Deps,
  tenantId: string,
  runId: string | null | undefined,
  names: string[] | null | undefined,
): Promise<Record<string, ParsedFile>> {
  if (!names || names.length === 0) return {};
  if (!runId) throw unprocessable("use_source_run_attachments needs a source_run_id.");
  const found = await findAttachments(clickhouse, tenantId, [runId]);
  const files: Record<string, ParsedFile> = {};
  for (const name of names) {
    const row = found.find((attachment) => attachment.name === name);
    const blob = row && (await blobs.read(row.blob));
    if (!row || !blob) throw notFound(`Source run ${runId} has no attachment "${name}"`);
    files[name] = { mime_type: row.mime_type, content: await buffer(blob.content) };
  }
  return files;
}

/** Stores files, then runs `write`; deletes the files if it fails. */
export async function withFiles<T>(
  { blobs, log }: Pick<Deps, "blobs" | "log">,
  tenantId: string,
  filesOfExamples: Record<string, ParsedFile>[],
  write: (attachments: (Attachments | null)[]) => Promise<T>,
): Promise<T> {
  const stored: string[] = [];
  try {
    const attachments: (Attachments | null)[] = [];
    for (const files of filesOfExamples) {
      const storedFiles: Attachments = {};
      for (const [name, { mime_type, content }] of Object.entries(files)) {
        const blob = `${tenantId}/examples/${uuid7()}`;
        stored.push(blob);
        await blobs.put(blob, content);
        storedFiles[name] = { blob, mime_type, size: content.length };
      }
      attachments.push(Object.keys(storedFiles).length > 0 ? storedFiles : null);
    }
    return await write(attachments);
  } catch (error) {
    await blobs.delete(stored).catch((left: unknown) => log.error({ err: left }, "could not delete orphaned files"));
    throw error;
  }
}
