import { setTimeout as sleep } from "node:timers/promises";

import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

import { logged } from "./logged.ts";

const State = Annotation.Root({ frames: Annotation<number>, pause: Annotation<number>, sent: Annotation<number> });

export const graph = new StateGraph(State)
  .addNode(
    "tick",
    logged(1, async (state: typeof State.State, config: LangGraphRunnableConfig) => {
      for (let n = 0; n < state.frames; n++) {
        await sleep(state.pause);
        config.writer?.({ n });
      }
      return { sent: state.frames };
    }),
  )
  .addEdge(START, "tick")
  .addEdge("tick", END)
  .compile();
