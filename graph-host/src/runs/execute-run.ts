import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { ChangedLists } from "../checkpoints/changed-lists.ts";
import { USER_OBJECTS } from "../checkpoints/merged-metadata.ts";
import { showableLists } from "../checkpoints/showable-lists.ts";
import { complain } from "../complain.ts";
import { bindGraph, type Graph } from "../graphs/graph.ts";
import type { FactoryRuntime } from "../graphs/load-graphs.ts";
import { omit } from "../omit.ts";
import type { LostTrace, RunEnd, RunKwargs, RunResult, RunStart } from "../../../host-kit/src/host-protocol.ts";
import type { Saver, Savers } from "../savers.ts";
import { toJson } from "../serialize.ts";
import type { RunTracing } from "../tracing/run-tracing.ts";
import type { ActiveRun, Stop } from "./active-run.ts";
import { answerToolCalls } from "./answer-tool-calls.ts";
import { ProgressMarks } from "./progress-marks.ts";
import { reachedBefore, retryStart } from "./retry-run.ts";
import { toOutcome } from "./run-outcome.ts";
import { namedResume, resumeWithFalsy, runInput, toCommand } from "./run-input.ts";
import { emitInterrupts, streamProtocol } from "./protocol-events.ts";
import { isResuming, runOptions, type RunOptions } from "./run-options.ts";
import { runResult } from "./run-result.ts";
import { stateText, type StoredLists, UNKNOWN_LISTS } from "./state-text.ts";
import { streamRun } from "./stream-events.ts";

export interface RunDeps {
  savers: Savers;
  store: BaseStore;
  langgraphVersion: string;
  openGraph(graphId: string, config: object, runtime: FactoryRuntime): Promise<Graph>;
  sendEvent(runId: string, event: string, body: string): void;
  /** Sends the frames `mark` and `run.resumed`. Absent in rehearsals. */
  sendMark?: (runId: string, checkpointId: string) => void;
  sendResumed?: (runId: string, checkpointId: string | null) => void;
  pause: () => Promise<void> | undefined;
  /** Absent in rehearsals. */
  tracing?: RunTracing;
}

/** Time limit for reading the final state once the run is over. */
const RESULT_LIMIT_MS = 2000;

/** Executes a run until it ends in any way; never throws. Afterwards the run emits nothing more. */
export async function executeRun(deps: RunDeps, run: ActiveRun, kwargs: RunKwargs): Promise<Stop & Conclusion> {
  const { start } = run;
  const emit = (event: string, data: unknown) => {
    // code left behind by a run may still emit after its end was sent
    if (!run.closed) deps.sendEvent(start.run_id, event, toJson(data));
  };
  const trace = deps.tracing?.start(start, kwargs);
  const options = runOptions(start, kwargs, deps.langgraphVersion);
  if (trace) options.callbacks = trace.callbacks;
  const { sendMark } = deps;
  const marks = sendMark && new ProgressMarks((checkpointId) => sendMark(start.run_id, checkpointId), deps.pause);
  let begun = false;
  let graph: Graph | undefined;
  let saver: Saver | undefined;
  const execute = async (): Promise<void> => {
    const runtime = { accessContext: "threads.create_run", executionRuntime: { context: kwargs.context } } as const;
    const original = await deps.openGraph(start.graph_id, kwargs.config, runtime);
    saver = runSaver(deps.savers, start, original, marks);
    graph = bindGraph(original, saver, deps.store);
    const prepared = await prepare(graph, saver, run, kwargs, options, deps.sendResumed);
    if (prepared === "stopped") emitStop(emit, kwargs, await graph.getState(threadConfig(start.thread_id)));
    else {
      begun = true;
      const stream = { graph, emit, pause: deps.pause, commit: saver.flush.bind(saver), ...prepared };
      if (kwargs.protocol === "v2") await streamProtocol({ ...stream, graphId: start.graph_id });
      else {
        const { langgraphVersion } = deps;
        await streamRun({ ...stream, kwargs, runId: start.run_id, langgraphVersion });
      }
    }
  };
  const execution = outcomeAfter(
    execute,
    () => conclude(deps, run, kwargs, graph, saver),
    () => saver?.flush(),
    run,
  );
  const end: Stop & Partial<Conclusion> = await Promise.race([execution, run.abandoned]);
  if (end.outcome === "error" && end.error) emit("error", { error: end.error.error, message: end.error.message });
  run.close();
  marks?.close();
  trace?.ended();
  // no tracer has seen a run that failed before its graph began, or had stopped in an earlier attempt
  if (trace && !begun && isOver(end)) deps.tracing?.close(lostTrace(start, kwargs, options, end.error));
  if (!graph || !saver || end.outcome === "fenced" || end.outcome === "retry") return { ...end, result: UNKNOWN };
  if (end.result !== undefined) return { ...end, result: end.result };
  const lists = saver.changedLists?.(start.thread_id);
  const flushed = saver.flush().then(() => runResult(showing(deps, graph!, saver!), start.thread_id));
  const head = await bestEffort(flushed, start.thread_id);
  // the lists of a thread that is deleted with the run are not stored
  const result = serialize(head, start.thread_id, kwargs.temporary ? undefined : (lists ?? UNKNOWN_LISTS));
  const shown = head.of === undefined ? undefined : lists?.shownAt(head.of);
  if (shown) await saver.flush(start.thread_id, shown).catch(() => {});
  return { ...end, result };
}

