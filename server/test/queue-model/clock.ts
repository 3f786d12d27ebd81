/**
 * Time that passes only when a test says so. Functions of Postgres that are called without a schema are looked up along
 * `search_path`, so that a schema in front of `pg_catalog` replaces `now()` in every function and statement of the
 * database, and changes none of them.
 */
import { connect, type DatabaseAddress, type Sql } from "../../src/base/db/connect.ts";

/** Later than the wall clock, so that times from defaults of columns have passed. */
const START = "timestamptz '2100-01-01 00:00:00Z'";

/** Replaces the clock of all sessions that begin later. */
export async function installClock(database: DatabaseAddress): Promise<void> {
  const sql = connect(database, { max: 1 });
  const read = (name: string, volatility: string) =>
    `create or replace function clock.${name}() returns timestamptz language sql ${volatility} as 'select at from clock.time'`;
  await sql
    .unsafe(
      `create schema if not exists clock;
       create table if not exists clock.time (at timestamptz not null);
       ${read("now", "stable")}; ${read("statement_timestamp", "stable")}; ${read("clock_timestamp", "volatile")};
       do $$ begin
         execute format('alter database %I set search_path = clock, public, pg_catalog', current_database());
       end $$`,
    )
    .finally(() => sql.end());
}

/** Statements for the beginning of time. */
export const RESET_CLOCK = `delete from clock.time; insert into clock.time values (${START})`;

/** SQL for the seconds between the beginning and a time. */
export const secondsOf = (time: string): string => `extract(epoch from ${time} - ${START})::float8`;

export async function passTime(sql: Sql, seconds: number): Promise<void> {
  await sql`update clock.time set at = at + make_interval(secs => ${seconds})`;
}
