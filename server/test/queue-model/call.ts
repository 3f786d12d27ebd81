/** A call of the queue, and the comparison of its result with the model. */
import assert from "node:assert/strict";

import type { CheckpointDatabase } from "../../../graph-host/src/checkpoints/checkpoint-database.ts";
import type { Sql } from "../../src/base/db/connect.ts";
import type { Model, State } from "./model.ts";
import { runId, threadId } from "./rows.ts";

/** Compares the database's result with the model's, and applies the call to the model. Throws where they differ. */
export type Step = (m: Model, concurrent: boolean) => void;

export interface Call {
  text: string;
  /**
   * Whether all its statements have been sent when `send` returns, so that a statement sent next on that connection
   * sees their effect.
   */
  direct?: boolean;
  /** The time that passes with it. */
  seconds?: number;
  send(sql: Sql, host: CheckpointDatabase): Promise<Step[]>;
}

/** Counters from which a sequence of calls derives new ids. */
export interface Names {
  /** Threads by run, for all runs ever requested. */
  threads: number[];
  steps: number;
  /** Current ids of the servers; a server that was presumed dead re-registers under another. */
  servers: number[];
}

/** Creates a call of one statement with one result. */
export function simple<T, A>(
  text: string,
  send: (sql: Sql, host: CheckpointDatabase) => Promise<T>,
  expected: (m: Model) => A,
  answered: (answer: T) => unknown = (answer) => answer,
): Call {
  return {
    text,
    direct: true,
    async send(sql, host) {
      const answer = answered(await send(sql, host));
      return [(m) => assert.deepEqual(answer, expected(m))];
    },
  };
}

export const idsFor = (run: number, names: Names) => ({ runId: runId(run), threadId: threadId(names.threads[run]!) });
export const stateText = (state: State) => JSON.stringify({ ...state, interrupts: {} });

export const byNumber = (a: number, b: number): number => a - b;
