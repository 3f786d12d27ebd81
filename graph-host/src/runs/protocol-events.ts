import * as langgraph from "@langchain/langgraph";
import type { Graph } from "../graphs/graph.ts";
import { toPlain } from "../serialize.ts";
import type { Emit } from "./message-events.ts";
import { debugPayload } from "./debug-payloads.ts";
import { asks } from "./stream-events.ts";
import { isFields, protocolState } from "./protocol-state.ts";

interface ProtocolEvent {
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: unknown };
}

type ProtocolGraph = Graph & { streamTransformers?: (() => langgraph.StreamTransformer)[] };

interface ProtocolRun {
  graph: ProtocolGraph;
  graphId: string;
  input: unknown;
  options: Record<string, unknown>;
  emit: Emit;
  pause: () => Promise<void> | undefined;
  /** Resolves when all puts of the run are committed. */
  commit: () => Promise<void>;
}

type Params = Omit<ProtocolEvent["params"], "timestamp"> & { timestamp?: number };

/**
 * Runs the graph through LangGraph's own code for protocol v2 (stream events version 3, with the transformers that the
 * graph was compiled with) and emits the events of streaming protocol v2: named by channel and namespace, with
 * the event's `params` as data. The run's end is not emitted here, because it is certain only once it is written.
 */
export async function streamProtocol(run: ProtocolRun): Promise<void> {
  const send = protocolEmitter(run.emit);
  send("lifecycle", { namespace: [], data: { event: "running", graph_name: run.graphId } });
  const events = await protocolEvents(run.graph, run.input, run.options, run);
  const seenInterrupts = new Set<string>();
  for await (const event of events)
    for (const [channel, params] of translate(event, seenInterrupts)) send(channel, params);
}

/** Emits the interrupts of a state where an earlier attempt has already stopped. */
export function emitInterrupts(emit: Emit, interrupts: unknown[]): void {
  const send = protocolEmitter(emit);
  for (const [channel, params] of questions([], interrupts, new Set())) send(channel, params);
}

/** Encodes channel and namespace in the event's name, so that the server can forward the body unparsed. */
function protocolEmitter(emit: Emit): (channel: string, params: Params) => void {
  return (channel, params) =>
    emit(`protocol:${JSON.stringify([channel, ...params.namespace])}`, { timestamp: Date.now(), ...params });
}

/**
 * Reproduces `graph.streamEvents(…, {version: "v3"})` from its exported parts: the method itself uses private fields,
 * which a derived object (`bindGraph`) does not have. Also applies back-pressure from a slow reader to the graph.
 */
async function protocolEvents(
  graph: ProtocolGraph,
  input: unknown,
  options: object,
  { pause, commit }: Pick<ProtocolRun, "pause" | "commit">,
): Promise<AsyncIterable<ProtocolEvent>> {
  const { createGraphRunStream, STREAM_EVENTS_V3_MODES } = langgraph;
  if (!createGraphRunStream) throw new Error("Protocol v2 needs @langchain/langgraph 1.4 or newer in the project.");
  const streamMode = [...STREAM_EVENTS_V3_MODES];
  const chunks = await graph.stream(input, { ...options, version: "v3", streamMode, subgraphs: true });
  const source = {
    async *[Symbol.asyncIterator]() {
      for await (const chunk of chunks) {
        if (asks((chunk as unknown[]).at(-1))) await commit();
        yield chunk as never;
        const pausing = pause();
        if (pausing) await pausing;
      }
    },
  };
  return createGraphRunStream(source, graph.streamTransformers ?? []) as AsyncIterable<ProtocolEvent>;
}

function* translate({ method, params }: ProtocolEvent, seenInterrupts: Set<string>): Generator<[string, Params]> {
  const { namespace, data } = params;
  switch (method) {
    case "lifecycle":
      // the server reports the root's
      if (namespace.length > 0) yield [method, params];
      return;
    case "values": {
      const state = toPlain(data);
      yield* questions(namespace, isFields(state) ? state["__interrupt__"] : undefined, seenInterrupts);
      const values = protocolState(state);
      if (!isFields(values) || Object.keys(values).length > 0) yield [method, { ...params, data: values }];
      return;
    }
    case "updates": {
      const { node, values } = data as { node?: string; values: unknown };
      if (node === "__interrupt__") yield* questions(namespace, toPlain(values), seenInterrupts);
      else yield [method, { ...params, data: protocolState(toPlain(values)) }];
      return;
    }
    case "tasks":
      yield [method, { ...params, data: taskPayload(data) }];
      return;
    case "custom":
      yield [isFields(data) && typeof data["name"] === "string" ? `custom:${data["name"]}` : method, params];
      return;
    case "messages":
    case "tools":
    case "checkpoints":
      yield [method, params];
      return;
    default: {
      // channels of the graph's own transformers
      const name = method.startsWith("custom:") ? method.slice("custom:".length) : method;
      yield [`custom:${name}`, { ...params, data: { name, payload: data } }];
    }
  }
}

function* questions(
  namespace: string[],
  interrupts: unknown,
  seenInterrupts: Set<string>,
): Generator<[string, Params]> {
  if (!interrupts || typeof interrupts !== "object") return;
  for (const interrupt of Object.values(interrupts)) {
    if (!isFields(interrupt) || typeof interrupt["id"] !== "string" || seenInterrupts.has(interrupt["id"])) continue;
    seenInterrupts.add(interrupt["id"]);
    yield ["input", { namespace, data: { interrupt_id: interrupt["id"], payload: interrupt["value"] } }];
  }
}

/** Returns a task as in mode `tasks`: without process internals. */
function taskPayload(data: unknown): unknown {
  const isResult = isFields(data) && ("result" in data || "error" in data);
  return isResult ? debugPayload({ type: "task_result", payload: data }).payload : data;
}
