import type { Principal } from "../../base/auth/principal.ts";
import { bind, ch, type Fragment } from "../../base/clickhouse/fragment.ts";
import type { Tiers } from "../filter/compile.ts";

/**
 * Whose runs a statement is about. Everything that reads or deletes runs starts from one of these, and one of these
 * can't be made without saying whose: so no statement lacks its tenant.
 */
export class RunScope {
  readonly tenantId: string;
  /** Where filters ask for it (know-tiers.ts). */
  readonly tiers: Tiers | undefined;

  private constructor(tenantId: string, tiers?: Tiers) {
    this.tenantId = tenantId;
    this.tiers = tiers;
  }

  /** The runs of the caller's workspace. */
  static of(principal: Pick<Principal, "workspaceId">): RunScope {
    return new RunScope(principal.workspaceId);
  }

  /** For what Heddle does by itself, and for holders of a share token, which names its tenant. */
  static ofTenant(tenantId: string): RunScope {
    return new RunScope(tenantId);
  }

  withTiers(tiers: Tiers): RunScope {
    return new RunScope(this.tenantId, tiers);
  }

  /** The condition on `runs as r`. */
  get mine(): Fragment {
    return ch`r.tenant_id = ${bind("UUID", this.tenantId)}`;
  }
}
