/**
 * Announces audit entries before their change. If a process is killed between a change and its entry, the announcement
 * remains, and another process, or the next one, writes the entry: the actor and the start time, with an unknown
 * outcome. So no change lacks an entry, whichever store it is in and however many statements it takes.
 *
 * Announcing does not wait for the disk. A later commit in the same cluster follows the announcement in the write-ahead
 * log and never survives without it. Only a power failure less than a second after a change outside Postgres can lose
 * both the entry and the announcement.
 */
import type { Sql } from "../../base/db/connect.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { retryWhileUnavailable } from "../../base/db/retry.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { Log } from "../../base/log.ts";
import { deleteAnnounced, insertAnnounced, takeLost, touchAnnounced } from "./announced-sql.ts";

/** Age without an update from which the process of an announcement counts as gone, in milliseconds. */
const LOST_AFTER_MS = 120_000;
const BATCH = 100;

interface Options<Draft> {
  /** Writes the entry of a change whose process is gone, and deletes the announcement. */
  adopt: (draft: Draft, id: string) => Promise<void>;
  lostAfterMs?: number | undefined;
}

export class AnnouncedChanges<Draft extends { id: string }> {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #adopt: Options<Draft>["adopt"];
  readonly #lostAfterMs: number;
  /** This process's own announcements whose change is in progress. */
  readonly #open = new Set<string>();
  readonly #announcing: GroupCommit<Draft, void>;
  readonly #withdrawing: GroupCommit<string, void>;
  readonly #poller: Poller;
  readonly #pending = new Set<Promise<void>>();
  #stopped = false;

  constructor(sql: Sql, log: Log, { adopt, lostAfterMs = LOST_AFTER_MS }: Options<Draft>) {
    this.#sql = sql;
    this.#log = log;
    this.#adopt = adopt;
    this.#lostAfterMs = lostAfterMs;
    this.#announcing = new GroupCommit(async (drafts) => {
      await retryWhileUnavailable(() => insertAnnounced(sql, drafts));
      return drafts.map(() => undefined);
    });
    this.#withdrawing = new GroupCommit(async (ids) => {
      await deleteAnnounced(sql, ids);
      return ids.map(() => undefined);
    });
    this.#poller = new Poller({
      pass: () => this.#touchAndAdopt(),
      everyMs: lostAfterMs / 4,
      log,
      failing: "could not check announced changes",
    });
  }

  /** Starts the sweep for announcements of dead processes and keeps this process's own alive. */
  start(): void {
    this.#poller.start();
  }

  async announce(draft: Draft): Promise<void> {
    this.#open.add(draft.id);
    try {
      await this.#announcing.call(draft);
    } catch (error) {
      this.#open.delete(draft.id);
      throw error;
    }
  }

  /** Releases an announcement whose entry was written, or could not be: another process then records the start. */
  settled(id: string): void {
    this.#open.delete(id);
  }

  /**
   * Withdraws an announcement whose change did not happen. Runs in the background; one that stays behind records an
   * attempt.
   */
  withdraw(id: string): void {
    this.#open.delete(id);
    const withdrawing: Promise<void> = this.#withdrawing
      .call(id)
      .catch((error: unknown) => this.#log.warn({ err: error }, "could not withdraw an announced change"))
      .finally(() => this.#pending.delete(withdrawing));
    this.#pending.add(withdrawing);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
    await Promise.all(this.#pending);
  }

  async #touchAndAdopt(): Promise<void> {
    const own = [...this.#open];
    if (own.length > 0) await touchAnnounced(this.#sql, own);
    for (;;) {
      const lost = await takeLost<Draft>(this.#sql, { ms: this.#lostAfterMs, not: own, limit: BATCH });
      await Promise.all(lost.map(({ id, draft }) => this.#adopt(draft, id)));
      if (lost.length > 0)
        this.#log.warn({ lines: lost.length }, "wrote announced changes of lost processes to the audit log");
      if (lost.length < BATCH || this.#stopped) return;
    }
  }
}
