/**
 * Copies the runs of finished hours to `run_facts`, merged and with the sums of their traces (migration 0020), and lists
 * the hours of runs that were stored before there were copies. One server at a time, for economy only: a build becomes
 * the current one of its hour if no write was announced since it began (run-facts/sql.ts), from any process, and rows
 * are deleted only of builds that cannot become current any more.
 */
import { type Fragment, bind, ch, join, raw, render } from "../../base/clickhouse/fragment.ts";
import { alone } from "../../base/db/alone.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { TraceDeps } from "../deps.ts";
import { IS_HEAD } from "../run-rows/clickhouse.ts";
import { fromMicros } from "../run-rows/times.ts";
import { QUIET_SECONDS } from "../run-facts/hour-marks.ts";
import * as rows from "../run-facts/sql.ts";
import { HOUR } from "../runs/delete-clickhouse.ts";
import { RunScope } from "../runs/run-scope.ts";
import { fromPieces, fromRuns } from "../runs/selection.ts";
import { earliestRun, SUMMED, TRACE_SUMS } from "../runs/trace-sums.ts";

type Deps = Pick<TraceDeps, "sql" | "clickhouse" | "log">;

const EVERY_MS = 15_000;
/** Of the time that a batch took, so that a back-fill leaves the engine to others. */
const PAUSES = 1;
const MAX_HOURS = 48;
/** Pieces of runs copied by one statement, unless a single hour has more. */
const MAX_PIECES = 200_000;
const LIST_PAGE = 50_000;
const HOUR_MS = 3_600_000;
/** Advisory lock; unique to this purpose. */
const LOCK = 7_236_543;
/** Characters of an error, of which statistics read the kind. */
const MAX_ERROR = 128;
const SETTINGS = {
  max_insert_block_size: "100000",
  max_threads: 1,
  max_insert_threads: "1",
  use_skip_indexes: 0,
} as const;

const COPIED = [
  ...["start_time", "id", "trace_id", "parent_run_id", "provisional_root", "end_time", "status", "tags", "metadata"],
  ...["thread_id", "reference_example_id", "first_token_time", "trace_tier", "repeats_usage", ...SUMMED],
];

