import { Module } from "node:module";

import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";

import { CHECKPOINT_ID, replaceExport } from "../../replaced-modules.mjs";
import { type CheckpointClock, processClock } from "./checkpoint-clock.ts";

type MakeId = (original: unknown, clockseq: number) => string;
const scope = globalThis as { [CHECKPOINT_ID]?: MakeId };
type Load = (this: { exports: object }, filename: string) => void;

/** Makes LangGraph take its checkpoint ids from the clock of the current run or call. */
export function installCheckpointIds(currentClock: () => CheckpointClock | undefined): void {
  scope[CHECKPOINT_ID] = (_original, clockseq) => (currentClock() ?? processClock).nextId(clockseq);
}

/** Replaces functions in CommonJS modules as they are loaded; in ES modules, preload.mjs and resolve-hook.ts do. */
export function replaceInCommonJs(): void {
  const prototype = Module.prototype as unknown as { load: Load };
  const { load } = prototype;
  prototype.load = function (filename) {
    load.call(this, filename);
    replaceExport(filename, this.exports);
  };
}

/** Whether the project's LangGraph generates its ids with an installed generator. */
export function makesOurIds(): boolean {
  const installed = scope[CHECKPOINT_ID];
  let calls = 0;
  scope[CHECKPOINT_ID] = (_original, clockseq) => {
    calls += 1;
    return processClock.nextId(clockseq);
  };
  emptyCheckpoint();
  if (installed) scope[CHECKPOINT_ID] = installed;
  else delete scope[CHECKPOINT_ID];
  return calls > 0;
}
