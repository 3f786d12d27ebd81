import { buffer } from "node:stream/consumers";

import { conflict, notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import type { TraceDeps } from "../deps.ts";
import type { ParsedFile } from "../examples/example-parts.ts";
import { type Attachments, selectStatesAt } from "../examples/sql.ts";
import { resolveAsOf } from "../datasets/resolve-version.ts";
import { findDatasetRow } from "../datasets/sql.ts";
import { withFiles } from "../examples/upload-examples.ts";
import { createExamples, type NewExample } from "../examples/write-examples.ts";

type Deps = Pick<TraceDeps, "sql" | "blobs" | "log">;

/** Examples copied at once, as a single version of the target. */
const MAX_EXAMPLES = 10_000;

export interface CloneRequest {
  source_dataset_id: string;
  target_dataset_id: string;
  as_of?: string | null | undefined;
  examples?: string[] | undefined;
  split?: string | string[] | null | undefined;
}

export interface Cloned {
  id: string;
  dataset_id: string;
  source_example_id: string;
}

/**
 * Copies examples of a dataset, as of one of its versions, into another dataset, with their files. Copies are
 * independent of their originals.
 *
 * @throws 404 without such datasets, examples or version, 409 for a missing file, 422 for examples that the target's
 * schemas exclude
 */
export async function cloneDataset(deps: Deps, tenantId: string, request: CloneRequest): Promise<Cloned[]> {
  const { sql } = deps;
  const { source_dataset_id: source, target_dataset_id: target } = request;
  if (source === target) throw unprocessable("target_dataset_id: a dataset cannot be copied into itself.");
  for (const id of [source, target]) {
    if (!(await findDatasetRow(sql, tenantId, id))) throw notFound("Dataset not found");
  }
  const exampleIds = request.examples?.length ? [...new Set(request.examples)] : undefined;
  const states = await selectStatesAt(
    sql,
    tenantId,
    {
      dataset: source,
      as_of: await resolveAsOf(sql, tenantId, source, request.as_of ?? undefined),
      id: exampleIds,
      splits: request.split == null ? undefined : [request.split].flat(),
    },
    MAX_EXAMPLES + 1,
  );
  if (states.length > MAX_EXAMPLES)
    throw unprocessable(`More than ${MAX_EXAMPLES} examples. Name the examples, or a split.`);
  const existing = new Set(states.map((state) => state.example_id));
  const missing = request.split == null ? exampleIds?.find((id) => !existing.has(id)) : undefined;
  if (missing !== undefined) throw notFound(`Example ${missing} not found`);
  if (states.length === 0) return [];
  const copies = states.map((state) => ({ ...state, id: uuid7(), created_at: null }) satisfies NewExample);
  const files: Record<string, ParsedFile>[] = [];
  for (const { example_id, attachments } of states) files.push(await readFiles(deps, example_id, attachments));
  await withFiles(deps, tenantId, files, (attachments) =>
    createExamples(
      sql,
      tenantId,
      target,
      copies.map((copy, i) => ({ ...copy, attachments: attachments[i] })),
    ),
  );
  return copies.map((copy) => ({ id: copy.id, dataset_id: target, source_example_id: copy.example_id }));
}

/**
 * Reads the contents of an example's files, since a copy gets copies of them. @throws 409 for a file missing from the
 * store
 */
async function readFiles(
  { blobs }: Deps,
  exampleId: string,
  attachments: Attachments | null,
): Promise<Record<string, ParsedFile>> {
  const files: Record<string, ParsedFile> = {};
  for (const [name, { blob, mime_type }] of Object.entries(attachments ?? {})) {
    const found = await blobs.read(blob);
    if (!found) {
      throw conflict(
        `Nothing was cloned: the file "${name}" of example ${exampleId} is missing in the blob store. ` +
          "Restore it, upload the example's file again, or exclude the example.",
      );
    }
    files[name] = { mime_type, content: await buffer(found.content) };
  }
  return files;
}
