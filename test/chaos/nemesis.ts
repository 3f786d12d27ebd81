import { setTimeout as sleep } from "node:timers/promises";

import { APPLY } from "./faults.ts";
import type { Fleet } from "./fleet.ts";
import type { History } from "./history.ts";
import { now } from "./now.ts";
import { type FaultKind, type PlannedFault, planRounds } from "./plan.ts";

/** Injects rounds of faults into a fleet until a deadline. */
export class Nemesis {
  readonly #fleet: Fleet;
  readonly #history: History;
  /** Faults that were impossible, by kind: no permission to mount, or the process was already down. */
  readonly skipped: Record<string, number> = {};
  #stopping = false;

  constructor(fleet: Fleet, history: History) {
    this.#fleet = fleet;
    this.#history = history;
  }

  stop(): void {
    this.#stopping = true;
  }

  /** Plays rounds until `deadline` on the monotonic clock; the last one ends with a calm. */
  async run(seed: number, kinds: readonly FaultKind[], deadline: number): Promise<void> {
    for (const { stormMs, calmMs, faults } of planRounds(seed, kinds)) {
      if (this.#stopping || now() > deadline) return;
      const begin = now();
      const storm = faults.map((fault) => this.#play(fault, begin));
      await Promise.all([...storm, this.#pause(begin + stormMs - now())]);
      await this.#fleet.untilSteady();
      const from = now();
      await this.#pause(calmMs);
      this.#history.calm({ from, to: now() });
    }
  }

  async #play(fault: PlannedFault, begin: number): Promise<void> {
    await this.#pause(begin + fault.at - now());
    if (this.#stopping) return;
    const active = await APPLY[fault.kind](this.#fleet, fault);
    if (!active) {
      this.skipped[fault.kind] = (this.skipped[fault.kind] ?? 0) + 1;
      return;
    }
    const { target, detail, pids, heal } = active;
    const event = this.#history.beginFault({
      kind: fault.kind,
      target,
      ...(detail !== undefined && { detail }),
      ...(pids && { pids }),
    });
    try {
      await this.#pause(fault.ms);
    } finally {
      this.#history.healFault(event);
      await heal?.();
      this.#history.endFault(event);
    }
  }

  /** Sleeps in short intervals, so that a stop takes effect soon. */
  async #pause(ms: number): Promise<void> {
    const until = now() + ms;
    while (!this.#stopping && now() < until) await sleep(Math.max(1, Math.min(200, until - now())));
  }
}
