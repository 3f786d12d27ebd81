import type { Sql, Transaction } from "../../base/db/connect.ts";
import { PLAN_WITHOUT_EXPORTS } from "../export-destinations/export-plan.ts";

/** Window n is `[start + n * interval, start + (n + 1) * interval)` and is exported ten minutes after its end. */
const DELAY_MINUTES = 10;

/**
 * Pending or running windows per schedule. Otherwise a schedule that starts a century ago would fill the queue ahead of
 * all other exports, and with exports that outlive its cancellation.
 */
const MOST_OPEN = 10;

export interface Schedule {
  id: string;
  next_window: number;
}

/**
 * Lists schedules whose next window is due, the longest due first. Schedules whose plan no longer includes exports
 * wait, and catch up once it does again. Schedules of deleted workspaces are never due.
 */
export function dueSchedules(sql: Sql, now: Date, limit: number): Promise<Schedule[]> {
  return sql<Schedule[]>`
    select id, next_window from bulk_exports s
    where interval_hours is not null and status = 'RUNNING'
      and start_time + make_interval(hours => interval_hours * (next_window + 1), mins => ${DELAY_MINUTES})
        <= ${now.toISOString()}::text::timestamptz
      and ${MOST_OPEN} > (select count(*) from bulk_exports w
        where w.source_bulk_export_id = s.id and w.status in ('CREATED', 'RUNNING'))
      and not exists (select from workspaces t where t.id = s.tenant_id
        and (t.plan = ${PLAN_WITHOUT_EXPORTS} or t.deleted_at is not null))
    order by start_time + make_interval(hours => interval_hours * (next_window + 1)) limit ${limit}`;
}

/**
 * Creates the window's export and advances the schedule, atomically. Does nothing if the schedule was cancelled or
 * another process was first. Windows depend on the schedule's start only, so clock changes cannot move them.
 *
 * @returns the new export's id
 */
export async function spawnWindow(tx: Transaction, { id, next_window: n }: Schedule): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    with source as (
      update bulk_exports set next_window = next_window + 1
      where id = ${id} and next_window = ${n} and status = 'RUNNING' and interval_hours is not null
      returning *
    )
    insert into bulk_exports (id, tenant_id, destination_id, session_id, start_time, end_time, filter, format_version,
      compression, export_fields, status, source_bulk_export_id, window_n)
    select gen_random_uuid(), tenant_id, destination_id, session_id,
      start_time + make_interval(hours => interval_hours * ${n}::int),
      start_time + make_interval(hours => interval_hours * (${n}::int + 1)),
      filter, format_version, compression, export_fields, 'CREATED', id, ${n}::int
    from source
    returning id`;
  return row?.id;
}
