import { MSGPACK_CHANGE } from "../../../host-kit/src/list-value.ts";
import { storeMsgpackWhole } from "../agent/housekeeping/expand-msgpack-lists.ts";
import { storeWhole } from "../agent/housekeeping/rewrite-lists.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

/**
 * Stores the lists of a thread, or of all threads, whole, so that the official saver can read them.
 * @param report called for each thread with the number of versions rewritten
 */
export function expandCheckpoints(
  location: DataLocation,
  thread: string | undefined,
  report: (thread: string, versions: number) => void,
): Promise<void> {
  return withDatabase(location, async ({ sql }) => {
    const threads = await sql<{ thread_id: string }[]>`
      select distinct thread_id from checkpoint_blobs
      where type in ('list', ${MSGPACK_CHANGE}) and (${thread ?? null}::text is null or thread_id = ${thread ?? null})`;
    for (const { thread_id } of threads)
      report(thread_id, (await storeWhole(sql, thread_id)) + (await storeMsgpackWhole(sql, thread_id)));
  });
}
