import { setTimeout as sleep } from "node:timers/promises";

import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  frames: Annotation<number>,
  pause: Annotation<number>,
  /** Makes frames this many characters long, and dates them; absent: short ones. */
  size: Annotation<number | undefined>,
  sent: Annotation<number>,
});

/** Writes `frames` custom frames, `pause` milliseconds apart: a chat model that streams tokens. */
async function tick(state: typeof State.State, config: LangGraphRunnableConfig) {
  for (let n = 0; n < state.frames; n++) {
    await sleep(state.pause);
    config.writer?.(state.size ? { n, at: Date.now(), pad: "x".repeat(state.size) } : { n, token: "shuttle" });
  }
  return { sent: state.frames };
}

export const graph = new StateGraph(State).addNode("tick", tick).addEdge(START, "tick").addEdge("tick", END).compile();
