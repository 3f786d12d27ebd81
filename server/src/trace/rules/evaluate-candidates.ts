import { createHash } from "node:crypto";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, join, raw, render } from "../../base/clickhouse/fragment.ts";
import { uuid5 } from "../../base/ids.ts";
import { isInScope } from "../rule-candidates/rule-directory.ts";
import type { ProjectFacts } from "../rule-candidates/sql.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { conditionOn, fromPieces, fromRuns, type RunSelection } from "../runs/selection.ts";
import type { Candidate, NewMatch, ThreadActivity } from "./match-sql.ts";
import type { ReadRule } from "./read-rules.ts";

/** Conditions of this many rules are columns of one statement. */
const RULES_PER_STATEMENT = 50;
/** Longer than this a statement never takes; the batch is then repeated with fewer candidates. */
const SECONDS = 10;

/** Run that matches a rule, or root of a thread that a rule observes. */
interface Hit {
  id: string;
  project_id: string;
  start_time: string;
  trace_id: string;
  name: string | null;
  run_type: string | null;
  end_time: string;
  thread_id: string | null;
  is_root: boolean | 0 | 1;
  inserted_at: string | null;
  /** By rule of the statement. */
  hits: (boolean | 0 | 1)[];
}

export interface Decisions {
  matches: NewMatch[];
  threads: ThreadActivity[];
}

export interface Evaluation {
  clickhouse: ClickHouse;
  /** Loaded for the filters of the rules (runs/load-scope.ts). */
  scope: RunScope;
  candidates: readonly Candidate[];
  rules: readonly ReadRule[];
  projects: ReadonlyMap<string, ProjectFacts>;
  /** Runs that ended before are left alone, except by back-fills. */
  endedAfter: string;
}

/**
 * Evaluates the rules of a workspace on candidates. Rules that decide by the run alone share a statement that reads the
 * candidates by their keys; rules that decide by a whole trace share one that reads the candidates' traces, of which
 * any run may match now.
 */
export async function evaluateCandidates(evaluation: Evaluation): Promise<Decisions> {
  const decisions: Decisions = { matches: [], threads: [] };
  const { candidates, rules, projects } = evaluation;
  for (const wholeTrace of [false, true]) {
    const own = rules.filter((rule) => rule.interest.wholeTrace === wholeTrace);
    for (let start = 0; start < own.length; start += RULES_PER_STATEMENT) {
      const some = own.slice(start, start + RULES_PER_STATEMENT);
      const concerned = candidates.filter((candidate) => some.some((rule) => concerns(projects, rule, candidate)));
      if (concerned.length === 0) continue;
      const hits = await readHits(evaluation, some, concerned, wholeTrace);
      some.forEach((rule, index) => decide(evaluation, rule, { index, hits, concerned, wholeTrace }, decisions));
    }
  }
  return decisions;
}

const concerns = (projects: Evaluation["projects"], rule: ReadRule, candidate: Candidate): boolean => {
  if (candidate.rule_id === null ? !rule.row.is_enabled : candidate.rule_id !== rule.row.rule_id) return false;
  const project = projects.get(candidate.project_id);
  return project !== undefined && !project.is_internal && isInScope(rule.row, project);
};

/** Reads the ended runs that match one of the rules, and the roots in threads where a rule acts on threads. */
function readHits(
  { clickhouse, scope }: Evaluation,
  rules: readonly ReadRule[],
  candidates: readonly Candidate[],
  wholeTrace: boolean,
): Promise<Hit[]> {
  const distinct = (values: string[]) => [...new Set(values)];
  const projects = distinct(candidates.map((candidate) => candidate.project_id));
  const keys: RunSelection = wholeTrace
    ? { projects, traces: distinct(candidates.map((candidate) => candidate.trace_id)) }
    : {
        projects,
        ids: distinct(candidates.map((candidate) => candidate.run_id)),
        at: distinct(candidates.map((candidate) => candidate.start_time)),
      };
  const bounded = scope.withFeedbackOf(
    wholeTrace
      ? ch`f.run_id in (select r.id ${fromPieces(scope, keys)})`
      : ch`f.run_id in ${bind("Array(UUID)", keys.ids!)}`,
  );
  const conditions = rules.map((rule) => compileRule(bounded, rule, keys));
  const threads = rules.some((rule) => rule.row.group_by !== null);
  const statement = ch`
    select * from (
      select r.id as id, r.project_id as project_id, r.start_time as start_time, r.trace_id as trace_id, r.name as name,
        r.run_type as run_type, r.end_time as end_time, r.thread_id as thread_id, r.parent_run_id is null as is_root,
        r.inserted_at as inserted_at, [${join(conditions, ", ")}] as hits
      ${fromRuns(scope, keys)}
    ) where end_time is not null
      and (has(hits, true)${raw(threads ? " or (is_root and thread_id is not null)" : "")})`;
  return clickhouse.inBackgroundFor(scope.tenantId).rows<Hit>({
    name: wholeTrace ? "rules.match_traces" : "rules.match_runs",
    ...render(statement),
    settings: { max_execution_time: SECONDS },
  });
}

