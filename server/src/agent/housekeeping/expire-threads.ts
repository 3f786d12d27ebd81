import type { Sql } from "../../base/db/connect.ts";
import { announceThreads, NOTIFIED_IDS } from "../streams/sql.ts";
import { expireThread, selectExpiredThreads } from "./sql.ts";

/** Deletes or prunes up to `limit` expired threads, and tells the readers of their events. */
export async function expireThreads(sql: Sql, limit: number, isStopped = () => false): Promise<void> {
  const expired = await selectExpiredThreads(sql, limit);
  for (let at = 0; at < expired.length && !isStopped(); at += NOTIFIED_IDS) {
    const done: string[] = [];
    for (const id of expired.slice(at, at + NOTIFIED_IDS)) {
      if (!isStopped() && (await expireThread(sql, id))) done.push(id);
    }
    await announceThreads(sql, done);
  }
}
