import { setTimeout as sleep } from "node:timers/promises";

import { untilDone } from "../../base/db/retry.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import type { RunFollower } from "../streams/run-follower.ts";
import type { RunStream, RunStreams } from "../streams/run-streams.ts";
import type { ClaimedRun } from "./sql.ts";
import type { StreamKeeper } from "../streams/stream-keeper.ts";
import { type KeptLength, takeOverStreams } from "../streams/sql.ts";

const TRIES = 5;

/**
 * Takes over the stored streams that earlier attempts of these runs may have begun, and returns their lengths
 * and marks. Undefined when they cannot be determined.
 */
export async function takeOver(
  { sql, alone, log }: Pick<RunQueueOptions, "sql" | "alone" | "log">,
  rows: ClaimedRun[],
): Promise<Map<string, KeptLength> | undefined> {
  const begun = rows.filter((row) => row.attempt > 1 || !alone());
  if (begun.length === 0) return new Map();
  const runs = begun.map((row) => ({ runId: row.run_id, attempt: row.attempt }));
  for (let tried = 1; ; tried++) {
    try {
      // without a limit: none of these runs may start before its stored stream is known
      const streams = await untilDone(
        () => takeOverStreams(sql, runs),
        () => true,
      );
      return new Map(streams.map((stream) => [stream.run_id, stream]));
    } catch (error) {
      if (tried === TRIES) {
        // the fence holds: these runs continue, and report that their frames are not kept
        log.error({ err: error }, "could not take over stored streams");
        return undefined;
      }
      await sleep(100 * tried);
    }
  }
}

export interface Continuation {
  streams: RunStreams;
  keeper: StreamKeeper;
  follower: RunFollower;
}

/**
 * Fills the local stream of a run with the kept frames, so that the attempt that starts here continues after them.
 * @returns the stream to continue with: a new one where readers here have seen frames other than the kept ones
 */
export async function continueStream(
  { streams, keeper, follower }: Continuation,
  stream: RunStream,
  attempt: number,
  kept: KeptLength,
): Promise<RunStream> {
  stream.marks.read(kept.marks);
  // no other attempt has written since the last one here
  const isWriter = stream.keeping?.attempt === attempt - 1 && kept.frames <= stream.log.appended;
  if (isWriter) return stream;
  keeper.drop(stream);
  await follower.catchUp(stream, kept.frames);
  if (agrees(stream, kept)) return stream;
  const fresh = streams.replace(stream, "Another server executed the run in the meantime.");
  fresh.marks.read(kept.marks);
  await follower.catchUp(fresh, kept.frames);
  return fresh;
}

/** Whether the kept frames are the beginning of the local ones. */
const agrees = ({ common }: RunStream, { frames }: KeptLength): boolean => frames <= common;
