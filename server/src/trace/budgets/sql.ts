import type { Sql, Transaction } from "../../base/db/connect.ts";

/** A calendar month or day of a time zone. Times are milliseconds since 1970. */
export interface Period {
  /** `YYYY-MM`, of a day `YYYY-MM-DD`. */
  name: string;
  since: number;
  until: number;
}

/** Days and months end by the tables of this database, which knows each change of a zone's offset. */
const selectPeriods = (
  sql: Sql | Transaction,
  unit: "day" | "month",
  zone: string,
  { first, last }: { first: string; last: string },
): Promise<Period[]> => sql<Period[]>`
  select to_char(d, ${unit === "day" ? "YYYY-MM-DD" : "YYYY-MM"}) as name,
    (extract(epoch from d at time zone ${zone}) * 1000)::float8 as since,
    (extract(epoch from (d + ${`1 ${unit}`}::text::interval) at time zone ${zone}) * 1000)::float8 as until
  from generate_series(${first}::text::timestamp, ${last}::text::timestamp, ${`1 ${unit}`}::text::interval) d order by d`;

/** The month of a time, and `before` months before it. */
export async function findMonths(
  sql: Sql | Transaction,
  zone: string,
  now: Date,
  before: number,
): Promise<[Period, ...Period[]]> {
  const [row] = await sql<{ first: string; last: string }[]>`
    select (m - make_interval(months => ${before}))::text as first, m::text as last
    from (select date_trunc('month', ${now.toISOString()}::text::timestamptz at time zone ${zone}) as m) as n`;
  return (await selectPeriods(sql, "month", zone, row!)) as [Period, ...Period[]];
}

/** A month by its name. */
export async function findMonth(sql: Sql | Transaction, zone: string, name: string): Promise<Period> {
  const first = `${name}-01`;
  return (await selectPeriods(sql, "month", zone, { first, last: first }))[0]!;
}

/** The days from that of a time until that of another one. */
export async function listDays(sql: Sql | Transaction, zone: string, since: number, now: Date): Promise<Period[]> {
  const [row] = await sql<{ first: string; last: string }[]>`
    select date_trunc('day', a at time zone ${zone})::text as first, date_trunc('day', n at time zone ${zone})::text as last
    from (select ${new Date(since).toISOString()}::text::timestamptz as a, ${now.toISOString()}::text::timestamptz as n) t`;
  return selectPeriods(sql, "day", zone, row!);
}

/** Returns when each day was read. */
export async function selectReadDays(sql: Sql, ruleId: string, first: string): Promise<Map<string, Date>> {
  const rows = await sql<{ day: string; read_at: Date }[]>`
    select day::text as day, read_at from budget_days
    where rule_id = ${ruleId} and group_name = '' and day >= ${first}::text::date`;
  return new Map(rows.map(({ day, read_at }) => [day, read_at]));
}

export interface DaySpend {
  day: string;
  group_name: string;
  spent: number;
}

/** Replaces the spend of days. */
export async function replaceDays(
  tx: Transaction,
  ruleId: string,
  days: readonly string[],
  spends: readonly DaySpend[],
  readAt: Date,
): Promise<void> {
  await tx`delete from budget_days where rule_id = ${ruleId} and day = any(${days as string[]}::text[]::date[])`;
  await tx`
    insert into budget_days (rule_id, day, group_name, spent, read_at)
    select ${ruleId}, day, group_name, spent, ${readAt.toISOString()}::text::timestamptz
    from jsonb_to_recordset(${JSON.stringify(spends)}::text::jsonb)
      as n (day date, group_name text, spent double precision)`;
}

export async function deleteDays(tx: Transaction, ruleId: string): Promise<void> {
  await tx`delete from budget_days where rule_id = ${ruleId}`;
}

export async function setMeasured(tx: Transaction, ruleId: string, at: Date): Promise<void> {
  await tx`update alert_rules set measured_at = ${at.toISOString()}::text::timestamptz where rule_id = ${ruleId}`;
}

/** Spend of a group in a month, and in the days that the forecast extrapolates. */
export interface GroupSpend {
  group_name: string;
  spent: number;
  recent: number;
}

export interface SpendFilter {
  month: string;
  /** First of the recent days. */
  recentSince: string;
  groups: "total" | "users";
  /** Part of a user's name. */
  search?: string | undefined;
  limit: number;
  offset: number;
}

/** Lists what groups have spent, those with the highest spend first. */
export const listSpend = (
  sql: Sql | Transaction,
  ruleId: string,
  { month, recentSince, groups, search, limit, offset }: SpendFilter,
): Promise<GroupSpend[]> => sql<GroupSpend[]>`
  select group_name,
    coalesce(sum(spent) filter (where to_char(day, 'YYYY-MM') = ${month}), 0)::float8 as spent,
    coalesce(sum(spent) filter (where day >= ${recentSince}::text::date), 0)::float8 as recent
  from budget_days
  where rule_id = ${ruleId} and ${groups === "total" ? sql`group_name = ''` : sql`group_name <> ''`}
    and day >= least(${`${month}-01`}::text::date, ${recentSince}::text::date)
    and day < ${`${month}-01`}::text::date + interval '1 month'
    and ${search === undefined ? sql`true` : sql`strpos(lower(group_name), lower(${search})) > 0`}
  group by group_name order by spent desc, recent desc, group_name limit ${limit} offset ${offset}`;

/** Spend of the whole by day. */
export const listDaySpend = (sql: Sql, ruleId: string, month: string): Promise<DaySpend[]> => sql<DaySpend[]>`
  select day::text as day, group_name, spent from budget_days
  where rule_id = ${ruleId} and group_name = '' and to_char(day, 'YYYY-MM') = ${month} order by day`;

/** First day since `since` on which anything was spent. */
export async function findFirstSpend(
  sql: Sql | Transaction,
  ruleId: string,
  since: string,
): Promise<string | undefined> {
  const [row] = await sql<{ day: string | null }[]>`
    select min(day)::text as day from budget_days
    where rule_id = ${ruleId} and group_name = '' and day >= ${since}::text::date and spent > 0`;
  return row?.day ?? undefined;
}

/** Incident of a budget that has not ended. */
export interface OpenNotice {
  incident_id: string;
  group_name: string;
  period: string;
  level: string;
  worst: number | null;
  last_value: number | null;
  told: boolean;
}

export const selectOpenNotices = (tx: Transaction, ruleId: string): Promise<OpenNotice[]> => tx<OpenNotice[]>`
  select incident_id, group_name, period, level, worst, last_value, told_at is not null as told
  from alert_incidents where rule_id = ${ruleId} and status = 'firing'`;

/** @returns those of the ids that belong to an incident, also one that has ended */
export async function selectKnownNotices(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ incident_id: string }[]>`
    select incident_id from alert_incidents where incident_id = any(${ids as string[]}::uuid[])`;
  return new Set(rows.map(({ incident_id }) => incident_id));
}
