import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { setImmediate as nextTurn } from "node:timers/promises";

import { readTriggers } from "./checkpoints/final-step.ts";
import { HeddleSaver } from "./checkpoints/heddle-saver.ts";
import type { Graph } from "./graphs/graph.ts";
import type { RunKwargs, RunStart } from "../../host-kit/src/host-protocol.ts";
import { rehearsalDatabase } from "./rehearsal-database.ts";
import { ActiveRun } from "./runs/active-run.ts";
import { executeRun, type RunDeps } from "./runs/execute-run.ts";

/** Number of runs after which the hot code is compiled; measured: a run then takes a third of the first ones. */
const RUNS = 100;
const ID = "00000000-0000-4000-8000-000000000000";

/**
 * Runs a built-in graph through the code that every run uses, so that the first callers do not pay for its compilation:
 * 10 ms per run, 3 ms once it is compiled. Nothing leaves the process: checkpoints stay in memory, events are dropped. It
 * stops as soon as `busy` reports real work, and is skipped where it would be visible: with LangSmith tracing or
 * verbose output enabled in the environment.
 */
export async function warmUp(deps: Pick<RunDeps, "store" | "langgraphVersion">, busy: () => boolean): Promise<void> {
  if (WATCHED.some((name) => process.env[name] === "true")) return;
  const graph = rehearsalGraph();
  const triggers = readTriggers(graph);
  const database = rehearsalDatabase();
  const rehearsal: RunDeps = {
    store: deps.store,
    langgraphVersion: deps.langgraphVersion,
    savers: {
      forRun: ({ runId, attempt, threadId, freshThread }) =>
        new HeddleSaver(database, {
          fence: { runId, attempt },
          passiveStart: true,
          triggers,
          ...(freshThread && { freshThread: threadId }),
        }),
      reading: () => new HeddleSaver(database),
      unfenced: () => new HeddleSaver(database),
      guarded: () => new HeddleSaver(database),
      storeListsWhole: () => {},
      encryptWith: () => {},
      close: () => Promise.resolve(),
    },
    openGraph: () => Promise.resolve(graph),
    sendEvent: () => {},
    pause: () => undefined,
  };
  for (let n = 0; n < RUNS && !busy(); n++) {
    // alternates between a new thread and one with a state to read
    const start = { ...START_FRAME, fresh_thread: n % 2 === 0 };
    await executeRun(rehearsal, new ActiveRun(start), { ...KWARGS });
    await nextTurn();
  }
}

function rehearsalGraph(): Graph {
  const state = Annotation.Root({ text: Annotation<string>, echo: Annotation<string> });
  const built = new StateGraph(state)
    .addNode("answer", ({ text }) => ({ echo: text }))
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile();
  return built as unknown as Graph;
}

const START_FRAME: RunStart = {
  t: "run.start",
  run_id: ID,
  thread_id: ID,
  assistant_id: ID,
  graph_id: "",
  attempt: 1,
  fresh_thread: true,
  notify: false,
};

const KWARGS: RunKwargs = {
  input: { text: "" },
  config: { configurable: {}, metadata: {} },
  stream_mode: ["values"],
  subgraphs: false,
  resumable: false,
  temporary: false,
  durability: "sync",
};

const WATCHED = [
  "LANGSMITH_TRACING",
  "LANGSMITH_TRACING_V2",
  "LANGCHAIN_TRACING",
  "LANGCHAIN_TRACING_V2",
  "LANGCHAIN_VERBOSE",
];
