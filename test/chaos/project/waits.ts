import {
  Annotation,
  END,
  getConfig,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";

import { monotonic, record } from "./ledger.ts";

interface Wait {
  /** Milliseconds that a timer lasts. */
  ms?: number;
  signal?: string;
}

const State = Annotation.Root({
  /** `offset`: the machine's time less its monotonic clock in ms, because the clocks of hosts are wrong. */
  job: Annotation<{ token: string; offset: number; waits: Wait[] }>,
  /** `<n>:timer` or `<n>:signal:<payload>` of each wait n, in order. */
  ended: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

interface About {
  token: string;
  /** Of wait n: 2n - 1 before it, 2n after it. */
  step: number;
}

const effect = task("effect", async (about: About, ms: number) => {
  const config = getConfig();
  const key = config.configurable!["heddle_idempotency_key"] as string;
  record(config, { phase: "effect", ...about, key });
  return { key, until: monotonic() + ms };
});

/** Waits, with a journalled effect before and after. The first one decides when the timer ends. */
async function wait(state: typeof State.State, config: LangGraphRunnableConfig) {
  const { token, offset, waits } = state.job;
  const n = state.ended.length + 1;
  const { ms, signal } = waits[n - 1]!;
  const before = { token, step: 2 * n - 1 };
  const { key, until } = await effect(before, ms ?? 0);
  record(config, { phase: "used", ...before, key });
  record(config, { phase: "wait", token, wait: n, ...(ms !== undefined && { until }) });
  const answer = interrupt<object, { signal?: string; payload?: number }>({
    heddle_wait: {
      ...(ms !== undefined && { until: new Date(until + offset).toISOString() }),
      ...(signal && { signal }),
    },
  });
  const end = answer.signal === undefined ? `${n}:timer` : `${n}:signal:${answer.payload}`;
  record(config, { phase: "woken", token, wait: n, answer: end });
  const after = { token, step: 2 * n };
  record(config, { phase: "used", ...after, key: (await effect(after, 0)).key });
  return { ended: [end] };
}

export const graph = new StateGraph(State)
  .addNode("wait", wait)
  .addEdge(START, "wait")
  .addConditionalEdges("wait", (state) => (state.ended.length < state.job.waits.length ? "wait" : END), ["wait", END])
  .compile();