const isOver = ({ outcome }: Stop): boolean => outcome !== "fenced" && outcome !== "retry";

function lostTrace(start: RunStart, kwargs: RunKwargs, options: RunOptions, error: Stop["error"]): LostTrace {
  const { langsmith_project: project } = options.configurable;
  return {
    run_id: start.run_id,
    name: typeof kwargs.config.run_name === "string" ? kwargs.config.run_name : "LangGraph",
    start_time: new Date().toISOString(),
    inputs: kwargs.input,
    error: error ? `${error.error}: ${error.message}` : null,
    ...(typeof project === "string" && { project }),
    metadata: {
      ...options.metadata,
      ...omit(options.configurable, "langsmith_project", "langsmith_example_id", ...USER_OBJECTS),
    },
  };
}

/** Final status of the run where it is already written, and its result. */
type Conclusion = Pick<RunEnd, "finished"> & { result: string };

/**
 * Concludes a run whose graph has ended: its puts are flushed. Where the saver supports it, the run's final status is
 * written with the last of them; the state for it is read from memory, before the commit. After a stop, or without a
 * state, the server writes the status. So it does for a temporary run, whose row is deleted at its end: the outcome would
 * be lost if this process died before reporting it; and for a run whose last frames are written with its end.
 */
async function conclude(
  deps: RunDeps,
  run: ActiveRun,
  kwargs: RunKwargs,
  graph: Graph | undefined,
  saver: Saver | undefined,
): Promise<Conclusion | undefined> {
  const { thread_id: threadId, notify } = run.start;
  if (graph && saver?.finish && !run.stopped && !kwargs.temporary && !run.holdsEnd) {
    const head = await bestEffort(runResult(showing(deps, graph, saver), threadId), threadId);
    const lists = saver.changedLists?.(threadId);
    const result = serialize(head, threadId, lists ?? UNKNOWN_LISTS);
    if (result !== UNKNOWN && !run.stopped && !run.holdsEnd) {
      const whole = () => serialize(head, threadId, new ChangedLists(undefined));
      const shown = head.of === undefined ? undefined : lists?.shownAt(head.of);
      return { result, finished: await saver.finish(threadId, result, notify, { whole, shown }) };
    }
  }
  await saver?.flush(threadId);
  return undefined;
}

/** Returns the graph with a saver that reads the run's last state without loading long lists. */
function showing(deps: RunDeps, graph: Graph, saver: Saver): Graph {
  return saver.reader ? bindGraph(graph, saver.reader(showableLists(graph)), deps.store) : graph;
}

function runSaver(savers: Savers, start: RunStart, graph: Graph, marks: ProgressMarks | undefined): Saver {
  const { run_id: runId, attempt, thread_id: threadId, fresh_thread: freshThread, head } = start;
  const onCheckpoint = marks && ((checkpointId: string) => marks.reached(checkpointId));
  return savers.forRun({ runId, attempt, threadId, freshThread, head, graph, onCheckpoint });
}

