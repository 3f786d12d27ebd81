import type { AccessCondition } from "../../base/auth/principal.ts";
import { sealKwargs } from "../../../../host-kit/src/sealed-json.ts";
import { ANY_OWNER } from "../../../../host-kit/src/state-cipher.ts";
import { sealed } from "../../base/db/sealed-values.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import { contains } from "../../base/db/containment.ts";
import { buildJsonObject } from "../../base/db/json-object.ts";
import { pageTotal } from "../../base/db/page-total.ts";
import type { Page } from "../../base/http/pagination.ts";
import { permits } from "../custom-auth/conditions.ts";
import type { MultitaskStrategy } from "../runs/sql.ts";
import type { CronFilter, CronSearch } from "./schema.ts";

/** Columns of `crons c` by their names on the wire. */
const COLUMNS = {
  cron_id: "c.cron_id",
  assistant_id: "c.assistant_id",
  thread_id: "c.thread_id",
  schedule: "c.schedule",
  timezone: "c.timezone",
  end_time: "c.end_time",
  enabled: "c.enabled",
  on_run_completed: "c.on_run_completed",
  payload: "c.payload #- '{config,configurable,langgraph_auth_user}'",
  metadata: "c.metadata",
  user_id: "c.user_id",
  next_run_date: "c.next_run_date",
  created_at: "c.created_at",
  updated_at: "c.updated_at",
};
const SELECTABLE = { ...COLUMNS, now: "now()" };

export interface NewCron {
  cronId: string;
  assistantId: string;
  threadId: string | null;
  schedule: string;
  timezone: string | null;
  endTime: Date | null;
  enabled: boolean;
  onRunCompleted: "delete" | "keep";
  payload: Record<string, unknown>;
  metadata: Record<string, unknown>;
  userId: string | null;
  next: Date | null;
}

const sealPayload = (sql: Sql | Transaction, payload: object): string =>
  sealed(sql, JSON.stringify(payload), (cipher, text) => sealKwargs(cipher, text, ANY_OWNER));

const at = (time: Date | null) => time?.toISOString() ?? null;

/** @returns its JSON; undefined when the assistant or the thread no longer exists */
export async function insertCron(sql: Sql, cron: NewCron): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`
    insert into crons as c (cron_id, assistant_id, thread_id, schedule, timezone, end_time, enabled, on_run_completed,
                            payload, metadata, user_id, next_run_date)
    select ${cron.cronId}, a.assistant_id, ${cron.threadId}::uuid, ${cron.schedule}, ${cron.timezone},
           ${at(cron.endTime)}::timestamptz, ${String(cron.enabled)}::text::boolean, ${cron.onRunCompleted},
           ${sealPayload(sql, cron.payload)}::text::jsonb, ${JSON.stringify(cron.metadata)}::text::jsonb, ${cron.userId},
           ${at(cron.next)}::timestamptz
    from assistants a
    where a.assistant_id = ${cron.assistantId}
      and (${cron.threadId}::uuid is null or exists (select 1 from threads t where t.thread_id = ${cron.threadId}))
    returning cron_wire(c)::text as wire`;
  return row?.wire;
}

export async function findCron(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ wire: string }[]>`select cron_wire(c)::text as wire from crons c where cron_id = ${id}`;
  return row?.wire;
}

export interface CronRow {
  cron_id: string;
  assistant_id: string;
  thread_id: string | null;
  schedule: string;
  timezone: string | null;
  end_time: Date | null;
  enabled: boolean;
  on_run_completed: "delete" | "keep";
  payload: Record<string, unknown>;
  metadata: Record<string, unknown>;
  next_run_date: Date | null;
}

export async function lockCron(tx: Transaction, id: string): Promise<CronRow | undefined> {
  const [row] = await tx<CronRow[]>`
    select cron_id, assistant_id, thread_id, schedule, timezone, end_time, enabled, on_run_completed, payload, metadata,
           next_run_date
    from crons where cron_id = ${id} for update`;
  return row;
}

export async function updateCron(tx: Transaction, cron: CronRow): Promise<string> {
  const [row] = await tx<{ wire: string }[]>`
    update crons c
    set assistant_id = ${cron.assistant_id}, schedule = ${cron.schedule}, timezone = ${cron.timezone},
        end_time = ${at(cron.end_time)}::timestamptz, enabled = ${String(cron.enabled)}::text::boolean,
        on_run_completed = ${cron.on_run_completed}, payload = ${sealPayload(tx, cron.payload)}::text::jsonb,
        metadata = ${JSON.stringify(cron.metadata)}::text::jsonb,
        next_run_date = ${at(cron.next_run_date)}::timestamptz, updated_at = now()
    where c.cron_id = ${cron.cron_id}
    returning cron_wire(c)::text as wire`;
  return row!.wire;
}

