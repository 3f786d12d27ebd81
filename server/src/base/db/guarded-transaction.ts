import { setTimeout as sleep } from "node:timers/promises";

import type postgres from "postgres";

import { cipherOf, rememberCipher } from "./sealed-values.ts";

type Sql = postgres.Sql<Record<string, never>>;
type Transaction = postgres.TransactionSql<Record<string, never>>;

/** Codes that postgres.js rejects with when the connection itself is lost. */
const LOST = new Set(["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED"]);
/** Time within which a lost connection may be reported after the error of one of its statements. */
const LOSS_MS = 1000;
const LOSS_TICK_MS = 5;

/**
 * Makes `sql.begin` safe against a connection lost during the transaction. postgres.js rejects it, but continues to
 * send the callback's statements, and its ROLLBACK, on the same connection object: they are then committed separately
 * on the replacement connection, or join another caller's transaction.
 */
export function guardTransactions(sql: Sql): Sql {
  const begin = sql.begin.bind(sql) as (options: string, work: (tx: Transaction) => unknown) => Promise<unknown>;
  const guarded = async (...args: [string, Work] | [Work]): Promise<unknown> => {
    const [options, work] = args.length === 1 ? ["", args[0]] : args;
    let over = false;
    try {
      return await begin(options, async (tx) => {
        try {
          const guarded = rejectWhen(() => over, tx);
          rememberCipher(guarded, () => cipherOf(sql));
          const result = await work(guarded);
          // no COMMIT on the connection that replaced the lost one
          return over ? await new Promise(() => {}) : result;
        } catch (error) {
          // nor a ROLLBACK, for which postgres.js may have no socket and throw out of a timer
          if (over) return await new Promise(() => {});
          if (!LOST.has(String((error as { code?: unknown } | null)?.code))) throw error;
          const until = performance.now() + LOSS_MS;
          while (!over && performance.now() < until) await sleep(LOSS_TICK_MS);
          // the loss has been reported already; nothing more must be sent
          if (over) return await new Promise(() => {});
          throw error;
        }
      });
    } finally {
      over = true;
    }
  };
  return Object.assign(sql, { begin: guarded });
}

type Work = (tx: Transaction) => unknown;

/** Wraps the transaction; each statement fails once it is over. */
function rejectWhen(over: () => boolean, tx: Transaction): Transaction {
  const check = () => {
    if (over()) {
      throw Object.assign(new Error("The connection of this transaction was lost"), { code: "CONNECTION_CLOSED" });
    }
  };
  return new Proxy(tx, {
    apply(target, self, args) {
      check();
      return Reflect.apply(target, self, args) as unknown;
    },
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (name !== "unsafe" && name !== "savepoint" && name !== "file") return value;
      return (...args: unknown[]) => {
        check();
        return (value as (...all: unknown[]) => unknown)(...args);
      };
    },
  });
}
