/**
 * Lines that are announced before their change. Whoever is killed between a change and its line leaves the announcement,
 * and another process, or the next one, writes the line: that the outcome is not known, but who began what, and when.
 * So there is no change without a line, whichever store it is in and however many statements it takes.
 *
 * An announcement is not waited for until it is on disk: what a later transaction of the same cluster commits comes
 * after it in the write-ahead log, and is never there without it. Only where a machine loses its power less than a
 * second after a change that is not in Postgres, there may be neither line nor announcement.
 */
import type { Sql } from "../../base/db/connect.ts";
import { GroupCommit } from "../../base/db/group-commit.ts";
import { whileAway } from "../../base/db/retry.ts";
import { Passes } from "../../base/jobs/passes.ts";
import type { Log } from "../../base/log.ts";
import { deleteAnnounced, insertAnnounced, takeLost, touchAnnounced } from "./announced-sql.ts";

/** Of an announcement that nobody has touched for so long, the process is gone. */
const LOST_AFTER_MS = 120_000;
const BATCH = 100;

interface Options<Draft> {
  /** Writes the line of a change whose process is gone, and takes the announcement away with it. */
  adopt: (draft: Draft, id: string) => Promise<void>;
  lostAfterMs?: number | undefined;
}

export class AnnouncedChanges<Draft extends { id: string }> {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #adopt: Options<Draft>["adopt"];
  readonly #lostAfterMs: number;
  /** This process's own, whose change is under way. */
  readonly #open = new Set<string>();
  readonly #announcing: GroupCommit<Draft, void>;
  readonly #withdrawing: GroupCommit<string, void>;
  readonly #passes: Passes;
  readonly #pending = new Set<Promise<void>>();
  #stopped = false;

  constructor(sql: Sql, log: Log, { adopt, lostAfterMs = LOST_AFTER_MS }: Options<Draft>) {
    this.#sql = sql;
    this.#log = log;
    this.#adopt = adopt;
    this.#lostAfterMs = lostAfterMs;
    this.#announcing = new GroupCommit(async (drafts) => {
      await whileAway(() => insertAnnounced(sql, drafts));
      return drafts.map(() => undefined);
    });
    this.#withdrawing = new GroupCommit(async (ids) => {
      await deleteAnnounced(sql, ids);
      return ids.map(() => undefined);
    });
    this.#passes = new Passes({
      pass: () => this.#touchAndAdopt(),
      everyMs: lostAfterMs / 4,
      log,
      failing: "announced changes could not be looked through",
    });
  }

  /** From now on those of processes that are gone are looked for, and its own kept. */
  start(): void {
    this.#passes.start();
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

  /** Its line has come, or could not be written: then another process will say that it began. */
  settled(id: string): void {
    this.#open.delete(id);
  }

  /** Nothing was changed. Nobody waits for it: what is left of it tells of an attempt. */
  withdraw(id: string): void {
    this.#open.delete(id);
    const withdrawing: Promise<void> = this.#withdrawing
      .call(id)
      .catch((error: unknown) => this.#log.warn({ err: error }, "an announced change could not be withdrawn"))
      .finally(() => this.#pending.delete(withdrawing));
    this.#pending.add(withdrawing);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#passes.stop();
    await Promise.all(this.#pending);
  }

  async #touchAndAdopt(): Promise<void> {
    const own = [...this.#open];
    if (own.length > 0) await touchAnnounced(this.#sql, own);
    for (;;) {
      const lost = await takeLost<Draft>(this.#sql, { ms: this.#lostAfterMs, not: own, limit: BATCH });
      await Promise.all(lost.map(({ id, draft }) => this.#adopt(draft, id)));
      if (lost.length > 0)
        this.#log.warn({ lines: lost.length }, "changes whose process is gone: written to the audit log");
      if (lost.length < BATCH || this.#stopped) return;
    }
  }
}
