import { setTimeout as sleep } from "node:timers/promises";

import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ frames: Annotation<number>, pause: Annotation<number>, sent: Annotation<number> });

/** Writes `frames` custom frames, `pause` milliseconds apart: a chat model that streams tokens. */
async function tick(state: typeof State.State, config: LangGraphRunnableConfig) {
  for (let n = 0; n < state.frames; n++) {
    await sleep(state.pause);
    config.writer?.({ n, token: "shuttle" });
  }
  return { sent: state.frames };
}

export const graph = new StateGraph(State).addNode("tick", tick).addEdge(START, "tick").addEdge("tick", END).compile();
