/**
 * Acts on the matches of rules, in every process with that role. A job is a batch of matches of one rule, claimed under
 * a lease; matches of a process that was stopped or killed are taken over by another (match-sql.ts).
 *
 * Workspaces take turns: the one with the fewest batches in progress comes first, and none holds the last two slots
 * while it has others, so that slow evaluators of one workspace do not delay another's.
 */
import { coerceError } from "../../base/errors.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { findRule } from "../rules/sql.ts";
import { actOnBatch, evaluatorsOf, pauseAfterAttempt } from "./act-on-batch.ts";
import {
  type ClaimedMatch,
  claimMatches,
  type MatchBatch,
  postponeMatches,
  renewLease,
  selectDueRules,
} from "./match-sql.ts";

const POLL_MS = 1000;
/** Matches of a batch; fewer where each needs evaluators, which take seconds. */
const BATCH = 100;
const JUDGED_BATCH = 8;
/** Batches of one rule in progress in a process. */
const PER_RULE = 4;
const MAX_DUE = 200;
/** Consecutive matches that fail alone, after which the rest of the batch waits too. */
const MAX_BROKEN = 3;

export class RuleActor {
  readonly #deps: TraceDeps;
  readonly #fault: FaultPoint;
  readonly #worker: LeasedWorker<MatchBatch, Failures>;
  readonly #running = new Map<string, number>();
  #stopped = false;

  constructor(deps: TraceDeps, fault: FaultPoint) {
    this.#deps = deps;
    this.#fault = fault;
    const { sql, settings, log } = deps;
    const leaseSeconds = settings.ruleLeaseSeconds;
    this.#worker = new LeasedWorker<MatchBatch, Failures>({
      kind: "rule",
      id: ({ rule_id }) => rule_id,
      concurrency: settings.ruleConcurrency,
      leaseSeconds,
      renewMs: Math.min(5000, (leaseSeconds * 1000) / 6),
      claim: () => this.#claim(),
      renew: (batch) => renewLease(sql, batch, leaseSeconds),
      work: (batch, signal) => this.#act(batch, signal),
      release: (batch, failures) => this.#release(batch, failures),
      everyMs: POLL_MS,
      failing: "could not claim the matches of rules; will retry",
      log,
    });
  }

  start(): void {
    this.#stopped = false;
    this.#worker.start();
  }

  /** Stops; matches in progress are handed back at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker.stop();
  }

  /** Call after matches were committed. */
  wake(): void {
    this.#worker.wake();
  }

  async #claim(): Promise<MatchBatch | undefined> {
    const { sql, settings } = this.#deps;
    const { ruleConcurrency: slots, ruleLeaseSeconds: leaseSeconds } = settings;
    const running = (key: string) => this.#running.get(key) ?? 0;
    const due = (await selectDueRules(sql, MAX_DUE))
      .filter(({ tenant_id, rule_id }) => running(rule_id) < PER_RULE && running(tenant_id) < Math.max(1, slots - 2))
      // sorting is stable: among equals the longest due comes first
      .sort((a, b) => running(a.tenant_id) - running(b.tenant_id) || running(a.rule_id) - running(b.rule_id));
    for (const rule of due) {
      const found = await findRule(sql, rule.tenant_id, rule.rule_id);
      const limit = found && evaluatorsOf(found).length > 0 ? JUDGED_BATCH : BATCH;
      const batch = await claimMatches(sql, rule, { limit, leaseSeconds });
      if (!batch) continue;
      this.#count(batch, 1);
      return batch;
    }
    return undefined;
  }

  #count({ tenant_id, rule_id }: MatchBatch, change: 1 | -1): void {
    for (const key of [tenant_id, rule_id]) {
      const count = (this.#running.get(key) ?? 0) + change;
      if (count > 0) this.#running.set(key, count);
      else this.#running.delete(key);
    }
  }

  /**
   * Acts on a batch. If that fails, on each of its matches alone: one that cannot be acted on must not fail the others.
   * @returns the matches that failed, with the reason
   */
  async #act(batch: MatchBatch, signal: AbortSignal): Promise<Failures> {
    const failures: Failures = new Map();
    const attempt = async (matches: ClaimedMatch[]): Promise<boolean> => {
      try {
        await actOnBatch(this.#deps, this.#fault, { ...batch, matches }, signal);
        return true;
      } catch (error) {
        for (const match of matches) failures.set(match, coerceError(error).message);
        if (!signal.aborted) this.#deps.log.warn({ err: error, rule_id: batch.rule_id }, "a rule could not act");
        return false;
      }
    };
    if ((await attempt(batch.matches)) || batch.matches.length === 1) return failures;
    let broken = 0;
    for (const match of batch.matches) {
      if (signal.aborted || broken === MAX_BROKEN) break;
      failures.delete(match);
      broken = (await attempt([match])) ? 0 : broken + 1;
    }
    return failures;
  }

  /** Hands back what was not ended: at once when the process stops, else after a pause. */
  async #release(batch: MatchBatch, failures: Failures | undefined): Promise<void> {
    this.#count(batch, -1);
    const left = batch.matches.flatMap((match) => {
      const reason = failures ? failures.get(match) : null;
      if (reason === undefined) return [];
      const { match_id, attempts } = match;
      if (this.#stopped) return [{ match_id, pauseMs: 0, reason: null, counts: false }];
      return [{ match_id, pauseMs: pauseAfterAttempt(attempts), reason, counts: true }];
    });
    await postponeMatches(this.#deps.sql, batch.lease_id, left);
  }
}

/** Why matches could not be acted on. */
type Failures = Map<ClaimedMatch, string>;
