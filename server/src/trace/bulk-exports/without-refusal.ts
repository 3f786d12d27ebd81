import { StorageError } from "../../base/blob/s3-error.ts";

/** Runs a call that needs an optional permission: ignores a refusal, rethrows an outage. */
export async function withoutRefusal(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StorageError) || error.canHeal) throw error;
  }
}
