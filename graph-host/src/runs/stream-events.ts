import type { Graph } from "../graphs/graph.ts";
import type { RunKwargs } from "../../../host-kit/src/host-protocol.ts";
import { MessageEvents, type Emit } from "./message-events.ts";
import { checkpointPayload, debugPayload } from "./debug-payloads.ts";

/** Key of the interrupts in a chunk. Versions before 0.3 of LangGraph do not export it. */
const INTERRUPT = "__interrupt__";

interface StreamInput {
  graph: Graph;
  input: unknown;
  options: Record<string, unknown>;
  kwargs: Pick<RunKwargs, "stream_mode" | "subgraphs">;
  runId: string;
  langgraphVersion: string;
  emit: Emit;
  /** Promise to await before the next event is pulled. */
  pause: () => Promise<void> | undefined;
  /** Resolves when all puts of the run are committed. */
  commit: () => Promise<void>;
}

/** Runs the graph and emits events, only of the requested stream modes. */
export async function streamRun(run: StreamInput): Promise<void> {
  const questions = unreportedQuestions(run);
  const emitChunk = chunkEmitter(run);
  const streamMode = libraryModes(run.kwargs.stream_mode, run.langgraphVersion);
  const options = { ...run.options, streamMode, subgraphs: run.kwargs.subgraphs };
  if (!run.kwargs.stream_mode.includes("events")) {
    for await (const chunk of await run.graph.stream(run.input, options)) {
      if (asks((chunk as unknown[]).at(-1))) await run.commit();
      emitChunk(chunk as unknown[]);
      questions?.seen(chunk as unknown[]);
      const pause = run.pause();
      if (pause) await pause;
    }
    return questions?.emit();
  }
  for await (const event of run.graph.streamEvents(run.input, { ...options, version: "v2" })) {
    if (event.event === "on_chain_stream" && event.run_id === run.runId) {
      if (asks((event.data.chunk as unknown[]).at(-1))) await run.commit();
      emitChunk(event.data.chunk as unknown[]);
      questions?.seen(event.data.chunk as unknown[]);
    } else if (!event.tags?.includes("langsmith:hidden")) run.emit("events", event);
    const pause = run.pause();
    if (pause) await pause;
  }
  await questions?.emit();
}

/** Versions that report interrupts only in mode `updates`, and there the last one of several. */
const OMITS_INTERRUPTS = /^0\.(2\.|3\.[0-5]$)/;

/** Adds the interrupts to mode `values`, which clients read as the result, where LangGraph does not. */
function unreportedQuestions({ graph, options, kwargs, emit, langgraphVersion }: StreamInput) {
  if (!OMITS_INTERRUPTS.test(langgraphVersion) || !kwargs.stream_mode.includes("values")) return undefined;
  let asked = false;
  return {
    seen: (chunk: unknown[]) => void (asked ||= isInterrupted(chunk.at(-1))),
    async emit(): Promise<void> {
      if (!asked) return;
      const { thread_id } = options.configurable as { thread_id: string };
      const { tasks } = await graph.getState({ configurable: { thread_id, checkpoint_ns: "" } });
      emit("values", { [INTERRUPT]: tasks.flatMap(({ interrupts }) => interrupts) });
    },
  };
}

/**
 * Whether a chunk's payload contains an interrupt. A client may answer as soon as it sees one, so it is committed
 * first.
 */
export function asks(payload: unknown): boolean {
  if (isInterrupted(payload)) return true;
  const { interrupts } = (payload ?? {}) as { interrupts?: unknown };
  return Array.isArray(interrupts) && interrupts.length > 0;
}

/** Returns LangGraph's names of the modes from which the requested ones are derived. */
function libraryModes(requested: string[], langgraphVersion: string): string[] {
  const modes = new Set(requested);
  if (modes.has("values") && OMITS_INTERRUPTS.test(langgraphVersion)) modes.add("updates");
  if (modes.delete("messages-tuple")) modes.add("messages");
  // messages/complete reports messages as they appear in the state
  if (requested.includes("messages")) modes.add("values");
  modes.delete("events");
  return [...modes];
}

/**
 * Modes in which LangGraph before 1.7 adds the node's own task to the namespace of its graph, which events carry in
 * every other mode and, since 1.7, in these.
 */
const MODES_OF_TASKS = new Set(["messages", "tools"]);
const ADDS_TASKS = /^(0|1\.[0-6])\./;

function chunkEmitter({
  kwargs,
  emit,
  langgraphVersion,
}: Pick<StreamInput, "kwargs" | "emit" | "langgraphVersion">): (chunk: unknown[]) => void {
  const modes = new Set(kwargs.stream_mode);
  const messages = modes.has("messages") ? new MessageEvents(emit) : undefined;
  const questions = new Map<string, unknown[]>();
  const withTask = ADDS_TASKS.test(langgraphVersion) ? MODES_OF_TASKS : new Set<string>();

  return (chunk) => {
    const [namespace, mode, payload] = (kwargs.subgraphs ? chunk : [[], ...chunk]) as [string[], string, unknown];
    const path = withTask.has(mode) ? namespace.slice(0, -1) : namespace;
    const name = path.length > 0 ? `${mode}|${path.join("|")}` : mode;
    switch (mode) {
      case "messages":
        if (modes.has("messages-tuple")) emit(name, payload);
        return messages?.token(payload as never);
      case "values":
        if (modes.has("values")) emit(name, withEarlierInterrupts(questions, name, payload));
        return path.length === 0 ? messages?.values(payload) : undefined;
      case "checkpoints":
        // LangGraph also sends a bare checkpoint pointer before each values chunk
        return modes.has("checkpoints") && isFullCheckpoint(payload)
          ? emit(name, checkpointPayload(payload))
          : undefined;
      case "debug":
        return emit(name, debugPayload(payload as never));
      default:
        return modes.has(mode) ? emit(name, payload) : undefined;
    }
  };
}

function isFullCheckpoint(payload: unknown): payload is { values: unknown; metadata: unknown; next: string[] } {
  return typeof payload === "object" && payload !== null && "values" in payload;
}

/**
 * Accumulates interrupts: LangGraph sends one chunk per interrupted task, and a run's result is its last values. Each
 * chunk therefore carries the earlier interrupts too, and the last one all of them.
 */
function withEarlierInterrupts(earlierQuestions: Map<string, unknown[]>, name: string, payload: unknown): unknown {
  if (!isInterrupted(payload)) return payload;
  const questions = [...(earlierQuestions.get(name) ?? []), ...payload[INTERRUPT]];
  earlierQuestions.set(name, questions);
  return { [INTERRUPT]: questions };
}

function isInterrupted(payload: unknown): payload is { [INTERRUPT]: unknown[] } {
  return (
    typeof payload === "object" && payload !== null && Array.isArray((payload as Record<string, unknown>)[INTERRUPT])
  );
}
