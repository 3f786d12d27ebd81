/** The rules of flow control on plain data, as docs/flow-control.md states them: keys, limits, classes and ageing. */
import type { QueueRules } from "../../src/agent/project/queue-config.ts";
import type { RunStatus } from "../../src/agent/streams/finished-run.ts";

export type Graph = "a" | "b";

/** What rules can tell about a run. Absent: null. */
export interface Traits {
  /** `metadata.customer` and `metadata.group`, the thread's where the run has none. */
  customer: string | null;
  group: string | null;
  /** `auth.identity` */
  user: string | null;
  /** `config.configurable.model` */
  model: string | null;
  /** The class that the run names. */
  priority: string | null;
}

/** A run's keys and limits. */
export interface Flow {
  /** Its class without ageing; 0 is the highest. */
  rank: number;
  slots: { key: string; limit: number }[];
  /** `interval`: seconds per start. */
  rates: { key: string; rate: string; interval: number; burst: number }[];
  waiting: { key: string; limit: number }[];
  /** The value that takes turns with others; null: first come, first served. */
  turn: string | null;
  expiresAfter: number | null;
}

/** A run as its limits see it. */
interface LimitedRun {
  graph: Graph;
  status: RunStatus;
  attempt: number;
  /** When it became due, or was created. */
  since: number;
  flow: Flow | null;
}

/** A key of concurrency that the runs of a lane hold. */
export interface Hold {
  key: string;
  lane: string;
}

/** The starts that took a lane's keys while its runs waited. */
export interface Passed {
  taken: Record<string, number>;
  /** How often all keys were taken more often than the turns of others permit. */
  rounds: number;
}

interface Queue {
  rules: QueueRules | null;
  now: number;
  runs: LimitedRun[];
  /** Theoretical arrival time of each rate's next start. */
  rates: Map<string, number>;
  holds: Hold[];
}

function valueOf(key: string, graph: Graph, traits: Traits): string | null {
  const values: Record<string, string | null> = {
    ...{ all: "", graph, "auth.identity": traits.user, "config.configurable.model": traits.model },
    ...{ "metadata.customer": traits.customer, "metadata.group": traits.group },
  };
  if (!(key in values)) throw new Error(`the model does not know the key ${key}`);
  return values[key]!;
}

function rankOf({ priority }: QueueRules, graph: Graph, traits: Traits): number {
  const named = priority.findIndex(({ name }) => name === traits.priority);
  if (named !== -1) return named;
  const meets = (match: Record<string, string>) =>
    Object.entries(match).every(([key, value]) => valueOf(key, graph, traits) === value);
  const matching = traits.priority === null ? priority.findIndex(({ match }) => match && meets(match)) : -1;
  if (matching !== -1) return matching;
  const byDefault = priority.findIndex(({ name }) => name === "default");
  return byDefault === -1 ? Math.max(0, priority.length - 1) : byDefault;
}

/** @returns null: the graph has no rules, and a run starts at once */
export function flowOf(rules: QueueRules | null, run: { graph: Graph; expires?: number | null } & Traits): Flow | null {
  if (!rules) return null;
  const keyed = <R extends { key: string; graphs?: string[] | undefined }>(all: R[]) =>
    all
      .filter(({ graphs }) => graphs?.includes(run.graph) ?? true)
      .flatMap((rule) => {
        const value = valueOf(rule.key, run.graph, run);
        return value === null ? [] : [{ ...rule, key: `${rule.key}=${value}` }];
      });
  const strictest = (all: { key: string; limit: number }[]) =>
    [...new Set(all.map(({ key }) => key))].sort().map((key) => ({
      ...{ key, limit: Math.min(...all.filter((rule) => rule.key === key).map(({ limit }) => limit)) },
    }));
  const rank = rankOf(rules, run.graph, run);
  const slots = strictest(keyed(rules.concurrency));
  const rates = keyed(rules.throttle).map(({ key, limit, period, burst }) => ({
    ...{ key, rate: `${key} ${limit}/${period}/${burst}`, interval: period / limit, burst },
  }));
  const own = rules.fair === null ? null : valueOf(rules.fair, run.graph, run);
  // runs without the key share by their other keys
  const others = JSON.stringify([run.graph, rank, slots, rates.map(({ rate }) => rate).sort()]);
  return {
    ...{ rank, slots, rates, waiting: strictest(keyed(rules.waiting)) },
    turn: rules.fair === null ? null : own === null || own === "" ? others : `${rules.fair}=${own}`,
    expiresAfter: run.expires ?? rules.expires_after ?? null,
  };
}

/** The class in which a run counts after its wait, which begins when it is due. */
export function agedRank({ now, rules }: Queue, { flow, since }: LimitedRun): number {
  const { ageing } = rules!;
  return ageing === 0 ? flow!.rank : Math.max(0, flow!.rank - Math.floor((now - since) / ageing));
}

export const laneOf = ({ graph, flow }: Pick<LimitedRun, "graph" | "flow">): string =>
  JSON.stringify([graph, flow!.rank, flow!.slots, flow!.rates.map(({ rate }) => rate), flow!.turn]);

export const running = (m: Queue, key: string): number =>
  m.runs.filter((r) => r.status === "running" && r.flow?.slots.some((slot) => slot.key === key)).length;

export const waitingFor = (m: Queue, key: string): number =>
  m.runs.filter((r) => r.status === "pending" && r.attempt === 0 && r.flow?.waiting.some((w) => w.key === key)).length;

/** The limits that permit no start of a run now, as `GET /queue` names them. */
export function limitsOf(m: Queue, { flow, graph }: LimitedRun): { reason: string; key: string }[] {
  const lane = laneOf({ flow, graph });
  const held = (key: string) => m.holds.filter((hold) => hold.key === key && hold.lane !== lane).length;
  const full = flow!.slots.filter(({ key, limit }) => running(m, key) + held(key) >= limit);
  const fast = flow!.rates.filter(({ rate, interval, burst }) => {
    const next = m.rates.get(rate);
    return next !== undefined && next - (burst - 1) * interval > m.now;
  });
  return [
    ...full.map(({ key }) => ({ reason: "concurrency_limit", key })),
    ...fast.map(({ key }) => ({ reason: "throttled", key })),
  ];
}

/** The starts before that of the `n`-th run of a value, with `k` values of the key: docs/flow-control.md has the formula. */
export const startsBefore = (n: number, k: number): number => (n + 1) * k - 2;
