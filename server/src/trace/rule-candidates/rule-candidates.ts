import { Counter, type Registry } from "prom-client";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import type { Sql } from "../../base/db/connect.ts";
import { findPieces, findRunKeys, type RunRow, type StoredPieces } from "../run-rows/clickhouse.ts";
import { type Doubt, findConcernedRules, mergeChanges, type RunChange } from "./concerned-rules.ts";
import { RuleDirectory } from "./rule-directory.ts";
import type { WatchedRule } from "./rule-filters.ts";
import { type CandidateRow, insertCandidates, selectRunsWithFeedback } from "./sql.ts";

/** Statements of this many rows. */
const BATCH = 5000;

/**
 * Records the runs that rules have to look at, where runs and feedback are written: before the write is acknowledged,
 * and after it is visible to queries. The matcher (trace/rules) takes them from there. So each state of a run that a
 * caller knows to be stored, and that may match, has been, or will be, seen by the rules.
 */
export class RuleCandidates {
  readonly directory: RuleDirectory;
  readonly #sql: Sql;
  readonly #clickhouse: ClickHouse;
  readonly #judged: Counter;
  readonly #recorded: Counter;
  #onRecorded: () => void = () => {};

  constructor({ sql, clickhouse, registry }: { sql: Sql; clickhouse: ClickHouse; registry: Registry }) {
    this.#sql = sql;
    this.#clickhouse = clickhouse;
    this.directory = new RuleDirectory(sql);
    const registers = [registry];
    this.#judged = new Counter({
      name: "heddle_rule_runs_total",
      help: "Written runs of projects with rules.",
      registers,
    });
    this.#recorded = new Counter({
      name: "heddle_rule_candidates_total",
      help: "Runs recorded for the evaluation of rules.",
      registers,
    });
  }

  /** Sets the function that is called after candidates were recorded in this process. */
  set onRecorded(wake: () => void) {
    this.#onRecorded = wake;
  }

  /** Records those of the stored rows that rules of their projects have to look at. */
  async record(changes: readonly RunChange[]): Promise<void> {
    const byProject = new Map<string, Map<string, RunChange[]>>();
    for (const change of changes) {
      const { tenant_id, project_id } = change.row;
      const projects = byProject.get(tenant_id) ?? new Map<string, RunChange[]>();
      byProject.set(tenant_id, projects);
      const own = projects.get(project_id);
      if (own) own.push(change);
      else projects.set(project_id, [change]);
    }
    if (byProject.size === 0) return;
    const wanted = new Map(Array.from(byProject, ([tenantId, projects]) => [tenantId, new Set(projects.keys())]));
    const found: CandidateRow[] = [];
    for (const [tenantId, projects] of await this.directory.find(wanted)) {
      for (const [projectId, rules] of projects) {
        found.push(...(await this.#findCandidates(tenantId, byProject.get(tenantId)!.get(projectId)!, rules)));
      }
    }
    await this.#insert(found);
  }

  async #findCandidates(
    tenantId: string,
    changes: readonly RunChange[],
    watched: readonly WatchedRule[],
  ): Promise<CandidateRow[]> {
    const runs = mergeChanges(changes);
    this.#judged.inc(runs.length);
    const { rules, doubts } = findConcernedRules(runs, watched, !this.#clickhouse.embedded);
    for (const { change, ruleId } of await this.#confirm(tenantId, doubts)) {
      const known = rules.get(change);
      if (known) known.add(ruleId);
      else rules.set(change, new Set([ruleId]));
    }
    const isReplicated = this.#clickhouse.cluster !== "";
    return Array.from(rules, ([{ row }, ids]) => {
      const { tenant_id, project_id, id: run_id, trace_id, start_time } = row;
      const written_at = isReplicated ? row.updated_at : undefined;
      return { tenant_id, project_id, run_id, trace_id, start_time, rule_ids: [...ids], written_at };
    });
  }

  /**
   * Looks up what the pre-filter assumed. The runs are visible to queries by now. So a caller who gives feedback on a run,
   * or updates it, and is not found here, finds the run, and records it (feedback/feedback-mirror.ts, ingest).
   */
  async #confirm(tenantId: string, doubts: readonly Doubt[]): Promise<readonly Doubt[]> {
    if (doubts.length === 0) return [];
    const runs = new Map(doubts.map(({ change: { row } }) => [row.id, row]));
    const [rated, pieces] = await Promise.all([
      selectRunsWithFeedback(this.#sql, tenantId, [...runs.keys()]),
      this.#clickhouse.embedded
        ? new Map<string, StoredPieces>()
        : findPieces(this.#clickhouse, tenantId, [...runs.values()]),
    ]);
    return doubts.filter(({ change: { row } }) => rated.has(row.id) || isOfOthers(row, pieces.get(row.id)));
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
      const watched = (await this.directory.find(new Map([[tenant_id, projects]]))).get(tenant_id);
      for (const { id: run_id, project_id, trace_id, start_time } of keys) {
        const rules = (watched?.get(project_id) ?? []).filter((rule) => rule.feedback);
        if (rules.length === 0) continue;
        const rule_ids = rules.map((rule) => rule.rule_id);
        found.push({ tenant_id, project_id, run_id, trace_id, start_time, rule_ids });
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
    if (rows.length === 0) return;
    for (let start = 0; start < rows.length; start += BATCH) {
      await insertCandidates(this.#sql, rows.slice(start, start + BATCH));
    }
    this.noteRecorded(rows.length);
  }
}

/** Whether more is stored of a run than its first row. Not sure when pieces were merged; a create is never a patch. */
function isOfOthers(row: RunRow, stored: StoredPieces | undefined): boolean {
  if (!stored) return false;
  const { bits, count, ended, first, last } = stored;
  if (bits > 0 || count > 1 || (Boolean(ended) && row.end_time === undefined)) return true;
  return first !== row.updated_at || last !== row.updated_at;
}
