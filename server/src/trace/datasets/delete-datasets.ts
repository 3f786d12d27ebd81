import { notFound } from "../../base/errors.ts";
import { rejectHeldWorkspace } from "../legal-holds/check-holds.ts";
import type { TraceDeps } from "../deps.ts";
import { deleteDatasets as deleteRows, selectBlobs } from "./sql.ts";

/**
 * Deletes datasets with all versions of their examples and their files, all or none. Experiments on them are separate
 * projects and stay.
 *
 * @throws 404 when one of them does not exist, 409 while the workspace is under legal hold
 */
export async function deleteDatasets(
  { deletions, blobs, log }: Pick<TraceDeps, "deletions" | "blobs" | "log">,
  tenantId: string,
  ids: string[],
): Promise<void> {
  const requestedIds = [...new Set(ids)];
  const files = await deletions.transaction(
    tenantId,
    (tx) => rejectHeldWorkspace(tx, tenantId),
    async (tx) => {
      const names = await selectBlobs(tx, tenantId, requestedIds);
      const deleted = await deleteRows(tx, tenantId, requestedIds);
      if (deleted.length < requestedIds.length) throw notFound("Dataset not found");
      return names;
    },
  );
  // the rows are deleted: a file left behind now wastes space but is not an error
  await blobs.delete(files).catch((error: unknown) => log.error({ err: error }, "could not delete files of a dataset"));
}
