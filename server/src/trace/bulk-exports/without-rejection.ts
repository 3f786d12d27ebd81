import { StorageError } from "../../base/blob/s3-error.ts";

/** Runs a call that needs an optional permission: ignores a rejection, rethrows an outage. */
export async function withoutRejection(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StorageError) || error.canHeal) throw error;
  }
}
