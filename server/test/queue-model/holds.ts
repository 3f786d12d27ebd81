/**
 * Keys that waiting runs hold (docs/flow-control.md). Which run holds what depends on the order in which a claim looks at
 * the lanes, so the model takes it from the tables and checks that it is permitted; and that a run with several keys
 * begins within a bound, which needs the holds.
 */
import type { Sql } from "../../src/base/db/connect.ts";
import { agedRank, type Flow, type Hold, laneOf, limitsOf, running, startsBefore } from "./flow.ts";
import { isEarlier, type Model, type ModelRun } from "./model.ts";

/** Rows of `run_slots` without a run, and the runs of the same lane. */
export async function readHolds(sql: Sql): Promise<{ key: string; runs: string[] }[]> {
  return sql<{ key: string; runs: string[] }[]>`
    select substr(s.key, 13) as key,
      array(select r.run_id from runs r where r.flow ->> 'lane' = replace(s.run_id::text, '-', '')) as runs
    from run_slots s
    where s.key like 'concurrency %' and not exists (select 1 from runs r where r.run_id = s.run_id)`;
}

const keysOf = ({ slots, rates }: Flow): string[] => [...slots.map(({ key }) => key), ...rates.map(({ rate }) => rate)];

/** Whether runs may hold keys: not while they wait for several rates. */
const mayHold = (flow: Flow): boolean =>
  flow.slots.length > 0 && flow.rates.length <= 1 && flow.slots.length + flow.rates.length > 1;

/**
 * Replaces the holds by those after a claim. `isCut`: it has started as many runs as it may, so that some that hold a key
 * may begin with the next one. @returns the laws that they break
 */
export function setHolds(
  m: Model,
  holds: Hold[],
  { concurrent, isCut }: { concurrent: boolean; isCut: boolean },
): string[] {
  m.holds = holds;
  return holds.flatMap(({ key, lane }) => {
    const runs = m.runs.filter((r) => r.status === "pending" && r.flow && laneOf(r) === lane);
    const r = runs.find((run) => agedRank(m, run) === 0);
    // what another call has ended since is freed by the next claim
    if (!r) return concurrent ? [] : [`holds: ${key} is held for no run of the highest class`];
    if (!mayHold(r.flow!)) return [`holds: R${r.run} holds ${key} with no other key to wait for`];
    const slots = r.flow!.slots.map((slot) => slot.key).sort();
    const held = holds.filter((hold) => hold.lane === lane).map((hold) => hold.key);
    const before = slots.slice(0, slots.indexOf(key)).filter((other) => !held.includes(other));
    const full = limitsOf(m, r).length > 0;
    const { limit } = r.flow!.slots.find((slot) => slot.key === key)!;
    const n = running(m, key) + holds.filter((hold) => hold.key === key).length;
    return [
      ...(before.length > 0 ? [`holds: R${r.run} holds ${key} without ${before.join(", ")}`] : []),
      ...(full || concurrent || isCut ? [] : [`holds: R${r.run} holds ${key} and could have begun`]),
      ...(n > limit ? [`holds: ${n} runs of ${key} run or hold it, ${limit} may`] : []),
    ];
  });
}

/**
 * Counts a start for the lanes whose keys it takes. `open`: the runs that this claim could have chosen but for their
 * limits. @returns the runs that have been passed over more often than the bound permits
 */
export function passOver(m: Model, begun: ModelRun, open: ModelRun[]): string[] {
  m.passed.delete(laneOf(begun));
  const taken = keysOf(begun.flow!);
  const pending = m.runs.filter((r) => r.status === "pending" && r.flow);
  const waiting = new Map(
    open.filter((r) => mayHold(r.flow!) && agedRank(m, r) === 0 && !isLast(m, r, open)).map((r) => [laneOf(r), r]),
  );
  for (const lane of m.passed.keys()) if (!waiting.has(lane)) m.passed.delete(lane);
  if (agedRank(m, begun) > 0) return [];
  return [...waiting].flatMap(([lane, r]) => {
    // its value's turn
    if (r.flow!.turn !== null && r.flow!.turn === begun.flow!.turn) {
      m.passed.delete(lane);
      return [];
    }
    const passed = m.passed.get(lane) ?? { taken: {}, rounds: 0 };
    m.passed.set(lane, passed);
    const keys = keysOf(r.flow!);
    for (const key of keys.filter((one) => taken.includes(one))) passed.taken[key] = (passed.taken[key] ?? 0) + 1;
    const most = turnsBefore(m, r, pending);
    if (keys.some((key) => (passed.taken[key] ?? 0) <= most)) return [];
    Object.assign(passed, { taken: {}, rounds: passed.rounds + 1 });
    // a round needs a change of the key that it waits for: two without holds, and one for each key that it then takes
    if (passed.rounds <= 2 + keys.length) return [];
    return [
      `passing: others took all keys of R${r.run} ${passed.rounds} times, at most ${2 + keys.length} are permitted`,
    ];
  });
}

/** Whether an older run of the lane is open: that one counts for the lane. */
const isLast = (m: Model, r: ModelRun, open: ModelRun[]): boolean =>
  open.some((o) => laneOf(o) === laneOf(r) && isEarlier(m, o, r));

/** The starts of others that may come before a run's, once one of its keys is free. */
function turnsBefore(m: Model, r: ModelRun, pending: ModelRun[]): number {
  const own = pending.filter((o) => o.flow!.turn === r.flow!.turn && isEarlier(m, o, r)).length;
  if (r.flow!.turn === null) return own;
  return startsBefore(own + 1, new Set(pending.map((o) => o.flow!.turn)).size);
}
