import { Module } from "node:module";

import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";

import { GENERATOR, isIdCommonJs, replaceExport } from "../../checkpoint-id-module.mjs";
import { type CheckpointClock, processClock } from "./checkpoint-clock.ts";

interface CommonJsModule {
  exports: { uuid6: (clockseq: number) => string };
}
type Load = (this: CommonJsModule, filename: string) => void;

/**
 * Makes LangGraph take its checkpoint ids from the clock of the current run or call. ES modules are replaced by
 * preload.mjs and resolve-hook.ts, CommonJS modules here as they are loaded.
 */
export function installCheckpointIds(currentClock: () => CheckpointClock | undefined): void {
  const scope = globalThis as { [GENERATOR]?: (clockseq: number) => string };
  scope[GENERATOR] = (clockseq) => (currentClock() ?? processClock).nextId(clockseq);
  const prototype = Module.prototype as unknown as { load: Load };
  const { load } = prototype;
  prototype.load = function (filename) {
    load.call(this, filename);
    if (isIdCommonJs(filename)) replaceExport(this.exports);
  };
}

/** Whether the project's LangGraph generates its ids with an installed generator. */
export function makesOurIds(): boolean {
  const scope = globalThis as { [GENERATOR]?: (clockseq: number) => string };
  const installed = scope[GENERATOR];
  let calls = 0;
  scope[GENERATOR] = (clockseq) => {
    calls += 1;
    return processClock.nextId(clockseq);
  };
  emptyCheckpoint();
  scope[GENERATOR] = installed;
  return calls > 0;
}
