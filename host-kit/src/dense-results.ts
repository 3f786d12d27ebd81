import type postgres from "postgres";

const RESOLVE = Symbol("resolve");

type Resolve = (result: unknown) => void;
interface Query {
  [RESOLVE]: Resolve;
}

/**
 * Repairs results of postgres.js (all versions up to 3.4.9, porsager/postgres#1181): it keeps counting the rows of a
 * statement that failed after its first row, so the result of the connection's next statement begins with as many
 * holes. Its first row, which may be its only one, then seems to be missing. Applies to all pools of the process.
 */
export function repairResults(sql: postgres.Sql): void {
  const query = Object.getPrototypeOf(sql``) as object;
  if (Object.hasOwn(query, "resolve")) return;
  // each query assigns its `resolve` in its constructor
  Object.defineProperty(query, "resolve", {
    get(this: Query): Resolve {
      return this[RESOLVE];
    },
    set(this: Query, resolve: Resolve) {
      this[RESOLVE] = (result) => {
        if (Array.isArray(result)) closeGap(result);
        resolve(result);
      };
    },
  });
}

/** Moves the rows to the beginning, in place: a result has properties beside its rows. */
function closeGap(rows: unknown[]): void {
  if (rows.length === 0 || 0 in rows) return;
  const first = rows.findIndex((_, i) => i in rows);
  rows.copyWithin(0, first);
  rows.length -= first;
}
