import { whileAway } from "../../base/db/retry.ts";
import type { RunQueueOptions } from "./active-run.ts";
import type { ClaimedRun } from "./sql.ts";
import { takeOverStreams } from "./stream-sql.ts";

/** Which of these runs have a kept stream that others may have begun, and how many frames it has. */
export async function takeOver(
  { sql, alone, log }: Pick<RunQueueOptions, "sql" | "alone" | "log">,
  rows: ClaimedRun[],
): Promise<Map<string, number>> {
  const begun = rows.filter((row) => row.attempt > 1 || !alone());
  if (begun.length === 0) return new Map();
  const runs = begun.map((row) => ({ runId: row.run_id, attempt: row.attempt }));
  const streams = await whileAway(() => takeOverStreams(sql, runs)).catch((error: unknown) => {
    // the fence holds: these runs go on without their frames being kept
    log.error({ err: error }, "kept streams could not be taken over");
    return [];
  });
  return new Map(streams.map((stream) => [stream.run_id, stream.frames]));
}
