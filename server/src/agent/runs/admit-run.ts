/**
 * Admits runs: inserts their rows, in groups, and claims those that can start at once. Idempotent: a creation whose
 * answer was lost finds its run.
 */
import { GroupCommit } from "../../base/db/group-commit.ts";
import { sortedGroupCommit } from "../../base/db/sorted-commit.ts";
import { sseFrame } from "../../base/events/sse.ts";
import { acceptDespiteLostResponse } from "./accept-despite-lost-response.ts";
import type { RunQueueOptions } from "./queue-options.ts";
import { createRuns, type CreatedRun, type NewRun, notifyQueue } from "./sql.ts";
import { type BegunRun, isResumable, metadataOf } from "./start-run.ts";

export type RunToAdmit = Omit<NewRun, "serverId" | "claim">;

/** The created run, and what its claim returned if this server begins it. */
export interface Admission {
  created: CreatedRun;
  begun: BegunRun | undefined;
  /** When the claim was sent, by `performance.now()`. */
  claimedAt: number;
}

export class RunAdmission {
  readonly #o: Pick<RunQueueOptions, "sql" | "hotSql" | "settings" | "serverId">;
  readonly #creates: GroupCommit<NewRun, CreatedRun>;
  /** Announcements of pending runs: those of a burst share a statement. */
  readonly #notices: GroupCommit<void, void>;
  /** Creations in progress that may claim their run. */
  readonly #creating = new Map<string, number>();

  constructor(options: RunQueueOptions) {
    this.#o = options;
    this.#creates = sortedGroupCommit(
      ({ threadId }) => threadId,
      (runs) => createRuns(options.hotSql, runs, false),
    );
    this.#notices = new GroupCommit(async (calls) => {
      await notifyQueue(options.sql);
      return calls;
    });
  }

  isCreating(runId: string): boolean {
    return this.#creating.has(runId);
  }

  /** Tells all servers that runs are pending. */
  announce(): Promise<void> {
    return this.#notices.call();
  }

  /** @param claim whether a slot is reserved for the run */
  async admit(run: RunToAdmit, claim: boolean): Promise<Admission> {
    // saves a commit, and the first frame does not wait for it
    const firstFrame =
      claim && isResumable(run.kwargs) ? sseFrame(0, "metadata", metadataOf(run.runId, 1)).toString() : null;
    const row: NewRun = { ...run, serverId: this.#o.serverId, claim, firstFrame };
    const { sql, settings } = this.#o;
    const claimedAt = performance.now();
    this.#count(run.runId, 1);
    const created = await acceptDespiteLostResponse({ sql, leaseMs: settings.leaseMs }, row, () =>
      this.#insert(row),
    ).finally(() => this.#count(run.runId, -1));
    return { created, begun: created.claimed ? toBegunRun(run, created) : undefined, claimedAt };
  }

  async #insert(row: NewRun): Promise<CreatedRun> {
    const grouped = await this.#creates.call(row);
    if (grouped.outcome !== "locked") return grouped;
    // another transaction holds the thread's lock: only this run waits for it
    const [alone] = await createRuns(this.#o.sql, [{ ...row, asked: grouped.run }]);
    return alone!;
  }

  #count(runId: string, change: number): void {
    const underWay = (this.#creating.get(runId) ?? 0) + change;
    if (underWay > 0) this.#creating.set(runId, underWay);
    else this.#creating.delete(runId);
  }
}

const toBegunRun = (run: RunToAdmit, created: CreatedRun): BegunRun => ({
  run_id: run.runId,
  thread_id: run.threadId,
  assistant_id: run.assistantId,
  graph_id: created.graph_id,
  attempt: 1,
  failures: 0,
  kwargs: created.kwargs,
  fresh_thread: created.fresh_thread,
  cancel_action: null,
  waited: 0,
  head: created.head,
  metadataStored: created.metadataStored ?? false,
});
