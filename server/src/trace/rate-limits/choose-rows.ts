import type { Limit } from "../../base/rate-limits/windows.ts";
import type { CanonicalPath } from "./canonical-path.ts";
import { matches, type Pattern, specificityOf } from "./patterns.ts";
import { DEFAULT_ROWS, type Identity, type Row, RULES } from "./table.ts";

/** A row with the quota that counts here. */
export interface ActiveRow extends Limit {
  row: Row;
}

/** Which identities a request bears besides its address. */
export interface Bearer {
  key: boolean;
  user: boolean;
}

type Rows = Partial<Record<Identity, ActiveRow>>;

/** The table, made ready for one server: quotas of its region, overrides applied, rows that are off left out. */
export interface ActiveTable {
  /** Most specific first. */
  rules: { pattern: Pattern; rows: Rows }[];
  defaults: Rows;
  all: ActiveRow[];
}

/** @param quotaOf null for a row that is off */
export function activeTable(quotaOf: (row: Row) => readonly [count: number, seconds: number] | null): ActiveTable {
  const all: ActiveRow[] = [];
  const activate = (rows: Row[]): Rows => {
    const active: Rows = {};
    for (const row of rows) {
      const quota = quotaOf(row);
      if (quota) all.push((active[row.identity] = { name: row.id, count: quota[0], seconds: quota[1], row }));
    }
    return active;
  };
  const rules = RULES.flatMap((rule) => {
    const rows = activate(rule.rows);
    return rule.match.map((pattern) => ({ pattern, rows }));
  });
  rules.sort((a, b) => specificityOf(b.pattern) - specificityOf(a.pattern));
  return { rules, defaults: activate(Object.values(DEFAULT_ROWS)), all };
}

/** Rules that match, most specific first. */
export function rulesFor({ rules }: ActiveTable, method: string, path: CanonicalPath): Rows[] {
  const routed = method === "HEAD" ? "GET" : method;
  return rules.filter(({ pattern }) => matches(pattern, routed, path)).map(({ rows }) => rows);
}

/** The row of the address, where the most specific rule is for addresses: then nobody needs to be asked who they are. */
export const rowOfAddress = (matching: Rows[]): ActiveRow | undefined => matching[0]?.ip;

/** The rows that count otherwise, by the steps in the head of `table.ts`. Empty when they are all off. */
export function chooseRows({ defaults }: ActiveTable, matching: Rows[], bears: Bearer): ActiveRow[] {
  if (!bears.key && !bears.user) return defaults.ip ? [defaults.ip] : [];
  for (const rows of matching) {
    const chosen = borne(rows, bears);
    if (chosen.length > 0) return chosen;
  }
  return borne(defaults, bears);
}

function borne({ key, user }: Rows, bears: Bearer): ActiveRow[] {
  const chosen: ActiveRow[] = [];
  if (key && bears.key) chosen.push(key);
  if (user && bears.user) chosen.push(user);
  return chosen;
}
