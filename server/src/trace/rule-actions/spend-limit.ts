import type { TraceDeps } from "../deps.ts";
import type { MatchBatch } from "./match-sql.ts";
import * as rows from "./spend-sql.ts";

export interface SpendLimit {
  /** Decimal text. */
  limit_usd: string;
  window: rows.SpendWindow;
}

/**
 * `granted`: the match may be judged. `busy`: other judgements in progress may use up the limit; ask again later.
 * `exhausted`: the limit of the window is reached.
 */
export type Grant = { grant: "granted" } | { grant: "busy" } | { grant: "exhausted"; reason: string };

/**
 * Reserves what the judgement of a match will probably cost: the highest of the last twenty costs of the rule. While no
 * cost is known, one match is judged at a time. So the limit is exceeded only by a judgement that costs more than all
 * recent ones.
 */
export async function reserveSpending(
  { sql }: Pick<TraceDeps, "sql">,
  batch: MatchBatch,
  matchId: string,
  { limit_usd: limit, window }: SpendLimit,
): Promise<Grant> {
  return (await sql.begin(async (tx): Promise<Grant> => {
    await rows.lockSpending(tx, batch, window);
    await rows.settleLost(tx, batch);
    const found = await rows.findSpending(tx, batch, window, limit);
    if (found.isExhausted) {
      const estimate = found.estimate === null ? "" : `, and the next judgement may cost ${found.estimate} USD`;
      return {
        grant: "exhausted",
        reason:
          `The ${window} spend limit of the rule is reached: ${found.spent} of ${limit} USD are spent${estimate}. ` +
          `The next window begins on ${found.next_window}.`,
      };
    }
    const isAlone = found.reserved === "0" && !found.isOpen;
    if (found.exceeds || found.isOpen || (found.estimate === null && !isAlone)) return { grant: "busy" };
    await rows.insertReservation(tx, batch, matchId, window, found.estimate);
    return { grant: "granted" };
  })) as Grant;
}
