import { randomFrom } from "../crash/kills.ts";
import { SERVER_NAMES, type ServerName } from "./fleet.ts";

/** Kinds of faults, each with its range of durations in ms and its relative frequency. */
export const FAULTS = {
  "kill-server": { ms: [100, 1500], weight: 2 },
  "kill-hosts": { ms: [0, 0], weight: 2 },
  "kill-both": { ms: [100, 1500], weight: 1 },
  "freeze-server": { ms: [3000, 25_000], weight: 2 },
  "freeze-hosts": { ms: [3000, 25_000], weight: 2 },
  "freeze-both": { ms: [3000, 25_000], weight: 2 },
  "kill-postgres": { ms: [100, 3000], weight: 1 },
  "freeze-postgres": { ms: [2000, 15_000], weight: 1 },
  "kill-redis": { ms: [200, 4000], weight: 1 },
  "freeze-redis": { ms: [1000, 10_000], weight: 1 },
  "postgres-disk-full": { ms: [2000, 5000], weight: 0.5 },
  "disk-full": { ms: [3000, 12_000], weight: 1 },
  "clock-ahead": { ms: [0, 0], weight: 2 },
  "clock-behind": { ms: [0, 0], weight: 2 },
  "clock-steps": { ms: [2000, 8000], weight: 2 },
  "postgres-cut": { ms: [0, 0], weight: 2 },
  "postgres-lose-answer": { ms: [500, 3000], weight: 4 },
  "postgres-swallow": { ms: [1000, 5000], weight: 2 },
  "postgres-half-open": { ms: [2000, 12_000], weight: 2 },
  "postgres-delay": { ms: [2000, 8000], weight: 1 },
  "postgres-refuse": { ms: [1000, 8000], weight: 1 },
  "postgres-drop-notification": { ms: [1000, 4000], weight: 2 },
  "redis-cut": { ms: [0, 0], weight: 1 },
  "redis-lose-answer": { ms: [500, 2000], weight: 1 },
  "redis-half-open": { ms: [2000, 10_000], weight: 1 },
  "redis-delay": { ms: [2000, 6000], weight: 1 },
  "client-cut": { ms: [0, 0], weight: 2 },
  "client-lose-answer": { ms: [500, 3000], weight: 3 },
  "client-swallow": { ms: [500, 3000], weight: 1 },
  "client-half-open": { ms: [2000, 8000], weight: 1 },
  "client-delay": { ms: [2000, 6000], weight: 1 },
} as const satisfies Record<string, { ms: readonly [number, number]; weight: number }>;

export type FaultKind = keyof typeof FAULTS;
export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

/** Clock offsets in seconds: tens of milliseconds, a missing time server, a laptop that slept. */
const SKEWS = [0.05, 0.4, 3, 60, 600, 3600];

export interface PlannedFault {
  /** Milliseconds after the start of the storm. */
  at: number;
  kind: FaultKind;
  target: ServerName;
  ms: number;
  /** Which connections of the server fail. */
  side: "server" | "hosts" | "all";
  /** Number of requests or notifications. */
  count: number;
  /** Offset of a clock in seconds. */
  skew: number;
}

/** A storm of overlapping faults and the calm after it. */
export interface Round {
  stormMs: number;
  calmMs: number;
  faults: PlannedFault[];
}

/** Yields the nemesis' endless plan, deterministic for a seed and kinds. */
export function* planRounds(seed: number, kinds: readonly FaultKind[]): Generator<Round> {
  const random = randomFrom(seed);
  const between = (low: number, high: number) => Math.round(low + random() * (high - low));
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const total = kinds.reduce((sum, kind) => sum + FAULTS[kind].weight, 0);
  const pickKind = (): FaultKind => {
    let left = random() * total;
    return kinds.find((kind) => (left -= FAULTS[kind].weight) < 0) ?? kinds.at(-1)!;
  };
  for (;;) {
    const stormMs = between(12_000, 30_000);
    const faults: PlannedFault[] = [];
    for (let at = between(0, 800); at < stormMs; at += between(500, 2200)) {
      const kind = pickKind();
      const [low, high] = FAULTS[kind].ms;
      // a fault may outlast its storm, but not by much
      const ms = Math.min(between(low, high), Math.max(low, stormMs + 4000 - at));
      faults.push({
        at,
        kind,
        target: pick(SERVER_NAMES),
        ms,
        side: pick(["server", "hosts", "all"]),
        count: between(1, 4),
        skew: pick(SKEWS),
      });
    }
    yield { stormMs, calmMs: between(5000, 9000), faults };
  }
}
