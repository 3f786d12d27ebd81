import { setTimeout as sleep } from "node:timers/promises";

import { dialogue } from "./asks.ts";
import { cancelled } from "./cancels.ts";
import { makeCrons } from "./crons.ts";
import type { Session } from "./session.ts";
import { turn, TurnThreads } from "./turns.ts";
import { updated } from "./updates.ts";
import { waiting } from "./waits.ts";

/** Runs scenarios concurrently until it is stopped; a started scenario is finished. */
export class Generator {
  readonly #session: Session;
  #workers: Promise<void>[] = [];
  /** Errors of the generator itself. */
  readonly errors: unknown[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  async start(): Promise<void> {
    const session = this.#session;
    await makeCrons(session, 2);
    const threads = new TurnThreads(session, 6);
    const turns = () => turn(session, threads);
    const dialogues = [dialogue, dialogue, waiting, waiting];
    const scenarios = [turns, turns, turns, turns, turns, ...dialogues, cancelled, cancelled, updated];
    this.#workers = scenarios.map((scenario) => this.#repeat(() => scenario(session)));
  }

  /** Waits until all scenarios have ended, at most for `limitMs`. Returns the number of those that have not. */
  async stop(limitMs: number): Promise<number> {
    this.#session.isStopping = true;
    let open = this.#workers.length;
    const ended = Promise.all(this.#workers.map((worker) => worker.then(() => open--)));
    await Promise.race([ended, sleep(limitMs, undefined, { ref: false })]);
    return open;
  }

  async #repeat(scenario: () => Promise<void>): Promise<void> {
    while (!this.#session.isStopping) {
      try {
        await scenario();
      } catch (error) {
        this.errors.push(error);
      }
      await this.#session.pause(50, 600);
    }
  }
}