export class FactBuilder {
  readonly #deps: Deps;
  readonly #poller: Poller;
  #isListed = false;
  #stopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    const failing = "could not copy the runs of finished hours; will retry";
    this.#poller = new Poller({ pass: () => this.#pass(), everyMs: EVERY_MS, log: deps.log, failing });
  }

  start(): void {
    this.#poller.start(EVERY_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller.stop();
  }

  async #pass(): Promise<void> {
    // without queries there is no hurry, and an engine that sleeps has no new runs
    if (this.#deps.clickhouse.isAsleep) return;
    await alone(this.#deps.sql, LOCK, () => this.build());
  }

  /** Copies all hours to which no write was announced for `quietSeconds`. */
  async build(quietSeconds = QUIET_SECONDS): Promise<void> {
    const { sql } = this.#deps;
    this.#isListed ||= await rows.areHoursListed(sql);
    if (!this.#isListed) await this.#list();
    while (!this.#stopped) {
      const startedAt = performance.now();
      const open = await rows.listOpenHours(sql, quietSeconds, MAX_HOURS);
      if (open.length === 0) return;
      await this.#copy(open);
      await new Promise((resolve) => setTimeout(resolve, PAUSES * (performance.now() - startedAt)));
    }
  }

  async #list(): Promise<void> {
    const { sql, clickhouse } = this.#deps;
    const found = await clickhouse.rows<rows.Hour>({
      name: "run_facts.list",
      query: `select distinct r.tenant_id as tenant_id, r.project_id as project_id, toInt32(${HOUR}) as hour from runs as r`,
    });
    for (let i = 0; i < found.length; i += LIST_PAGE) await rows.addHours(sql, found.slice(i, i + LIST_PAGE));
    await rows.noteHoursListed(sql);
    this.#isListed = true;
  }

  async #copy(listed: rows.OpenHour[]): Promise<void> {
    const { sql } = this.#deps;
    const { tenant_id, project_id } = listed[0]!;
    const scope = RunScope.ofTenant(tenant_id);
    const open = await this.#deleteRows(scope, project_id, listed);
    if (open.length === 0) return;
    const counts = await this.#count(scope, project_id, open);
    const empty = open.filter(({ hour }) => !counts.has(hour));
    if (empty.length > 0) await rows.deleteEmptyHours(sql, empty);
    let batch: rows.OpenHour[] = [];
    let pieces = 0;
    const flush = async () => {
      if (batch.length > 0 && !this.#stopped) await this.#buildHours(scope, project_id, batch);
      batch = [];
      pieces = 0;
    };
    for (const hour of open) {
      const count = counts.get(hour.hour);
      if (count === undefined) continue;
      if (pieces + count > MAX_PIECES) await flush();
      batch.push(hour);
      pieces += count;
    }
    await flush();
  }

  async #count(scope: RunScope, project: string, hours: readonly rows.Hour[]): Promise<Map<number, number>> {
    const found = await this.#deps.clickhouse.rows<{ hour: number; n: string | number }>({
      name: "run_facts.count",
      ...render(ch`select toInt32(${raw(HOUR)}) as hour, count() as n
        ${fromPieces(scope, { projects: [project], ranges: hours.map(toRange) })} group by hour`),
    });
    return new Map(found.map(({ hour, n }) => [hour, Number(n)]));
  }

  /**
   * Deletes rows of earlier builds. They have no effect, but take room, and may be of runs that were deleted.
   * @returns the hours that are still open
   */
  async #deleteRows(scope: RunScope, project: string, listed: readonly rows.OpenHour[]): Promise<rows.OpenHour[]> {
    const written = listed.filter(({ has_rows }) => has_rows);
    if (written.length === 0) return [...listed];
    const { sql, clickhouse } = this.#deps;
    const { hours, below } = await rows.voidBuilds(sql, written);
    const numbers = hours.map(({ hour }) => hour);
    if (numbers.length > 0) {
      await clickhouse.command({
        name: "run_facts.delete",
        ...render(ch`delete from ${raw(clickhouse.mutable("run_facts"))}
          where tenant_id = ${bind("UUID", scope.tenantId)} and project_id = ${bind("UUID", project)}
            and intDiv(toUnixTimestamp64Second(start_time), 3600) in ${bind("Array(Int64)", numbers)}
            and build < ${bind("UInt64", below)}`),
      });
    }
    return [...listed.filter(({ has_rows }) => !has_rows), ...hours].toSorted((a, b) => a.hour - b.hour);
  }

  async #buildHours(scope: RunScope, project: string, hours: rows.OpenHour[]): Promise<void> {
    const { sql, clickhouse } = this.#deps;
    const builds = await rows.beginBuilds(sql, hours);
    await clickhouse.command({
      name: "run_facts.build",
      ...render(insertFacts(scope, project, hours, builds)),
      settings: SETTINGS,
    });
    await rows.completeBuilds(sql, hours, builds);
  }
}

const toRange = ({ hour }: Pick<rows.Hour, "hour">) => ({
  from: fromMicros(hour * HOUR_MS * 1000)!,
  to: fromMicros((hour + 1) * HOUR_MS * 1000)!,
});

function insertFacts(
  scope: RunScope,
  project: string,
  hours: readonly rows.Hour[],
  builds: readonly number[],
): Fragment {
  const projects = [project];
  const ranges = hours.map(toRange);
  const sums = SUMMED.map((name) => `trace_${name}`);
  const names = ["tenant_id", "project_id", "is_head", "run_type", "name", "error", "build", ...COPIED, ...sums];
  const build = ch`transform(${raw(HOUR)}, ${bind(
    "Array(Int64)",
    hours.map(({ hour }) => hour),
  )},
    ${bind("Array(UInt64)", builds)}, toUInt64(0))`;
  const columns = [
    raw(
      `r.tenant_id as tenant_id, r.project_id as project_id, ${IS_HEAD} as is_head, ifNull(r.run_type, '') as run_type`,
    ),
    raw(`ifNull(r.name, '') as name, leftUTF8(r.error, ${MAX_ERROR}) as error`),
    ch`${build} as build`,
    ...COPIED.map((name) => raw(`r.${name} as ${name}`)),
  ];
  // a run of another hour may be of a trace of these
  const inTraces = ch`r.trace_id in (select r.trace_id ${fromPieces(scope, { projects, ranges })})`;
  return ch`insert into run_facts (${raw(names.join(", "))})
    select ${raw(names.map((name) => (sums.includes(name) ? `if(own.is_head, sums.${name}, null)` : `own.${name}`)).join(", "))}
    from (select ${join(columns, ", ")} ${fromRuns(scope, { projects, ranges })}) as own
    left join (
      select r.trace_id as trace, ${raw(TRACE_SUMS)}
      ${fromRuns(scope, { projects, since: earliestRun(ranges[0]!.from) }, [inTraces])} group by r.trace_id
    ) as sums on sums.trace = own.trace_id`;
}
