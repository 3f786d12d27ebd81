import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  frames: Annotation<number>,
  pause: Annotation<number>,
  /** Length of each frame in characters, with a timestamp; absent: short frames. */
  size: Annotation<number | undefined>,
  sent: Annotation<number>,
});

/** Writes `frames` custom frames, `pause` milliseconds or a turn of the event loop apart, like a model that streams tokens. */
async function tick(state: typeof State.State, config: LangGraphRunnableConfig) {
  for (let n = 0; n < state.frames; n++) {
    await (state.pause > 0 ? sleep(state.pause) : turn());
    config.writer?.(state.size ? { n, at: Date.now(), pad: "x".repeat(state.size) } : { n, token: "shuttle" });
  }
  return { sent: state.frames };
}

export const graph = new StateGraph(State).addNode("tick", tick).addEdge(START, "tick").addEdge("tick", END).compile();
