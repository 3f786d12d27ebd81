import { setTimeout as sleep } from "node:timers/promises";

import type { Log } from "../../../base/log.ts";
import { RepeatedFailure } from "../../../base/repeated-failure.ts";
import { LABELS } from "./container-spec.ts";
import { type Engine, EngineUnreachableError } from "./engine.ts";

const POLL_MS = 500;
/** Poll interval without containers of ours, to check that the engine answers. */
const IDLE_POLL_MS = 5000;

interface Listed {
  Id: string;
  State: string;
  Labels: Record<string, string>;
}

interface Known {
  instance: string;
  isRunning: boolean;
  /** Time of the entry; a listing that began earlier does not cover it. */
  since: number;
}

/**
 * Tracks our containers and whether they run, with one listing for all: every half second while there are any, else
 * every five seconds. While the engine does not answer, the last known state applies, because containers do not end
 * with it.
 */
export class ContainerStates {
  readonly #engine: Engine;
  readonly #place: string;
  readonly #failure: RepeatedFailure;
  readonly #known = new Map<string, Known>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;
  #hasSeen = false;
  #polledAt = 0;
  #awaySince: number | undefined;

  constructor(engine: Engine, place: string, log: Log) {
    this.#engine = engine;
    this.#place = place;
    this.#failure = new RepeatedFailure({ log, message: "the container engine does not answer" });
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => {
      const isDue = performance.now() - this.#polledAt >= IDLE_POLL_MS;
      if (this.#known.size > 0 || !this.#hasSeen || isDue) void this.refresh();
    }, POLL_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
  }

  /** Time since which the engine has not answered, in milliseconds of `performance.now()`; undefined while it does. */
  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /** Updates the states. Never throws. */
  refresh(): Promise<void> {
    return (this.#polling ??= this.#poll().finally(() => (this.#polling = undefined)));
  }

  async #poll(): Promise<void> {
    const startedAt = performance.now();
    this.#polledAt = startedAt;
    try {
      const found = new Map((await this.list()).map((container) => [container.Id, container]));
      for (const [id, known] of this.#known) {
        if (known.since > startedAt) continue;
        const now = found.get(id);
        if (now) known.isRunning = isRunning(now.State);
        else this.#known.delete(id);
      }
      for (const [id, { State, Labels }] of found) {
        const instance = Labels[LABELS.instance];
        if (this.#known.has(id) || instance === undefined) continue;
        this.#known.set(id, { instance, isRunning: isRunning(State), since: startedAt });
      }
      this.#hasSeen = true;
      this.#failure.succeeded();
      this.#awaySince = undefined;
    } catch (error) {
      this.#failure.failed(error);
      this.#awaySince ??= performance.now();
    }
  }

  list(): Promise<Listed[]> {
    const filters = JSON.stringify({ label: [`${LABELS.place}=${this.#place}`] });
    return this.#engine.call<Listed[]>("GET", "/containers/json", { query: { all: "1", filters }, idleMs: 10_000 });
  }

  started(container: string, instance: string): void {
    this.#known.set(container, { instance, isRunning: true, since: performance.now() });
  }

  gone(container: string): void {
    this.#known.delete(container);
  }

  /** Whether a container runs. Until the engine has answered once, every recorded container counts as running. */
  runs(container: string): boolean {
    return this.#known.get(container)?.isRunning ?? !this.#hasSeen;
  }

  ofInstance(instance: string): string | undefined {
    for (const [id, known] of this.#known) if (known.instance === instance) return id;
    return undefined;
  }

  instances(): string[] {
    return [...new Set([...this.#known.values()].map((state) => state.instance))];
  }

  /** Resolves when the container has ended, or after `ms`. Throws EngineUnreachableError when its state is unknown. */
  async untilEnded(container: string, ms: number): Promise<boolean> {
    for (const deadline = performance.now() + ms; ; await sleep(50)) {
      await this.refresh();
      if (this.#awaySince !== undefined) throw new EngineUnreachableError("the container engine does not answer");
      if (!this.runs(container)) return true;
      if (performance.now() >= deadline) return false;
    }
  }
}

const isRunning = (state: string): boolean => /^(running|paused|restarting|stopping)$/.test(state);
