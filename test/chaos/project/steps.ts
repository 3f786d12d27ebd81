import { setTimeout as sleep } from "node:timers/promises";

import {
  Annotation,
  END,
  getConfig,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";

import { nextExecution, record } from "./ledger.ts";

interface Job {
  token: string;
  steps: number;
  /** Length of a step in ms. */
  pause: number;
  /** Number of custom events of a step. */
  frames: number;
}

const State = Annotation.Root({
  job: Annotation<Job>,
  /** `<token>/<step>` of each step, in commit order. */
  done: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
  /** A page for each of `done`, so that the list is long enough to be stored as changes. */
  pages: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

const PAGE = ` ${"all work and no play ".repeat(60)}`;

const SLICE_MS = 100;

const stepsDone = ({ job, done }: typeof State.State): number =>
  done.filter((entry) => entry.startsWith(`${job.token}/`)).length;

const effect = task("effect", async (about: object) => {
  const config = getConfig();
  const key = config.configurable!["heddle_idempotency_key"] as string;
  record(config, { phase: "effect", ...about, key });
  return key;
});

/** Runs one step of the job: a line in the ledger at its start and end, and `frames` custom events between them. */
async function work(state: typeof State.State, config: LangGraphRunnableConfig) {
  const { token, frames, pause } = state.job;
  const told = state.pages.map((page) => page.slice(0, page.indexOf(" ")));
  if (told.join() !== state.done.join())
    throw new Error(`the pages ${told.join()} are not those of ${state.done.join()}`);
  const step = stepsDone(state) + 1;
  const execution = nextExecution();
  const about = { token, step, execution };
  record(config, { phase: "start", ...about, seen: state.done.length, last: state.done.at(-1) ?? null });
  const slices = Math.max(frames, Math.ceil(pause / SLICE_MS), 1);
  for (let slice = 1; slice <= slices; slice++) {
    if (slice <= frames) config.writer?.({ ...about, k: slice, n: frames });
    await sleep(pause / slices);
    if (config.signal?.aborted) throw new Error("the run was stopped");
  }
  record(config, { phase: "used", ...about, key: await effect(about) });
  record(config, { phase: "end", ...about, frames });
  return { done: [`${token}/${step}`], pages: [`${token}/${step}${PAGE}`] };
}

export const graph = new StateGraph(State)
  .addNode("work", work)
  .addEdge(START, "work")
  .addConditionalEdges("work", (state) => (stepsDone(state) < state.job.steps ? "work" : END), ["work", END])
  .compile();
