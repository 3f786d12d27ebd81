import type { Sql } from "../../base/db/connect.ts";
import { isDatabaseAway } from "../../base/db/retry.ts";
import type { Log } from "../../base/log.ts";
import { answerOf } from "./answer.ts";
import type { RunStream, RunStreams } from "./run-streams.ts";
import { selectFollowedRuns } from "./sql.ts";

const POLL_MS = 500;

/**
 * Ends the local streams of runs that are not executed here: pending ones, and those of other servers. One
 * query for all of them, twice a second and when the database says that one is done.
 */
export class RunFollower {
  readonly #sql: Sql;
  readonly #streams: RunStreams;
  readonly #log: Log;
  readonly #isActive: (runId: string) => boolean;
  #followed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  /** @param isActive whether this server executes the run */
  constructor(sql: Sql, streams: RunStreams, log: Log, isActive: (runId: string) => boolean) {
    this.#sql = sql;
    this.#streams = streams;
    this.#log = log;
    this.#isActive = isActive;
  }

  /** The run's stream, which will end when the run does, wherever that is. */
  follow(runId: string): RunStream {
    const stream = this.#streams.open(runId);
    if (!stream.outcome) {
      this.#followed.add(runId);
      this.#timer ??= setInterval(() => void this.#look(), POLL_MS);
    }
    return stream;
  }

  /** The database says that this run is done. */
  onDone(runId: string): void {
    if (this.#followed.has(runId)) void this.#look();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#followed.clear();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const ids = [...this.#followed];
      const rows = await selectFollowedRuns(this.#sql, ids);
      const found = new Map(rows.map((row) => [row.run_id, row]));
      for (const id of ids) {
        const row = found.get(id);
        if (row && (row.status === "pending" || row.status === "running")) continue;
        this.#followed.delete(id);
        const stream = this.#streams.get(id);
        // a run that is executed here again tells its end itself, and knows a result that the rows may not
        if (!stream || stream.outcome || this.#isActive(id)) continue;
        const status = row?.status ?? "deleted";
        const state = row?.values ? `{"values":${row.values}}` : null;
        if (row?.error && stream.log.count === 0) stream.append("error", JSON.stringify(row.error));
        // frames that were seen here are older than the thread's values
        this.#streams.end(id, { status, answer: answerOf(status, row?.error ?? undefined, undefined, state) });
      }
    } catch (error) {
      if (!isDatabaseAway(error)) this.#log.error({ err: error }, "runs could not be followed");
    } finally {
      this.#looking = false;
      if (this.#followed.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }
}
