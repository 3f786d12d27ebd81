import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { bindGraph, type Graph } from "../graphs/graph.ts";
import type { FactoryRuntime } from "../graphs/load-graphs.ts";
import type { HostCalls } from "../../../host-kit/src/host-protocol.ts";
import type { Savers } from "../savers.ts";
import type { SchemasByNamespace } from "../schemas/source-schemas.ts";
import { readDrawing, readSchemas, readSubgraphs } from "./describe-graph.ts";
import { readHistory, readState } from "./read-state.ts";
import { updateState } from "./update-state.ts";

export interface CallDeps {
  savers: Savers;
  store: BaseStore;
  openGraph(graphId: string, config: object, runtime: FactoryRuntime): Promise<Graph>;
  /** Schemas from the project's source, see `SourceSchemas`. */
  readTypes(graphId: string, waitMs: number): Promise<SchemasByNamespace>;
}

type Method = keyof HostCalls;
type Answers = { [M in Method]: (graph: Graph, params: HostCalls[M]["params"], deps: CallDeps) => Promise<unknown> };

/** Longest wait for schemas from the source, within the time limit of a call. A caller that needs none does not wait. */
const TYPES_WAIT_MS = 25_000;

const ANSWERS: Answers = {
  "graph.schemas": (graph, params, deps) =>
    readSchemas(graph, params.graph_id, () =>
      deps.readTypes(params.graph_id, params.types === false ? 0 : TYPES_WAIT_MS),
    ),
  "graph.drawing": (graph, params) => readDrawing(graph, params.config, params.xray),
  "graph.subgraphs": (graph, params, deps) =>
    readSubgraphs(graph, params.namespace, params.recurse, () => deps.readTypes(params.graph_id, TYPES_WAIT_MS)),
  "state.get": readState,
  "state.history": readHistory,
  "state.update": updateState,
};

const ACCESS: Record<Method, FactoryRuntime["accessContext"]> = {
  "graph.schemas": "assistants.read",
  "graph.drawing": "assistants.read",
  "graph.subgraphs": "assistants.read",
  "state.get": "threads.read",
  "state.history": "threads.read",
  "state.update": "threads.update",
};

export async function answerCall<M extends Method>(
  deps: CallDeps,
  method: M,
  params: HostCalls[M]["params"],
): Promise<unknown> {
  const runtime = { accessContext: ACCESS[method], executionRuntime: null };
  const graph = await deps.openGraph(params.graph_id, params.config, runtime);
  const isUpdate = method === "state.update" && (params as HostCalls["state.update"]["params"]).creates !== true;
  const { savers } = deps;
  const saver = isUpdate ? savers.guarded() : method === "state.update" ? savers.unfenced() : savers.reading(graph);
  return ANSWERS[method](bindGraph(graph, saver, deps.store), params, deps);
}
