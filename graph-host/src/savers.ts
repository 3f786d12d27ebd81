import type { RunnableConfig } from "@langchain/core/runnables";
import {
  MemorySaver,
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import type { ChangedLists, ShownLists } from "./checkpoints/changed-lists.ts";
import type { StateCipher } from "../../host-kit/src/state-cipher.ts";
import { CheckpointDatabase } from "./checkpoints/checkpoint-database.ts";
import { HeddleSaver } from "./checkpoints/heddle-saver.ts";
import { readTriggers } from "./checkpoints/final-step.ts";
import type { Finished } from "./checkpoints/rows.ts";
import { showableLists } from "./checkpoints/showable-lists.ts";
import { startsWithoutUserCode } from "./checkpoints/start-step.ts";
import { currentWork } from "./runs/active-run.ts";

/** Source of checkpoint savers, one per host process; a saver is cheap and created for each use. */
export interface Savers {
  forRun(run: SaverRun): Saver;
  /** Saver for reads whose callers do not change what they get. */
  reading(graph: unknown): Saver;
  /** Saver for the first states of a thread whose row is not committed yet. */
  unfenced(): Saver;
  /** Saver for a manual state update: rejected once the thread has an active run or a newer checkpoint. */
  guarded(): Saver;
  /** Makes all savers store long lists whole, or as changes (default). */
  storeListsWhole(whole: boolean): void;
  /** Encrypts stored state from now on. */
  encryptWith(cipher: StateCipher): void;
  close(): Promise<void>;
}

export interface SaverRun {
  runId: string;
  /** Writes are rejected once another attempt owns the run. */
  attempt: number;
  threadId: string;
  freshThread: boolean;
  /** Newest checkpoint of the thread, without pending writes. */
  head?: string | undefined;
  graph: unknown;
  /** Called with each committed checkpoint of the root graph that a node of this run has led to. */
  onCheckpoint?: ((checkpointId: string) => void) | undefined;
}

/**
 * `flush` resolves when all puts are committed, and rejects if one failed; given a thread, it remembers that thread's
 * newest checkpoint. `unfinished` reads a checkpoint that nodes would have followed. `finish` also flushes and writes
 * the run's final status; a saver without it leaves that to the server. `whole` serializes the state without reference to
 * the stored lists, for a thread whose values are not those that `state` continues; `shown` are the lists that the
 * thread's values then show. `reader` returns a saver for reading the run's last state, `changedLists` compares the lists
 * in it with those that the thread's values show.
 */
export type Saver = BaseCheckpointSaver & {
  flush(threadId?: string, shown?: ShownLists): Promise<void>;
  finish?(
    threadId: string,
    state: string,
    notify: boolean,
    options: { whole: () => string; shown?: ShownLists | undefined },
  ): Promise<Finished>;
  reader?(showsLists: ReadonlySet<string>): BaseCheckpointSaver;
  changedLists?(threadId: string): ChangedLists;
  unfinished?(threadId: string, id: string | undefined): Promise<CheckpointTuple | undefined>;
};

export function openSavers(
  database: { url: string; socket?: string | undefined; maxValueBytes?: number | undefined } | undefined,
): Savers {
  if (!database) return memorySavers();
  const { url, ...options } = database;
  return databaseSavers(new CheckpointDatabase(url, options));
}

function databaseSavers(database: CheckpointDatabase): Savers {
  return {
    forRun: ({ runId, attempt, threadId, freshThread, head, graph, onCheckpoint }) =>
      new HeddleSaver(database, {
        fence: { runId, attempt },
        ...(freshThread && { freshThread: threadId }),
        ...(head && { head: { threadId, id: head } }),
        passiveStart: startsWithoutUserCode(graph),
        triggers: readTriggers(graph),
        clock: currentWork.getStore()?.clock,
        onCheckpoint,
      }),
    reading: (graph) =>
      new HeddleSaver(database, {
        onlyReads: true,
        showsLists: showableLists(graph),
        clock: currentWork.getStore()?.clock,
      }),
    unfenced: () => new HeddleSaver(database, { clock: currentWork.getStore()?.clock }),
    guarded: () => new HeddleSaver(database, { guarded: true, clock: currentWork.getStore()?.clock }),
    storeListsWhole: (whole) => void (database.storesListsWhole = whole),
    encryptWith: (cipher) => database.encryptWith(cipher),
    close: () => database.close(),
  };
}

/** Creates in-memory savers, for tests that need no database: threads live as long as the process. */
function memorySavers(): Savers {
  const saver = new ProcessMemorySaver();
  return {
    forRun: () => saver,
    reading: () => saver,
    unfenced: () => saver,
    guarded: () => saver,
    storeListsWhole: () => {},
    encryptWith: () => {},
    close: () => Promise.resolve(),
  };
}

class ProcessMemorySaver extends MemorySaver {
  override put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata): Promise<RunnableConfig> {
    return super.put(config, checkpoint, { ...config.metadata, ...metadata });
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }
}
