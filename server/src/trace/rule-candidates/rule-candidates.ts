import { Counter, type Registry } from "prom-client";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { findRunKeys, type RunRow } from "../run-rows/clickhouse.ts";
import { RuleDirectory } from "./rule-directory.ts";
import { type CandidateRow, insertCandidates } from "./sql.ts";

/** Statements of this many rows. */
const BATCH = 5000;

/**
 * Records the runs that rules have to look at, where runs and feedback are written: before the write is acknowledged,
 * and after it is visible to queries. The matcher (trace/rules) takes them from there. So each state of a run that a
 * caller knows to be stored has been, or will be, seen by the rules.
 */
export class RuleCandidates {
  readonly directory: RuleDirectory;
  readonly #sql: Sql;
  readonly #recorded: Counter;
  #onRecorded: () => void = () => {};

  constructor({ sql, registry }: { sql: Sql; registry: Registry }) {
    this.#sql = sql;
    this.directory = new RuleDirectory(sql);
    this.#recorded = new Counter({
      name: "heddle_rule_candidates_total",
      help: "Runs recorded for the evaluation of rules.",
      registers: [registry],
    });
  }

  /** Sets the function that is called after candidates were recorded in this process. */
  set onRecorded(wake: () => void) {
    this.#onRecorded = wake;
  }

  /** Records those of the stored rows that rules of their projects have to look at. */
  async record(rows: readonly RunRow[]): Promise<void> {
    if (rows.length === 0) return;
    const wanted = new Map<string, Set<string>>();
    for (const { tenant_id, project_id } of rows) {
      const projects = wanted.get(tenant_id);
      if (projects) projects.add(project_id);
      else wanted.set(tenant_id, new Set([project_id]));
    }
    const interests = await this.directory.find(wanted);
    if (interests.size === 0) return;
    const found = new Map<string, CandidateRow>();
    for (const row of rows) {
      const interest = interests.get(row.tenant_id)?.get(row.project_id);
      if (!interest || (!interest.everyRun && isChild(row))) continue;
      const { tenant_id, project_id, id: run_id, trace_id, start_time } = row;
      found.set(tenant_id + run_id, { tenant_id, project_id, run_id, trace_id, start_time });
    }
    await this.#insert([...found.values()]);
  }

  /** Finds the runs that rules have to look at after feedback on them has changed. */
  async ofFeedback(
    clickhouse: ClickHouse,
    changes: readonly { tenant_id: string; run_id: string | null }[],
  ): Promise<CandidateRow[]> {
    const found: CandidateRow[] = [];
    for (const tenant_id of new Set(changes.map((change) => change.tenant_id))) {
      if (!(await this.directory.readsFeedback(tenant_id))) continue;
      const runs = changes.flatMap((change) => (change.tenant_id === tenant_id ? (change.run_id ?? []) : []));
      // a run that is not known yet is recorded when it arrives
      const keys = (await findRunKeys(clickhouse, tenant_id, [...new Set(runs)])).filter((key) => !key.deleted);
      const projects = new Set(keys.map((key) => key.project_id));
      const interests = (await this.directory.find(new Map([[tenant_id, projects]]))).get(tenant_id);
      for (const { id: run_id, project_id, trace_id, start_time } of keys) {
        if (interests?.get(project_id)?.feedback) {
          found.push({ tenant_id, project_id, run_id, trace_id, start_time });
        }
      }
    }
    return found;
  }

  /** Call when candidates were committed otherwise. */
  noteRecorded(count: number): void {
    if (count === 0) return;
    this.#recorded.inc(count);
    this.#onRecorded();
  }

  async #insert(rows: readonly CandidateRow[]): Promise<void> {
    for (let start = 0; start < rows.length; start += BATCH) {
      await insertCandidates(this.#sql, rows.slice(start, start + BATCH));
    }
    this.noteRecorded(rows.length);
  }
}

/** Whether the row shows that its run is no root. A patch may name neither parent nor place. */
const isChild = ({ parent_run_id, dotted_order }: RunRow): boolean =>
  parent_run_id !== undefined || (dotted_order?.includes(".") ?? false);
