import type { Limit } from "../../base/rate-limits/windows.ts";
import type { CanonicalPath } from "./canonical-path.ts";
import { matches, type Pattern, specificity } from "./patterns.ts";
import { DEFAULT_ROWS, type Identity, type Row, RULES } from "./table.ts";

/** Row with its effective quota. */
export interface ActiveRow extends Limit {
  row: Row;
}

/** Identities of a request besides its address. */
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

/** Returns the address row, if the most specific rule limits addresses: then no authentication is needed. */
export const rowOfAddress = (matching: Rows[]): ActiveRow | undefined => matching[0]?.ip;

/** Returns the rows that count otherwise, by the steps in the head of `table.ts`. Empty when all are disabled. */
export function chooseRows({ defaults }: ActiveTable, matching: Rows[], bears: RequestIdentities): ActiveRow[] {
  if (!bears.key && !bears.user) return defaults.ip ? [defaults.ip] : [];
  for (const rows of matching) {
    const chosen = borne(rows, bears);
    if (chosen.length > 0) return chosen;
  }
  return borne(defaults, bears);
}

function borne({ key, user }: Rows, bears: RequestIdentities): ActiveRow[] {
  const chosen: ActiveRow[] = [];
  if (key && bears.key) chosen.push(key);
  if (user && bears.user) chosen.push(user);
  return chosen;
}
