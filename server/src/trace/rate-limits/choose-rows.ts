import type { Limit } from "../../base/rate-limits/windows.ts";
import type { CanonicalPath } from "./canonical-path.ts";
import { matches, type Pattern, specificity } from "./patterns.ts";
import { DEFAULT_ROWS, type Identity, type Row, RULES } from "./table.ts";

/** Row with its effective quota. */
export interface ActiveRow extends Limit {
  row: Row;
}

/** Identities of a request in addition to its IP address. */
export interface RequestIdentities {
  key: boolean;
  user: boolean;
}

type Rows = Partial<Record<Identity, ActiveRow>>;

/** Table prepared for a server: quotas of its region, overrides applied, disabled rows omitted. */
export interface ActiveTable {
  /** Most specific first. */
  rules: { pattern: Pattern; rows: Rows }[];
  defaults: Rows;
  all: ActiveRow[];
}

/** Prepares the table. @param quotaLimits returns null for a disabled row */
export function activeTable(quotaLimits: (row: Row) => readonly [count: number, seconds: number] | null): ActiveTable {
  const all: ActiveRow[] = [];
  const activate = (rows: Row[]): Rows => {
    const active: Rows = {};
    for (const row of rows) {
      const quota = quotaLimits(row);
      if (quota) all.push((active[row.identity] = { name: row.id, count: quota[0], seconds: quota[1], row }));
    }
    return active;
  };
  const rules = RULES.flatMap((rule) => {
    const rows = activate(rule.rows);
    return rule.match.map((pattern) => ({ pattern, rows }));
  });
  rules.sort((a, b) => specificity(b.pattern) - specificity(a.pattern));
  return { rules, defaults: activate(Object.values(DEFAULT_ROWS)), all };
}

/** Returns the matching rules, most specific first. */
export function rulesFor({ rules }: ActiveTable, method: string, path: CanonicalPath): Rows[] {
  const routed = method === "HEAD" ? "GET" : method;
  return rules.filter(({ pattern }) => matches(pattern, routed, path)).map(({ rows }) => rows);
}

/** Returns the row for the IP address if the most specific rule limits addresses; no authentication is needed then. */
export const findAddressRow = (matching: Rows[]): ActiveRow | undefined => matching[0]?.ip;

/** Returns the rows that apply otherwise, by the steps at the head of `table.ts`. Empty when all are disabled. */
export function chooseRows({ defaults }: ActiveTable, matching: Rows[], identities: RequestIdentities): ActiveRow[] {
  if (!identities.key && !identities.user) return defaults.ip ? [defaults.ip] : [];
  for (const rows of matching) {
    const chosen = rowsFor(rows, identities);
    if (chosen.length > 0) return chosen;
  }
  return rowsFor(defaults, identities);
}

function rowsFor({ key, user }: Rows, identities: RequestIdentities): ActiveRow[] {
  const chosen: ActiveRow[] = [];
  if (key && identities.key) chosen.push(key);
  if (user && identities.user) chosen.push(user);
  return chosen;
}
