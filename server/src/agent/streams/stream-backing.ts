import type { Sql } from "../../base/db/connect.ts";
import { untilPassed } from "../../base/db/retry.ts";
import { splitFrames } from "../../base/events/sse.ts";
import { SpillSpace, spillLimit } from "../../base/events/spill-space.ts";
import type { Log } from "../../base/log.ts";
import type { StreamBacking } from "./run-streams.ts";
import { flagIncompleteStream, selectSegmentsAround } from "./sql.ts";

/** Limit for recording a gap, which the end of the run waits for. */
const FLAG_PATIENCE_MS = 60_000;

/** Backing of a server's streams: spill files for frames that exceed memory, and the marking of incomplete streams. */
export async function streamBacking(
  sql: Sql,
  log: Log,
  dataDir: string,
  diskMb: number,
): Promise<Required<StreamBacking>> {
  return {
    space: new SpillSpace(await spillLimit(dataDir, diskMb * 1024 * 1024)),
    readKept: (runId, from, count) => readKept(sql, runId, from, count),
    async flagIncomplete(runId, reason) {
      log.warn({ run_id: runId, reason }, "the stream of a run lacks frames");
      const flag = () => flagIncompleteStream(sql, runId, reason);
      await untilPassed(flag, FLAG_PATIENCE_MS).catch((error: unknown) =>
        log.error({ err: error, run_id: runId }, "could not record that the stream of a run lacks frames"),
      );
    },
  };
}

/** Reads up to `count` frames of the stored stream; fewer at its end. */
export async function readKept(sql: Sql, runId: string, from: number, count: number): Promise<Buffer[]> {
  const found: Buffer[] = [];
  while (found.length < count) {
    const at = from + found.length;
    const before = found.length;
    for (const segment of await selectSegmentsAround(sql, runId, at)) {
      const frames = splitFrames(Buffer.from(segment.frames)).map(({ frame }) => frame);
      const skip = from + found.length - segment.first;
      if (skip >= 0 && skip < frames.length) found.push(...frames.slice(skip, skip + count - found.length));
    }
    if (found.length === before) break;
  }
  return found;
}
