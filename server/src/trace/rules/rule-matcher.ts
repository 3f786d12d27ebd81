/**
 * Decides which runs match which rules, incrementally: it evaluates the runs that the writers recorded as candidates
 * (trace/rule-candidates), never the store.
 *
 * A batch is one transaction of Postgres: it claims candidates, evaluates the rules in ClickHouse, stores the decisions,
 * whose primary key is rule and run, and deletes the candidates. A killed process leaves the candidates to the next one;
 * the locks of a frozen process end with its transaction after IDLE_TRANSACTION_MS. So each state of a run is evaluated
 * at least once after it is visible, and each decision is stored once.
 *
 * A candidate whose run has not ended is dropped, because its end writes another one. One whose row is not visible at the
 * replica of ClickHouse that was read stays, and is evaluated again; so does one of which an update has arrived before
 * the create.
 */
import { Counter, type Registry } from "prom-client";

import type { ClickHouse } from "../../base/clickhouse/clickhouse.ts";
import { connect, type DatabaseAddress, type Sql, type Transaction } from "../../base/db/connect.ts";
import { coerceError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Poller } from "../../base/polling/poller.ts";
import type { ProjectDirectory } from "../projects/project-directory.ts";
import { type ProjectFacts, selectProjectFacts } from "../rule-candidates/sql.ts";
import type { RuleCandidates } from "../rule-candidates/rule-candidates.ts";
import { fromMicros } from "../run-rows/times.ts";
import { loadScope } from "../runs/load-scope.ts";
import { RunScope } from "../runs/run-scope.ts";
import { type Decisions, decideSampling, evaluateCandidates } from "./evaluate-candidates.ts";
import { isOfSize, isOfStatement } from "./failures.ts";
import * as rows from "./match-sql.ts";
import { type ReadRule, readRule } from "./read-rules.ts";
import { storeApart } from "./store-apart.ts";
import { disableRule, type Rule, selectActiveRules } from "./sql.ts";

/** Largest number of candidates in a batch. Halved after a failure, doubled after a success. */
const BATCH = 4000;
const THREADS = 500;
/** Pause after a batch, in multiples of its duration, so that ingest keeps the engine; and its bounds. */
const PAUSE_SHARE = 12;
const MIN_PAUSE_MS = 200;
const MAX_PAUSE_MS = 700;
const RETRY_MS = 500;
/** Finds the candidates of killed processes, and of other processes' triggers and back-fills. */
const POLL_MS = 1000;
/** Longer than any batch takes. */
const IDLE_TRANSACTION_MS = 15_000;
/** Failures of a workspace's rules, with ever smaller batches, after which they are evaluated one by one. */
const MAX_FAILURES = 8;
/** The same where time or memory was short, which may pass. */
const MAX_SIZE_FAILURES = 20;
/** Days for which decisions about a run are kept after its end. */
const KEPT_DAYS = 90;
const UNSAMPLED_DAYS = 7;
const PRUNE_MS = 3_600_000;
const PRUNE_LIMIT = 10_000;

export interface RuleMatcherDeps {
  sql: Sql;
  clickhouse: ClickHouse;
  log: Log;
  projects: ProjectDirectory;
  settings: { traceTier: string };
  ruleCandidates: RuleCandidates;
  ruleActor: { wake(): void };
}

export class RuleMatcher {
  readonly #deps: RuleMatcherDeps;
  /** Transactions that end when this process is frozen. */
  readonly #pool: Sql;
  readonly #poller: Poller;
  readonly #decided: Counter<"status">;
  #size = BATCH;
  /** Failures since the last success, by workspace. */
  readonly #failures = new Map<string, number>();
  /** Workspace of the last candidate; the next batch begins after it. */
  #after: string | undefined;
  #pruneAt = 0;
  #pausedUntil = 0;

