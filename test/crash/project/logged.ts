import { appendFileSync } from "node:fs";

import type { LangGraphRunnableConfig } from "@langchain/langgraph";

let executions = 0;

/**
 * Wraps a node so that each execution appends two lines to the file that `STEP_LOG` names: the side effects that an
 * offline check uses to see what ran, where, and in which order. O_APPEND makes the order of the lines the order of
 * events, across all processes.
 */
export function logged<State, Update>(
  step: number,
  node: (state: State, config: LangGraphRunnableConfig) => Promise<Update> | Update,
): (state: State, config: LangGraphRunnableConfig) => Promise<Update> {
  return async (state, config) => {
    const execution = `${process.pid}.${++executions}`;
    const write = (phase: "start" | "end") => {
      const run = config.configurable?.["run_id"] as string | undefined;
      const line = JSON.stringify({ run, step, phase, execution, pid: process.pid, at: Date.now() });
      if (process.env["STEP_LOG"]) appendFileSync(process.env["STEP_LOG"], `${line}\n`);
    };
    write("start");
    const update = await node(state, config);
    write("end");
    return update;
  };
}