function compileRule(scope: RunScope, { filters, row }: ReadRule, { projects, traces }: RunSelection): Fragment {
  const { filter, trace_filter, tree_filter } = filters;
  const condition = conditionOn(scope, {
    projects,
    traces,
    filters: filter ? [filter] : [],
    trace_filter,
    tree_filter,
    // decisions are final, and what a child says in its root's place may be untrue when the root arrives
    arrived_roots: true,
    ...(row.group_by !== null && { is_root: true, has_thread: true }),
  });
  return ch`toBool(${condition})`;
}

/** Decides about the hits of a rule, the `index`-th of its statement. */
function decide(
  { scope: { tenantId }, projects, endedAfter }: Evaluation,
  { row, ...rule }: ReadRule,
  read: { index: number; hits: readonly Hit[]; concerned: readonly Candidate[]; wholeTrace: boolean },
  { matches, threads }: Decisions,
): void {
  const { wholeTrace } = read;
  const concerned = read.concerned.filter((candidate) => concerns(projects, { row, ...rule }, candidate));
  const written = new Set(
    concerned.flatMap(({ rule_id, run_id, trace_id }) => (rule_id === null ? (wholeTrace ? trace_id : run_id) : [])),
  );
  const ordered = new Set(concerned.flatMap(({ rule_id, run_id }) => (rule_id === null ? [] : run_id)));
  const activity = new Map<string, ThreadActivity>();
  for (const hit of read.hits) {
    const project = projects.get(hit.project_id);
    if (!project || !isInScope(row, project)) continue;
    const isNew =
      written.has(wholeTrace ? hit.trace_id : hit.id) &&
      hit.end_time >= endedAfter &&
      (hit.inserted_at ?? "") >= row.active_from_text;
    if (!isNew && !ordered.has(hit.id)) continue;
    const matched = Boolean(hit.hits[read.index]);
    const { id, project_id, trace_id, start_time, thread_id, name: run_name, run_type, end_time } = hit;
    const run = { project_id, trace_id, run_name, run_type, end_time, is_backfill: !isNew };
    if (row.group_by === null) {
      if (!matched) continue;
      const key = { tenant_id: tenantId, rule_id: row.rule_id, run_id: id, start_time, thread_id };
      matches.push(decideSampling({ ...run, ...key }, row.sampling_rate, trace_id));
    } else if (Boolean(hit.is_root) && thread_id !== null) {
      const known = activity.get(project_id + thread_id);
      const isLast = !known || [start_time, id].join() > [known.last_start_time, known.last_run_id].join();
      const last = isLast
        ? { ...run, tenant_id: tenantId, rule_id: row.rule_id, last_run_id: id, last_start_time: start_time }
        : known;
      activity.set(project_id + thread_id, {
        ...last,
        thread_id,
        matched: matched || (known?.matched ?? false),
        idle_seconds: row.idle_seconds,
      });
    }
  }
  threads.push(...activity.values());
}

type Undecided = Omit<NewMatch, "match_id" | "status" | "reason">;

/** Decides by a hash of the rule and the trace or thread whether the sampling rate includes it. */
export function decideSampling(match: Undecided, rate: number, unit: string): NewMatch {
  const isSampled = rate >= 1 || hashShare(match.rule_id, unit) < rate;
  return {
    ...match,
    match_id: matchId(match.rule_id, match.run_id),
    status: isSampled ? "pending" : "skipped",
    reason: isSampled ? null : "not_sampled",
  };
}

export const matchId = (ruleId: string, runId: string): string => uuid5(runId, ruleId);

/** Returns a number in [0, 1) that depends on both texts only. */
export function hashShare(ruleId: string, unit: string): number {
  return createHash("sha256").update(`${ruleId} ${unit}`).digest().readUIntBE(0, 6) / 2 ** 48;
}
