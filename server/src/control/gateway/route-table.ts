/**
 * Routing table, in memory, so that a request costs no query. The process that changes it reloads it; other processes follow by
 * notifications (route-follower.ts). While the database is unavailable, it keeps the routes that it loaded last.
 */
import type { Sql } from "../../base/db/connect.ts";

export interface Target {
  deploymentId: string;
  tenantId: string;
  /** Whether it is being deleted. */
  isBeingDeleted: boolean;
  /** Whether it has ever had a serving revision. */
  hasServed: boolean;
  /** Healthy instances of the serving revision. */
  instances: Reached[];
}

/** An instance that requests can be forwarded to. */
export interface Reached {
  id: string;
  /** Null for an instance on this machine. */
  host: string | null;
  port: number;
}

interface TargetRow {
  read_at: Date;
  /** Null in the only row of an empty table. */
  slug: string | null;
  deployment_id: string;
  tenant_id: string;
  status: string;
  active_revision_id: string | null;
  ids: string[] | null;
  hosts: (string | null)[] | null;
  ports: number[] | null;
}

export class RouteTable {
  readonly #sql: Sql;
  readonly #host: string;
  #targets = new Map<string, Target>();
  /** Instances in the table. */
  #known = new Set<string>();
  readonly #inFlight = new Map<string, number>();
  #waiting: (() => void)[] = [];
  readonly #switches = new Set<Promise<unknown>>();
  #turn = 0;
  #asked = 0;
  #shown = 0;
  #readAt: Date | undefined;
  /** Called when the last request to an instance has ended that is no longer in the table. */
  onIdle: () => void = () => {};

  /** @param host machine whose instances can be reached */
  constructor(sql: Sql, host: string) {
    this.#sql = sql;
    this.#host = host;
  }

  /** Time of the database's state that the table shows, by the database's clock; undefined before the first load. */
  get readAt(): Date | undefined {
    return this.#readAt;
  }

  /**
   * Loads the state at the time of the call, or a newer one: results that arrive out of order never replace newer ones.
   * Of the ready instances of a deployment, it takes
   * - those of this machine (without a pod) that belong to the serving revision,
   * - those with an address, which are elsewhere, of any revision,
   * - and of these only the ones of the serving revision where there is one: a cluster replaces pods by itself.
   */
  async refresh(): Promise<void> {
    const sql = this.#sql;
    const mine = ++this.#asked;
    const rows = await sql<TargetRow[]>`
      select now() as read_at, d.slug, d.id as deployment_id, d.tenant_id, d.status, d.active_revision_id, i.ids, i.hosts, i.ports
      from (select) always left join deployments d on true left join lateral (
        select array_agg(id::text order by replica, id) as ids, array_agg(address order by replica, id) as hosts,
          array_agg(port order by replica, id) as ports
        from (
          select *, rank() over (order by revision_id is distinct from d.active_revision_id) as choice from instances
          where deployment_id = d.id and state = 'ready'
            and (address is not null
              or (revision_id = d.active_revision_id and pod is null and starts_with(place, ${`${this.#host}:`})))) candidates
        where choice = 1) i on true
      limit 100000`;
    if (mine < this.#shown) return;
    this.#shown = mine;
    // the start of the transaction, and so before its snapshot
    this.#readAt = rows[0]?.read_at;
    const routes = rows.filter((row): row is TargetRow & { slug: string } => row.slug !== null);
    this.#known = new Set(routes.flatMap((row) => row.ids ?? []));
    this.#targets = new Map(
      routes.map((row) => [
        row.slug,
        {
          deploymentId: row.deployment_id,
          tenantId: row.tenant_id,
          isBeingDeleted: row.status === "AWAITING_DELETE",
          hasServed: row.active_revision_id !== null,
          instances: (row.ids ?? []).map((id, index) => ({
            id,
            host: row.hosts![index]!,
            port: Number(row.ports![index]),
          })),
        },
      ]),
    );
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /**
   * Commits a change of the serving revision and reloads the table; `settle` waits for other gateways to do the same.
   */
  async switch(
    commit: () => Promise<unknown>,
    settle: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    const switched = commit()
      .then(() => this.refresh())
      .then(settle);
    this.#switches.add(switched);
    try {
      await switched;
    } finally {
      this.#switches.delete(switched);
    }
  }

  /**
   * Resolves when the table contains every switch that was in progress. A route that reports states awaits it after
   * reading them, so that a caller who was told of a new revision is not served by the earlier one.
   */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#switches);
  }

  /** Whether a deployment exists. */
  knows(deploymentId: string): boolean {
    for (const target of this.#targets.values()) if (target.deploymentId === deploymentId) return true;
    return false;
  }

  find(slug: string): Target | undefined {
    return this.#targets.get(slug);
  }

  /** Picks an instance round-robin, except the excluded ones. */
  pick(target: Target, excluded: ReadonlySet<string>): Reached | undefined {
    const free = target.instances.filter((instance) => !excluded.has(instance.id));
    return free[this.#turn++ % Math.max(1, free.length)];
  }

  /** Resolves at the next reload, or after `ms`. */
  change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
      this.#waiting.push(done);
    });
  }

  /** @returns a function to call when the request is over */
  enter(instanceId: string): () => void {
    this.#inFlight.set(instanceId, this.inFlight(instanceId) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = this.inFlight(instanceId) - 1;
      if (left > 0) this.#inFlight.set(instanceId, left);
      else this.#inFlight.delete(instanceId);
      if (left === 0 && !this.#known.has(instanceId)) this.onIdle();
    };
  }

  /** Requests in progress, by id of their instance. */
  requests(): Record<string, number> {
    return Object.fromEntries(this.#inFlight);
  }

  inFlight(instanceId: string): number {
    return this.#inFlight.get(instanceId) ?? 0;
  }
}
