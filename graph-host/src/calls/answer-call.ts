import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { bindGraph, type Graph } from "../graphs/graph.ts";
import type { FactoryRuntime } from "../graphs/load-graphs.ts";
import type { HostCalls } from "../host-protocol.ts";
import type { Savers } from "../savers.ts";
import { readDrawing, readSchemas, readSubgraphs } from "./describe-graph.ts";
import { readHistory, readState } from "./read-state.ts";
import { updateState } from "./update-state.ts";

export interface CallDeps {
  savers: Savers;
  store: BaseStore;
  openGraph(graphId: string, config: object, runtime: FactoryRuntime): Promise<Graph>;
}

type Method = keyof HostCalls;
type Answers = { [M in Method]: (graph: Graph, params: HostCalls[M]["params"]) => Promise<unknown> };

const ANSWERS: Answers = {
  "graph.schemas": (graph, params) => readSchemas(graph, params.graph_id),
  "graph.drawing": (graph, params) => readDrawing(graph, params.config, params.xray),
  "graph.subgraphs": (graph, params) => readSubgraphs(graph, params.namespace, params.recurse),
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
  return ANSWERS[method](bindGraph(graph, saver, deps.store), params);
}
