import { StorageError } from "../../base/blob/s3-error.ts";

/** For calls that need a permission which is optional: a refusal is nothing, an outage is another matter. */
export async function withoutRefusal(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StorageError) || error.canHeal) throw error;
  }
}
