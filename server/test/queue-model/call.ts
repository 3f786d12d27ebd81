/** A call of the queue, and the comparison of its answer with the model. */
import assert from "node:assert/strict";

import type { CheckpointDatabase } from "../../../graph-host/src/checkpoints/checkpoint-database.ts";
import type { Sql } from "../../src/base/db/connect.ts";
import type { Model, State } from "./model.ts";
import { runId, threadId } from "./rows.ts";

/** Compares what the database answered with the model, and changes the model alike. Throws where they differ. */
export type Step = (m: Model, concurrent: boolean) => void;

export interface Call {
  text: string;
  /** All that it sends is on its way when `send` returns, so that a statement sent next on that connection sees it. */
  direct?: boolean;
  send(sql: Sql, host: CheckpointDatabase): Promise<Step[]>;
}

/** What a sequence of calls needs to make new ids. */
export interface Names {
  /** The thread of each run ever asked for. */
  threads: number[];
  steps: number;
  /** The servers' current ids; a server that was taken for dead comes back under another. */
  servers: number[];
}

/** A call of one statement that has one answer. */
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