/** Flushes a run's puts; a failure to persist them becomes the outcome, whatever it was before. */
async function outcomeAfter(
  execute: () => Promise<void>,
  concluded: () => Promise<Conclusion | undefined>,
  flush: () => Promise<void> | undefined,
  run: ActiveRun,
): Promise<Stop & Partial<Conclusion>> {
  let outcome: Stop = { outcome: "success" };
  try {
    await execute();
    return { ...outcome, ...(await concluded()) };
  } catch (error) {
    outcome = toOutcome(error, run.stopped);
  }
  try {
    await flush();
  } catch (error) {
    if (outcome.outcome !== "fenced") outcome = toOutcome(error, outcome.outcome === "cancelled" ? outcome : undefined);
  }
  return outcome;
}

type Prepared = { input: unknown; options: RunOptions & { signal: AbortSignal } };

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function prepare(
  graph: Graph,
  saver: Saver,
  run: ActiveRun,
  kwargs: RunKwargs,
  options: RunOptions,
  sendResumed: RunDeps["sendResumed"],
): Promise<Prepared | "stopped"> {
  const { start } = run;
  const withSignal = { ...options, signal: run.signal };
  if (start.attempt > 1 && !start.fresh_thread) {
    const breakpoints = { before: options.interruptBefore, after: options.interruptAfter };
    const from = await retryStart(graph, start.run_id, start.thread_id, breakpoints);
    if (from !== "as given") {
      const reached = await reachedBefore(graph, start.thread_id);
      if (reached !== undefined) sendResumed?.(start.run_id, reached);
    }
    if (from === "stopped") return "stopped";
    if (from === "continue") {
      const configurable = omit(options.configurable, "checkpoint_id", "checkpoint_ns", "checkpoint_map");
      return { input: null, options: { ...withSignal, configurable } };
    }
  }
  const command = namedResume(kwargs);
  if (command !== undefined) return { input: command && toCommand(command), options: withSignal };
  const input = (await resumeWithFalsy(graph, kwargs, options)) ?? runInput(kwargs);
  const isAsGiven = start.fresh_thread || start.keep_tool_calls || isResuming(options.configurable);
  if (kwargs.command || !isFields(input) || isAsGiven) return { input, options: withSignal };
  const { checkpoint_id: id } = options.configurable;
  const head = await saver.unfinished?.(start.thread_id, typeof id === "string" ? id : undefined);
  return { input: head ? await answerToolCalls(graph, head, input) : input, options: withSignal };
}

/** Emits what the previous attempt would have sent at its stop, for the run's subscribers. */
function emitStop(
  emit: (event: string, data: unknown) => void,
  kwargs: RunKwargs,
  state: Awaited<ReturnType<Graph["getState"]>>,
): void {
  const __interrupt__ = state.tasks.flatMap((task) => task.interrupts);
  if (kwargs.protocol === "v2") return emitInterrupts(emit, __interrupt__);
  if (kwargs.stream_mode.includes("values")) {
    emit("values", state.values);
    emit("values", { __interrupt__ });
  }
  if (kwargs.stream_mode.includes("updates")) emit("updates", { __interrupt__ });
}

/** Reads a state; a failure to read it does not change the run's outcome. */
async function bestEffort(state: Promise<RunResult>, threadId: string): Promise<RunResult> {
  // a plain timer: an aborted promise creates three errors with stacks, a tenth of a millisecond per run
  let timer: ReturnType<typeof setTimeout> | undefined;
  const unknown = new Promise<RunResult>((resolve) => {
    timer = setTimeout(() => resolve({}), RESULT_LIMIT_MS);
  });
  try {
    return await Promise.race([state, unknown]);
  } catch (error) {
    complainUnread(threadId, error);
    return {};
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the JSON text of a state; `UNKNOWN` where it cannot be serialized. */
function serialize(head: RunResult, threadId: string, stored: StoredLists | undefined): string {
  try {
    return stateText(head, stored);
  } catch (error) {
    complainUnread(threadId, error);
    return UNKNOWN;
  }
}

const complainUnread = (threadId: string, error: unknown) =>
  complain(`The state of thread ${threadId} could not be read after the run:`, error);

const UNKNOWN = "{}";

function threadConfig(threadId: string) {
  return { configurable: { thread_id: threadId, checkpoint_ns: "" } };
}
