import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";

type RunTree = NonNullable<ReturnType<LangChainTracer["getRunTreeWithTracingConfig"]>>;

/**
 * LangChain's tracer with one change: whenever it posts, updates or forwards a run, the original creates a new RunTree
 * with about thirty calls of `Object.defineProperty`, only to set five fields. Setting them on the existing tree reduces
 * the CPU time of tracing a trivial run by a third (measured: 1.4 ms instead of 2.0 ms).
 */
export class RunTracer extends LangChainTracer {
  override getRunTreeWithTracingConfig(id: string): RunTree | undefined {
    const tree = this.runTreeMap.get(id);
    if (!tree) return undefined;
    const { client, projectName: project_name, replicas, exampleId: reference_example_id } = this;
    return Object.assign(tree, {
      client,
      project_name,
      replicas,
      reference_example_id,
      tracingEnabled: true,
    }) as RunTree;
  }

  /** Returns an instance of this class instead of the library's. */
  override copyWithTracingConfig(config: Parameters<LangChainTracer["copyWithTracingConfig"]>[0]): LangChainTracer {
    return Object.setPrototypeOf(super.copyWithTracingConfig(config), RunTracer.prototype) as RunTracer;
  }
}
