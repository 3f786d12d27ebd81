import { applyFrame, atRest, type Frame, NOTHING, type RunWatch } from "./run-watch.ts";

/** Holds a run's course for React, which is told of it once a frame of the screen at most. */
export class Watcher {
  #now: RunWatch = NOTHING;
  #shown: RunWatch = NOTHING;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();
  /** Runs that were streamed to their end: a poll may still call them running. */
  readonly ended = new Set<string>();
  /** The stream has told of the run's own failure, so its end is no accident of the line. */
  hasFailed = false;

  readonly take = (frame: Frame): void => {
    if (frame.event === "metadata") this.hasFailed = false;
    if (frame.event === "error") this.hasFailed = true;
    this.#set(applyFrame(this.#now, frame));
  };

  readonly rest = (): void => this.#set(atRest(this.#now, this.hasFailed));
  readonly clear = (): void => this.#set(NOTHING);
  readonly read = (): RunWatch => this.#shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get runId(): string | null {
    return this.#now.runId;
  }

  /** Where the stream of a run goes on; undefined: from its beginning. */
  positionIn(runId: string): string | undefined {
    return this.#now.runId === runId ? this.#now.lastEventId : undefined;
  }

  #set(next: RunWatch): void {
    this.#now = next;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#shown = this.#now;
      for (const tell of this.#listeners) tell();
    }, 16);
  }
}
