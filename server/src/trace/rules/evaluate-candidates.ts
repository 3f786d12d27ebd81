import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { bind, ch, type Fragment, join, raw, render } from "../../base/clickhouse/fragment.ts";
import { uuid5 } from "../../base/ids.ts";
import { storableText } from "../../base/well-formed.ts";
import { isInScope } from "../rule-candidates/rule-directory.ts";
import { isSampled } from "../rule-candidates/sampling.ts";
import { LACKS_CREATE } from "../ingest/patched-fields.ts";
import type { ProjectFacts } from "../rule-candidates/sql.ts";
import type { RunScope } from "../runs/run-scope.ts";
import { conditionOn, fromPieces, fromRuns, type RunSelection } from "../runs/selection.ts";
import type { Candidate, NewMatch, ThreadActivity } from "./match-sql.ts";
import { type ReadRule, ruleConditions } from "./read-rules.ts";

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
  end_time: string | null;
  updated_at: string;
  thread_id: string | null;
  is_root: boolean | 0 | 1;
  inserted_at: string | null;
  lacks_create: boolean | 0 | 1;
  /** By rule of the statement. */
  hits: (boolean | 0 | 1)[];
}

type EndedHit = Hit & { end_time: string };

export interface Decisions {
  matches: NewMatch[];
  threads: ThreadActivity[];
  /** Runs of candidates that wait: for a row that the replica lacks, or for a create that an update has overtaken. */
  awaited: Set<string>;
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
  const decisions: Decisions = { matches: [], threads: [], awaited: new Set() };
  const { candidates, rules, projects } = evaluation;
  for (const wholeTrace of [false, true]) {
    const own = rules.filter(
      (rule) =>
        rule.interest.wholeTrace === wholeTrace && candidates.some((candidate) => concerns(projects, rule, candidate)),
    );
    for (let start = 0; start < own.length; start += RULES_PER_STATEMENT) {
      const some = own.slice(start, start + RULES_PER_STATEMENT);
      const concerned = candidates.filter((candidate) => some.some((rule) => concerns(projects, rule, candidate)));
      const read = await readHits(evaluation, some, concerned, wholeTrace);
      const unit = ({ id, trace_id }: Pick<Hit, "id" | "trace_id">) => (wholeTrace ? trace_id : id);
      const fresh = new Map<string, string[]>();
      for (const { run_id, trace_id, is_fresh } of concerned) {
        const key = unit({ id: run_id, trace_id });
        if (is_fresh) fresh.set(key, [...(fresh.get(key) ?? []), run_id]);
      }
      const newest = new Map(read.map(({ id, updated_at }) => [id, updated_at]));
      for (const { run_id, awaited } of concerned) {
        if (awaited !== null && (newest.get(run_id) ?? "") < awaited) decisions.awaited.add(run_id);
      }
      const ended = read.filter((hit): hit is EndedHit => hit.end_time !== null);
      // what an update says alone is not yet the run
      const isEarly = (hit: Hit) => Boolean(hit.lacks_create) && fresh.has(unit(hit));
      for (const hit of ended) if (isEarly(hit)) for (const id of fresh.get(unit(hit))!) decisions.awaited.add(id);
      const hits = ended.filter((hit) => !isEarly(hit));
      some.forEach((rule, index) => decide(evaluation, rule, { index, hits, concerned, wholeTrace }, decisions));
    }
  }
  return decisions;
}