  constructor(deps: RuleMatcherDeps, { database, registry }: { database: DatabaseAddress; registry: Registry }) {
    this.#deps = deps;
    this.#pool = connect(database, { max: 1, name: "heddle rules", idleTransactionMs: IDLE_TRANSACTION_MS });
    this.#poller = new Poller({
      pass: () => this.#pass(),
      everyMs: POLL_MS,
      retryMs: RETRY_MS,
      log: deps.log,
      failing: "could not evaluate rules; will retry",
    });
    this.#decided = new Counter({
      name: "heddle_rule_matches_total",
      help: "Decisions of rules about runs and threads: pending ones are acted on.",
      labelNames: ["status"],
      registers: [registry],
    });
  }

  start(): void {
    this.#deps.ruleCandidates.onRecorded = () => this.wake();
    this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
    await this.#pool.end({ timeout: 2 });
  }

  /** Evaluates soon; wake-ups within the pause after a batch share the next one. */
  wake(): void {
    this.#poller.wake(Math.max(1, this.#pausedUntil - performance.now()));
  }

  async #pass(): Promise<number> {
    const { count, failure } = await this.#batches().then(
      (count) => ({ count, failure: undefined }),
      (error: unknown) => ({ count: 0, failure: coerceError(error) }),
    );
    // idle threads and old decisions do not wait for candidates that fail
    while ((await this.#dueThreads()) === THREADS);
    await this.#prune();
    if (failure) throw failure;
    // there may be more of some workspaces
    if (count > 0) return Math.max(1, this.#pausedUntil - performance.now());
    const due = await rows.nextDueThread(this.#deps.sql);
    return Math.max(MIN_PAUSE_MS, Math.min(POLL_MS, due ?? POLL_MS));
  }

  /** Evaluates batches until one is not full. @returns the size of the last one */
  async #batches(): Promise<number> {
    let count = 0;
    for (let isFull = true; isFull;) {
      const startedAt = performance.now();
      count = await this.#batch();
      isFull = count >= this.#size;
      if (count > 0) this.#pause(performance.now() - startedAt);
      this.#size = Math.min(BATCH, this.#size * 2);
    }
    return count;
  }

  #pause(ms: number): void {
    const pause = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, PAUSE_SHARE * ms));
    this.#pausedUntil = performance.now() + pause;
  }

  /** Evaluates a batch of candidates. @returns their number */
  async #batch(): Promise<number> {
    const statuses: string[] = [];
    let count = 0;
    try {
      await this.#pool.begin(async (tx) => {
        const candidates = await rows.claimCandidates(tx, this.#after, this.#size);
        count = candidates.length;
        if (count === 0) return;
        this.#after = candidates.at(-1)!.tenant_id;
        const tenants = new Set(candidates.map((candidate) => candidate.tenant_id));
        const waiting = new Set<string>();
        const named = [...new Set(candidates.flatMap((candidate) => candidate.rule_id ?? []))];
        const rules = await selectActiveRules(tx, [...tenants], named);
        const needed = rulesOf(candidates);
        const facts = await selectProjectFacts(tx, distinctProjects(candidates));
        for (const tenantId of tenants) {
          const { matches, threads, awaited } = await this.#evaluate(
            tx,
            tenantId,
            candidates.filter((candidate) => candidate.tenant_id === tenantId),
            rules.filter((rule) => rule.tenant_id === tenantId && (!needed || needed.has(rule.rule_id))),
            new Map(facts.flatMap((row) => (row.tenant_id === tenantId ? [[row.project_id, row]] : []))),
          );
          statuses.push(...(await storeApart(tx, matches, rows.insertMatches, this.#reject)));
          await storeApart(tx, threads, rows.upsertThreads, this.#reject);
          for (const id of awaited) waiting.add(tenantId + id);
        }
        const waits = ({ tenant_id, run_id }: rows.Candidate) => waiting.has(tenant_id + run_id);
        const done = candidates.filter((candidate) => !waits(candidate));
        count = done.length;
        const ids = (some: readonly rows.Candidate[]) => some.map((candidate) => candidate.candidate_id);
        await rows.deleteCandidates(tx, ids(done));
        await rows.requeueCandidates(tx, ids(candidates.filter(waits)));
      });
    } catch (error) {
      this.#size = Math.max(1, Math.floor(this.#size / 2));
      throw error;
    }
    this.#report(statuses);
    return count;
  }

  #report(statuses: readonly string[]): void {
    for (const status of statuses) this.#decided.inc({ status });
    if (statuses.includes("pending")) this.#deps.ruleActor.wake();
  }

  async #evaluate(
    tx: Transaction,
    tenantId: string,
    candidates: readonly rows.Candidate[],
    own: readonly Rule[],
    projects: ReadonlyMap<string, ProjectFacts>,
  ): Promise<Decisions> {
    const { clickhouse } = this.#deps;
    const rules: ReadRule[] = [];
    for (const row of own) {
      try {
        rules.push(readRule(row));
      } catch (error) {
        await this.#disable(tx, row, error);
      }
    }
    const endedAfter = fromMicros((Date.now() - KEPT_DAYS * 86_400_000) * 1000)!;
    const evaluate = async (some: readonly ReadRule[]) => {
      const filters = some.flatMap((rule) => Object.values(rule.filters).filter((filter) => filter !== undefined));
      const scope = await loadScope(this.#deps, RunScope.ofTenant(tenantId), { filters });
      return evaluateCandidates({ clickhouse, scope, candidates, rules: some, projects, endedAfter });
    };
    try {
      const decisions = await evaluate(rules);
      this.#failures.delete(tenantId);
      return decisions;
    } catch (error) {
      const failures = (this.#failures.get(tenantId) ?? 0) + 1;
      this.#failures.set(tenantId, failures);
      const most = isOfStatement(error) ? MAX_FAILURES : isOfSize(error) ? MAX_SIZE_FAILURES : Infinity;
      if (failures < most) throw error;
      this.#failures.delete(tenantId);
    }
    // one rule's condition fails: the others must not wait for it
    const decisions: Decisions = { matches: [], threads: [], awaited: new Set() };
    for (const rule of rules) {
      try {
        const { matches, threads, awaited } = await evaluate([rule]);
        decisions.matches.push(...matches);
        decisions.threads.push(...threads);
        for (const id of awaited) decisions.awaited.add(id);
      } catch (error) {
        if (!isOfStatement(error) && !isOfSize(error)) throw error;
        await this.#disable(tx, rule.row, error);
      }
    }
    return decisions;
  }

  async #disable(tx: Transaction, { tenant_id, rule_id }: Rule, error: unknown): Promise<void> {
    const message = (error as Error).message.slice(0, 500);
    this.#deps.log.error({ err: error, tenantId: tenant_id, ruleId: rule_id }, "disabled a rule whose filter fails");
    await disableRule(tx, tenant_id, rule_id, `Its filter could not be evaluated: ${message}`);
  }

  /** Decides about threads that have been idle long enough. @returns their number */
  async #dueThreads(): Promise<number> {
    const statuses: string[] = [];
    let count = 0;
    await this.#pool.begin(async (tx) => {
      const due = await rows.takeDueThreads(tx, THREADS);
      count = due.length;
      const matches = due
        .filter((thread) => thread.matched)
        .map(({ sampling_rate, last_run_id, last_start_time, matched: _, ...thread }) =>
          decideSampling(
            { ...thread, run_id: last_run_id, start_time: last_start_time },
            sampling_rate,
            thread.thread_id,
          ),
        );
      statuses.push(...(await storeApart(tx, matches, rows.insertMatches, this.#reject)));
    });
    this.#report(statuses);
    return count;
  }

  readonly #reject = (row: rows.NewMatch | rows.ThreadActivity, error: unknown): void => {
    const run_id = "run_id" in row ? row.run_id : row.last_run_id;
    const { tenant_id, rule_id } = row;
    this.#deps.log.error({ err: error, tenant_id, rule_id, run_id }, "a decision of a rule cannot be stored; dropped");
  };

  async #prune(): Promise<void> {
    if (performance.now() < this.#pruneAt) return;
    this.#pruneAt = performance.now() + PRUNE_MS;
    const { sql } = this.#deps;
    while ((await rows.pruneMatches(sql, KEPT_DAYS, PRUNE_LIMIT)) === PRUNE_LIMIT);
    while ((await rows.pruneUnsampled(sql, UNSAMPLED_DAYS, PRUNE_LIMIT)) === PRUNE_LIMIT);
    while ((await rows.pruneThreads(sql, KEPT_DAYS, PRUNE_LIMIT)) === PRUNE_LIMIT);
  }
}

/** Rules that the candidates name; undefined: all. */
function rulesOf(candidates: readonly rows.Candidate[]): Set<string> | undefined {
  const found = new Set<string>();
  for (const { rule_id, rule_ids } of candidates) {
    if (rule_id !== null) found.add(rule_id);
    else if (rule_ids === null) return undefined;
    else for (const id of rule_ids) found.add(id);
  }
  return found;
}

function distinctProjects(candidates: readonly rows.Candidate[]): { tenant_id: string; project_id: string }[] {
  const found = new Map(candidates.map((candidate) => [candidate.tenant_id + candidate.project_id, candidate]));
  return [...found.values()];
}
