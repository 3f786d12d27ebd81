/**
 * Evaluates alert rules in the background, in every process with that role: a job is one rule, claimed under a lease.
 * What a killed or frozen process had claimed is evaluated by another; the lease also fences its writes. The last slot
 * is for a workspace that has none, so that slow rules of one do not delay another's.
 */
import { coerceError } from "../../base/errors.ts";
import type { FaultPoint } from "../../base/fault-point.ts";
import { LeasedWorker } from "../../base/polling/leased-worker.ts";
import type { TraceDeps } from "../deps.ts";
import { evaluateRule } from "./evaluate-rule.ts";
import { type ClaimedRule, claimAlertRule, postponeAlertRule, renewAlertLease } from "./evaluation-sql.ts";

const POLL_MS = 1000;
const RETRY_MS = 10_000;

export class AlertEvaluator {
  readonly #worker: LeasedWorker<ClaimedRule>;
  readonly #failures = new Map<string, string>();
  /** Workspaces of the rules in progress, by lease. */
  readonly #tenants = new Map<string, string>();
  #stopped = false;

  /** @param evaluateBudget evaluates a rule that is a budget, under the same lease */
  constructor(deps: TraceDeps, fault: FaultPoint, evaluateBudget: typeof evaluateRule) {
    const { sql, settings, log } = deps;
    const leaseSeconds = settings.alertLeaseSeconds;
    this.#worker = new LeasedWorker<ClaimedRule>({
      kind: "alert",
      id: ({ rule_id }) => rule_id,
      concurrency: settings.alertConcurrency,
      leaseSeconds,
      renewMs: Math.min(5000, (leaseSeconds * 1000) / 6),
      claim: async (running) => {
        const isLast = running > 0 && running === settings.alertConcurrency - 1;
        const rule = await claimAlertRule(sql, leaseSeconds, isLast ? [...new Set(this.#tenants.values())] : []);
        if (rule) this.#tenants.set(rule.lease_id, rule.tenant_id);
        return rule;
      },
      renew: (rule) => renewAlertLease(sql, rule, leaseSeconds),
      work: async (rule, signal) => {
        fault("alert-claimed");
        try {
          await (rule.budget ? evaluateBudget : evaluateRule)(deps, rule, signal);
        } catch (error) {
          this.#failures.set(rule.lease_id, coerceError(error).message);
          if (!signal.aborted) log.warn({ err: error, rule_id: rule.rule_id }, "an alert rule could not be evaluated");
        }
        fault("alert-stored");
      },
      release: (rule) => this.#release(deps, rule),
      everyMs: POLL_MS,
      failing: "could not claim alert rules; will retry",
      log,
    });
  }

  start(): void {
    this.#stopped = false;
    this.#worker.start();
  }

  /** Stops; a rule in progress is handed back at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker.stop();
  }

  /** Call after a rule was committed. */
  wake(): void {
    this.#worker.wake();
  }

  /** Ends the claim of an evaluation that failed; one that succeeded has ended it in its transaction. */
  async #release({ sql }: TraceDeps, rule: ClaimedRule): Promise<void> {
    const reason = this.#failures.get(rule.lease_id);
    this.#failures.delete(rule.lease_id);
    this.#tenants.delete(rule.lease_id);
    await postponeAlertRule(sql, rule, this.#stopped ? 0 : RETRY_MS, this.#stopped ? null : (reason ?? null));
  }
}
