import { idleInTransaction } from "../../base/db/alone.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { ownConnection, type Sql, type Transaction } from "../../base/db/connect.ts";
import { lockedInTime } from "../../base/db/lock-timeout.ts";
import { unavailable } from "../../base/errors.ts";

/** First key of the advisory locks, one per workspace; unique to this purpose. */
const LOCK = 7_236_547;
/** Concurrent batches of a process; each has its own connection. */
const MAX_BATCHES = 4;
const HOLD_WAIT = "20s";

/** Rejects with HeldError while something that would be deleted is held. */
export type RejectHeld = (sql: Transaction) => Promise<void>;

type ReachPoint = (name: string) => Promise<void>;

/**
 * Deletions and the placing of legal holds exclude each other, by an advisory lock per workspace: batches share it, and
 * a hold is placed alone. Each batch therefore sees every hold that was answered, and a hold is answered when no batch
 * that did not see it is in progress. A batch must not start another one: a hold between the two would wait for both.
 */
export class Deletions {
  readonly #sql: Sql;
  /** Called at points where tests let something else happen. */
  readonly faultPoint: ReachPoint;
  readonly #batches = new FairQueue({ capacity: MAX_BATCHES });

  constructor(sql: Sql, faultPoint: ReachPoint = () => Promise.resolve()) {
    this.#sql = sql;
    this.faultPoint = faultPoint;
  }

  /**
   * Runs a batch that deletes from several stores. Its lock has a separate connection, because the work may need all of
   * the pool's. @throws HeldError without any deletion
   */
  batch<T>(tenantId: string, reject: RejectHeld, work: () => Promise<T>): Promise<T> {
    return this.#batches.run(async () => {
      await this.faultPoint("deletion-batch");
      const own = ownConnection(this.#sql);
      let working: Promise<T> | undefined;
      try {
        return (await own.begin(async (tx) => {
          await this.#share(tx, tenantId, reject);
          await idleInTransaction(tx);
          working = work();
          return working;
        })) as T;
      } finally {
        // also when the connection was lost meanwhile
        await working?.catch(() => {});
        await own.end({ timeout: 1 });
      }
    });
  }

  /** Runs a deletion from Postgres alone. @throws HeldError without any deletion */
  async transaction<T>(tenantId: string, reject: RejectHeld, work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.faultPoint("deletion-transaction");
    return (await this.#sql.begin(async (tx) => {
      await this.#share(tx, tenantId, reject);
      return work(tx);
    })) as T;
  }

  /**
   * Waits for the batches in progress in the workspace, and keeps others from starting until the transaction ends.
   * @throws 503 when they take too long
   */
  async exclude(tx: Transaction, tenantId: string): Promise<void> {
    await tx`select set_config('lock_timeout', ${HOLD_WAIT}, true)`;
    const lock = tx`select pg_advisory_xact_lock(${LOCK}, hashtext(${tenantId}))`;
    if (!(await lockedInTime(lock))) {
      throw unavailable("Data of the workspace is being deleted; nothing was changed. Try again later.", 5);
    }
  }

  async #share(tx: Transaction, tenantId: string, reject: RejectHeld): Promise<void> {
    await tx`select pg_advisory_xact_lock_shared(${LOCK}, hashtext(${tenantId}))`;
    await reject(tx);
    await this.faultPoint("deletion-begun");
  }
}
