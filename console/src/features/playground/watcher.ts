import { applyFrame, settleWatch, type Frame, EMPTY_WATCH, type RunWatch } from "./run-watch.ts";

/** Store of a run's progress for React, which it notifies at most once per animation frame. */
export class Watcher {
  #now: RunWatch = EMPTY_WATCH;
  #shown: RunWatch = EMPTY_WATCH;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();
  /** Runs whose streams have ended: a poll may still report them as running. */
  readonly ended = new Set<string>();
  /** Whether the stream has reported the run's own failure, so that its end is not a connection error. */
  hasFailed = false;

  readonly take = (frame: Frame): void => {
    if (frame.event === "metadata") this.hasFailed = false;
    if (frame.event === "error") this.hasFailed = true;
    this.#set(applyFrame(this.#now, frame));
  };

  readonly rest = (): void => this.#set(settleWatch(this.#now, this.hasFailed));
  readonly clear = (): void => this.#set(EMPTY_WATCH);
  readonly read = (): RunWatch => this.#shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get runId(): string | null {
    return this.#now.runId;
  }

  /** Returns the position from which a run's stream resumes; undefined: from its start. */
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