const concerns = (projects: Evaluation["projects"], rule: ReadRule, candidate: Candidate): boolean => {
  const { rule_id, is_enabled } = rule.row;
  if (candidate.rule_id === null ? !is_enabled : candidate.rule_id !== rule_id) return false;
  if (candidate.rule_ids !== null && !candidate.rule_ids.includes(rule_id)) return false;
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
  const awaited = distinct(candidates.flatMap(({ run_id, awaited }) => (awaited === null ? [] : run_id)));
  const statement = ch`
    select * from (
      select r.id as id, r.project_id as project_id, r.start_time as start_time, r.trace_id as trace_id, r.name as name,
        r.run_type as run_type, r.end_time as end_time, r.thread_id as thread_id, r.parent_run_id is null as is_root,
        r.inserted_at as inserted_at, r.updated_at as updated_at,
        ${raw(LACKS_CREATE)} as lacks_create, [${join(conditions, ", ")}] as hits
      ${fromRuns(scope, keys)}
    ) where (end_time is not null
      and (has(hits, true)${raw(threads ? " or (is_root and thread_id is not null)" : "")}))
      ${awaited.length > 0 ? ch`or id in ${bind("Array(UUID)", awaited)}` : raw("")}`;
  return clickhouse.inBackgroundFor(scope.tenantId).rows<Hit>({
    name: wholeTrace ? "rules.match_traces" : "rules.match_runs",
    ...render(statement),
    settings: { max_execution_time: SECONDS, ...(clickhouse.cluster !== "" && sameReplica()) },
  });
}

/**
 * Settings by which a statement and its subqueries read one replica of each shard, another one each time: what is true
 * of the run's row is true of all that the condition reads.
 */
const sameReplica = () => ({
  prefer_localhost_replica: 0 as const,
  load_balancing: "first_or_random" as const,
  load_balancing_first_offset: String(Math.floor(Math.random() * 1000)),
});

function compileRule(scope: RunScope, { filters, row }: ReadRule, { projects, traces }: RunSelection): Fragment {
  const condition = conditionOn(scope, { projects, traces, ...ruleConditions(filters, row.group_by) });
  return ch`toBool(${condition})`;
}

/** Decides about the hits of a rule, the `index`-th of its statement. */
function decide(
  { scope: { tenantId }, projects, endedAfter }: Evaluation,
  { row, ...rule }: ReadRule,
  read: { index: number; hits: readonly EndedHit[]; concerned: readonly Candidate[]; wholeTrace: boolean },
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
      // the first piece of a run whose server was killed then may have been lost
      (hit.inserted_at === null || hit.inserted_at >= row.active_from_text);
    if (!isNew && !ordered.has(hit.id)) continue;
    const matched = Boolean(hit.hits[read.index]);
    const { id, project_id, trace_id, start_time, name: run_name, run_type, end_time } = hit;
    const thread_id = keyOfThread(hit.thread_id);
    const run = { project_id, trace_id, run_name, run_type, end_time, is_backfill: !isNew };
    if (row.group_by === null) {
      if (!matched) continue;
      const key = { tenant_id: tenantId, rule_id: row.rule_id, run_id: id, start_time, thread_id };
      const match = decideSampling({ ...run, ...key }, row.sampling_rate, trace_id);
      // of new runs, most outside of the sample are not even recorded (rule-candidates/concerned-rules.ts)
      if (match.status === "pending" || !isNew) matches.push(match);
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

/** Rules take longer ids for none: they are keys of indexes in Postgres. */
const MAX_THREAD_BYTES = 1000;

/** Ids that earlier versions have stored may have null characters. */
const keyOfThread = (id: string | null): string | null =>
  id === null || Buffer.byteLength(id) > MAX_THREAD_BYTES ? null : storableText(id);

type Undecided = Omit<NewMatch, "match_id" | "status" | "reason">;

/** Decides by a hash of the rule and the trace or thread whether the sampling rate includes it. */
export function decideSampling(match: Undecided, rate: number, unit: string): NewMatch {
  const isIn = isSampled(match.rule_id, unit, rate);
  return {
    ...match,
    match_id: matchId(match.rule_id, match.run_id),
    status: isIn ? "pending" : "skipped",
    reason: isIn ? null : "not_sampled",
  };
}

export const matchId = (ruleId: string, runId: string): string => uuid5(runId, ruleId);
