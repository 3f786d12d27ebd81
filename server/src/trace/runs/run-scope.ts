import type { Principal } from "../../base/auth/principal.ts";
import { bind, ch, type Fragment } from "../../base/clickhouse/fragment.ts";
import type { Tiers } from "../filter/compile.ts";
import type { IncompleteHours } from "../run-rows/clickhouse.ts";

/**
 * Tenant that a statement is restricted to. All statements that read or delete runs are built from a scope, and a scope
 * cannot be created without a tenant, so none lacks the restriction.
 */
export class RunScope {
  readonly tenantId: string;
  /** Default tiers, if filters need them (load-scope.ts). */
  readonly tiers: Tiers | undefined;
  /** Condition on `feedback as f` that bounds what tests of feedback read; undefined: all feedback of the tenant. */
  readonly feedbackOf: Fragment | undefined;

  /** Builds of `run_facts` that statements read instead of the runs themselves (runs/fact-source.ts). */
  readonly builds: readonly number[] | undefined;

  readonly #incompleteHours: IncompleteHours | undefined;

  private constructor(
    tenantId: string,
    tiers?: Tiers,
    incompleteHours?: IncompleteHours,
    feedbackOf?: Fragment,
    builds?: readonly number[],
  ) {
    this.tenantId = tenantId;
    this.tiers = tiers;
    this.#incompleteHours = incompleteHours;
    this.feedbackOf = feedbackOf;
    this.builds = builds;
  }

  /** Returns the scope of the caller's workspace. */
  static of(principal: Pick<Principal, "workspaceId">): RunScope {
    return new RunScope(principal.workspaceId);
  }

  /** Returns the scope for background work, and for holders of a share token, which identifies the tenant. */
  static ofTenant(tenantId: string): RunScope {
    return new RunScope(tenantId);
  }

  withTiers(tiers: Tiers): RunScope {
    return new RunScope(this.tenantId, tiers, this.#incompleteHours, this.feedbackOf);
  }

  withIncompleteHours(hours: IncompleteHours): RunScope {
    return new RunScope(this.tenantId, this.tiers, hours, this.feedbackOf);
  }

  /** Bounds the feedback that tests read: all feedback on the runs that they are about must be in it. */
  withFeedbackOf(condition: Fragment): RunScope {
    return new RunScope(this.tenantId, this.tiers, this.#incompleteHours, condition);
  }

  withBuilds(builds: readonly number[] | undefined): RunScope {
    return new RunScope(this.tenantId, this.tiers, this.#incompleteHours, this.feedbackOf, builds);
  }

  /** Age of runs without an end from which they are incomplete. Statements that read a status need it. */
  get incompleteHours(): IncompleteHours {
    if (!this.#incompleteHours) throw new Error("the scope is not loaded (load-scope.ts)");
    return this.#incompleteHours;
  }

  /** Condition on `runs as r`. */
  get mine(): Fragment {
    return ch`r.tenant_id = ${bind("UUID", this.tenantId)}`;
  }
}
