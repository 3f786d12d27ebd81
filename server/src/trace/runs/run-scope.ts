import type { Principal } from "../../base/auth/principal.ts";
import { bind, ch, type Fragment } from "../../base/clickhouse/fragment.ts";
import type { Tiers } from "../filter/compile.ts";
import type { MicroTime } from "../run-rows/times.ts";
import type { IncompleteHours } from "../run-rows/clickhouse.ts";

/** What conditions on other runs of a trace read: `run_facts` of the scope's builds or, without, the runs of these ranges. */
export interface TracePart {
  scope: RunScope;
  ranges?: readonly { from: MicroTime; to: MicroTime }[] | undefined;
}

interface Conditions {
  tiers?: Tiers | undefined;
  incompleteHours?: IncompleteHours | undefined;
  feedbackOf?: Fragment | undefined;
  builds?: readonly number[] | undefined;
  traceParts?: readonly TracePart[] | undefined;
}

/**
 * Tenant that a statement is restricted to. All statements that read or delete runs are built from a scope, and a scope
 * cannot be created without a tenant, so none lacks the restriction.
 */
export class RunScope {
  readonly tenantId: string;
  readonly #conditions: Conditions;

  private constructor(tenantId: string, conditions: Conditions = {}) {
    this.tenantId = tenantId;
    this.#conditions = conditions;
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
    return this.#with({ tiers });
  }

  withIncompleteHours(incompleteHours: IncompleteHours): RunScope {
    return this.#with({ incompleteHours });
  }

  /** Bounds the feedback that tests read: all feedback on the runs that they are about must be in it. */
  withFeedbackOf(feedbackOf: Fragment): RunScope {
    return this.#with({ feedbackOf });
  }

  withBuilds(builds: readonly number[] | undefined): RunScope {
    return this.#with({ builds });
  }

  withTraceParts(traceParts: readonly TracePart[]): RunScope {
    return this.#with({ traceParts });
  }

  #with(conditions: Conditions): RunScope {
    return new RunScope(this.tenantId, { ...this.#conditions, ...conditions });
  }

  /** Default tiers, if filters need them (load-scope.ts). */
  get tiers(): Tiers | undefined {
    return this.#conditions.tiers;
  }

  /** Condition on `feedback as f` that bounds what tests of feedback read; undefined: all feedback of the tenant. */
  get feedbackOf(): Fragment | undefined {
    return this.#conditions.feedbackOf;
  }

  /** Builds of `run_facts` that statements read instead of the runs themselves (runs/fact-source.ts). */
  get builds(): readonly number[] | undefined {
    return this.#conditions.builds;
  }

  get hasTraceParts(): boolean {
    return this.#conditions.traceParts !== undefined;
  }

  /** What filters on whole traces read; by default the runs of all time. */
  get traceParts(): readonly TracePart[] {
    return this.#conditions.traceParts ?? [{ scope: this.withBuilds(undefined) }];
  }

  /** Age of runs without an end from which they are incomplete. Statements that read a status need it. */
  get incompleteHours(): IncompleteHours {
    const { incompleteHours } = this.#conditions;
    if (!incompleteHours) throw new Error("the scope is not loaded (load-scope.ts)");
    return incompleteHours;
  }

  /** Condition on `runs as r`. */
  get mine(): Fragment {
    return ch`r.tenant_id = ${bind("UUID", this.tenantId)}`;
  }
}