export async function deleteCron(sql: Sql, id: string): Promise<boolean> {
  return (await sql`delete from crons where cron_id = ${id} returning 1`).length > 0;
}

type Conditions = readonly AccessCondition[];

const matching = (sql: Sql, filter: CronFilter, sees: Conditions) => sql`
  ${contains(sql, "c.metadata", filter.metadata)}
  and ${permits(sql, "c.metadata", sees)}
  and ${typeof filter.assistant_id === "string" ? sql`c.assistant_id = ${filter.assistant_id}` : sql`true`}
  and ${typeof filter.thread_id === "string" ? sql`c.thread_id = ${filter.thread_id}` : sql`true`}
  and ${typeof filter.enabled === "boolean" ? sql`c.enabled = ${String(filter.enabled)}::text::boolean` : sql`true`}`;

/** crons_by_creation serves the default order, crons_by_metadata, _by_assistant and _by_thread the filters. */
export async function searchCrons(sql: Sql, search: CronSearch, sees: Conditions): Promise<Page> {
  const where = matching(sql, search, sees);
  const selected = search.select && search.select.length > 0 ? search.select : Object.keys(COLUMNS);
  const isDescending = search.sort_order !== "asc";
  // where there are no nulls, as the indexes are ordered
  const nulls = ["next_run_date", "end_time", "thread_id"].includes(search.sort_by ?? "") ? "nulls last" : "";
  const order = sql`c.${sql(search.sort_by ?? "created_at")} ${sql.unsafe(`${isDescending ? "desc" : "asc"} ${nulls}`)},
                    c.cron_id ${sql.unsafe(isDescending ? "asc" : "desc")}`;
  const [row] = await sql<Page[]>`
    with page as (
      select ${buildJsonObject(sql, SELECTABLE, selected)} as item
      from crons c where ${where} order by ${order} limit ${search.limit} offset ${search.offset}
    ), found as (select count(*)::int as n, coalesce(json_agg(item), '[]')::text as items from page)
    select items, ${pageTotal(sql, sql`crons c where ${where}`, search)} as total from found`;
  return row!;
}

export async function countCrons(sql: Sql, filter: CronFilter, sees: Conditions): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from crons c where ${matching(sql, filter, sees)}`;
  return row!.n;
}

export interface DueCron extends Omit<CronRow, "next_run_date" | "enabled"> {
  due: Date;
  /** The same as text, because it is compared with the row's value, to the microsecond. */
  due_text: string;
  now: Date;
}

/** Due crons. Index crons_due. In random order, so that servers do not all start with the same one. */
export function selectDueCrons(sql: Sql, limit: number): Promise<DueCron[]> {
  return sql<DueCron[]>`
    select * from (
      select cron_id, assistant_id, thread_id, schedule, timezone, end_time, on_run_completed, payload, metadata,
             next_run_date as due, next_run_date::text as due_text, now() as now
      from crons where enabled and next_run_date <= now() order by next_run_date limit ${limit}
    ) due order by random()`;
}

/** The cron as it is due now, whatever its schedule says. */
export async function selectCronNow(sql: Sql, id: string): Promise<DueCron | undefined> {
  const [row] = await sql<DueCron[]>`
    select cron_id, assistant_id, thread_id, schedule, timezone, end_time, on_run_completed, payload, metadata,
           now() as due, now()::text as due_text, now() as now
    from crons where cron_id = ${id}`;
  return row;
}

/** Milliseconds until the next cron is due; null when none is. */
export async function selectNextDueCron(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    select extract(epoch from min(next_run_date) - clock_timestamp())::float8 * 1000 as ms from crons where enabled`;
  return row!.ms;
}

export interface Firing {
  cronId: string;
  /** Null: a run beside the schedule. */
  due: string | null;
  next: Date | null;
  start: boolean;
  skipWaiting: boolean;
  runId: string;
  threadId: string;
  assistantId: string;
  kwargs: string;
  metadata: string;
  strategy: MultitaskStrategy;
  temporary: boolean;
}

export type FiringOutcome =
  | "taken"
  | "passed"
  | "waiting"
  | "created"
  | "no_assistant"
  | "no_thread"
  | "busy"
  | "exists"
  | "locked";

export async function fireCron(sql: Sql, f: Firing): Promise<FiringOutcome> {
  const [row] = await sql<{ outcome: FiringOutcome }[]>`
    select fire_cron(${f.cronId}, ${f.due}::text::timestamptz, ${at(f.next)}::timestamptz, ${String(f.start)}::text::boolean,
      ${String(f.skipWaiting)}::text::boolean, ${f.runId}, ${f.threadId}, ${f.assistantId},
      ${sealed(sql, f.kwargs, (cipher, text) => sealKwargs(cipher, text, f.threadId))}::text::jsonb,
      ${f.metadata}::text::jsonb, ${f.strategy}, ${String(f.temporary)}::text::boolean) as outcome`;
  return row!.outcome;
}
